//! Parameters of Grafite.

use lacuna_base::Result;
use lacuna_succinct::elias_fano::Geometry;

use super::Grafite;
use super::builder::write_body;
use super::codec::{HEADER_BYTES, VERSION};
use crate::costs::ProbeCosts;
use crate::family::FilterFamily;
use crate::frame::FilterBytes;
use crate::geometry::GeometrySpec;
use crate::hashing::Hashing;
use crate::integer::{IntegerFilter, WindowedFilter};
use crate::integer_build::{BodyOrder, IntegerSpec, TooSmall, integer_family};
use crate::kind::Kind;
use crate::spec_text::{SpecText, spec_text_with_flags};

/// Grafite; everything follows from the budget.
///
/// As text `grafite`; `grafite:secret` to hash under the plan's secret, so that the bound holds against those who choose their
/// queries without having seen answers.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_families::GrafiteSpec;
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * i * 1_000_003).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(16.0)?).with_seed(42);
/// let sealed = GrafiteSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
/// assert!(filter.may_contain_range(U64Range::new(keys[7] - 3, keys[7]).expect("not inverted")));
/// assert!(filter.rate_bound(32) < 0.003);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GrafiteSpec {
    wants_secret: bool,
    block_log2: Option<u32>,
    geometry: GeometrySpec,
}

/// The flag for a filter that hashes under a secret.
const SECRET: &str = "secret";

impl GrafiteSpec {
    /// Grafite as it should be used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hashes under the plan's [secret](lacuna_base::BuildPlan::with_secret), and asks for one.
    #[must_use]
    pub fn with_secret(mut self) -> Self {
        self.wants_secret = true;
        self
    }

    /// Bytes before the values, and after them.
    pub(crate) fn header_bytes(self) -> usize {
        HEADER_BYTES + Hashing::further_bytes(self.wants_secret)
    }

    /// Largest block to use, as a power of two.
    pub(crate) fn max_block_log2(self) -> u32 {
        self.block_log2.unwrap_or(63)
    }

    pub(crate) fn geometry(self) -> Geometry {
        self.geometry.geometry()
    }
}

impl IntegerSpec for GrafiteSpec {
    const VERSION: u16 = VERSION;

    fn text(&self) -> String {
        let [slice, heavy] = self.geometry.parameters();
        let flags = if self.wants_secret { &[SECRET][..] } else { &[] };
        spec_text_with_flags(GrafiteSpec::KIND.name(), flags, &[("block", self.block_log2), slice, heavy])
    }

    fn wants_secret(&self) -> bool {
        self.wants_secret
    }

    fn write_body(&self, keys: &[u64], max_bytes: usize, order: &BodyOrder<'_>) -> Result<Vec<u8>, TooSmall> {
        write_body(*self, keys, max_bytes, order.hashing(keys, self.wants_secret), order.threads)
    }
}

integer_family!(GrafiteSpec);

impl FilterFamily for GrafiteSpec {
    const KIND: Kind = Kind::new(5, "grafite");
    const ABOUT: &'static str =
        "a rate bounded for any keys and any queries, in proportion to the range's length";
    const EXAMPLE: &'static str = "grafite";
    const COSTS: ProbeCosts = ProbeCosts { integers_ns: 36.0, strings_ns: 36.0, probe_ns: 6.5, wait: 0.65 };

    type OverIntegers<B: FilterBytes> = IntegerFilter<B, Grafite>;
    type OverStrings<B: FilterBytes> = WindowedFilter<B, Grafite>;

    fn from_text(spec: &mut SpecText<'_>) -> Result<Self> {
        Ok(Self {
            wants_secret: spec.take_flag(SECRET),
            block_log2: spec.take("block", 0, 63)?,
            geometry: GeometrySpec::from_text(spec)?,
        })
    }
}
