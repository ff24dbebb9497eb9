//! Parameters of the toy family.

use lacuna_base::Result;

use super::Toy;
use super::builder::write_body;
use super::codec::VERSION;
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::spec_text::{SpecText, spec_text};

/// The toy family; `stretches=N` says how many stretches there are at most, as a power of two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ToySpec {
    stretches_log2: Option<u32>,
}

impl FilterFamily for ToySpec {
    const KIND: Kind = Kind::new(0x7FFF, "toy");
    const ABOUT: &'static str = "which stretches of the keys' span hold a key: for tests";
    const EXAMPLE: &'static str = "toy:stretches=4";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 1.0, strings_ns: 1.0, probe_ns: 1.0, wait: 1.0 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Toy>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, Toy>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self { stretches_log2: spec.take("stretches", 0, 6)? })
    }
}

impl IntegerSpec for ToySpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        spec_text(Self::KIND.name(), &[("stretches", self.stretches_log2)])
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, _: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        write_body(keys, self.stretches_log2.unwrap_or(6), max_bytes)
    }
}

integer_family!(ToySpec);
