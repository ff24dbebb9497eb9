//! Asking the prefix Bloom filter.

use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::Isa;

use super::codec::{HEADER_BYTES, VERSION, decode_header};
use crate::bloom::Bloom;
use crate::integer::{IntegerBody, asks_in_groups};
use crate::points::{PointProbe, Points};

/// A view of a prefix Bloom filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrefixBloom {
    prefixes: Points<Bloom>,
    dropped_bits: u32,
}

impl IntegerBody for PrefixBloom {
    const VERSION: u16 = VERSION;
    const WANTS_DISPATCH: bool = false;
    type Probe = PointProbe;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let dropped_bits = decode_header(body)?;
        Ok(Self { prefixes: Points::open(&body[HEADER_BYTES..], envelope)?, dropped_bits })
    }

    #[inline(always)]
    fn prefetch(&self, _body: &[u8], _lo: u64, _hi: u64) {}

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> PointProbe {
        self.prefixes.prepare(isa, &body[HEADER_BYTES..], lo >> self.dropped_bits, hi >> self.dropped_bits)
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &[u8], probe: PointProbe) -> bool {
        self.prefixes.finish(isa, &body[HEADER_BYTES..], probe)
    }

    #[inline(always)]
    fn any_in<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        self.prefixes.any_in(isa, &body[HEADER_BYTES..], lo >> self.dropped_bits, hi >> self.dropped_bits)
    }

    asks_in_groups!();
}
