//! Asking Bucketing.

use lacuna_base::{Envelope, Error, Result};
use lacuna_succinct::arch::Isa;
use lacuna_succinct::elias_fano::{Layout, Probe};

use super::codec::{HEADER_BYTES, Scale, VERSION};
use crate::integer::IntegerBody;
use crate::probes::note_probe;

/// A view of a Bucketing filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucketing {
    scale: Scale,
    buckets: Layout,
    smallest: u64,
}

impl Bucketing {
    #[inline(always)]
    fn bucket(&self, key: u64) -> u64 {
        // The filter around clips queries to the keys' span.
        self.scale.bucket(key.saturating_sub(self.smallest))
    }
}

impl IntegerBody for Bucketing {
    const VERSION: u16 = VERSION;
    type Probe = Probe;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let scale = Scale::decode(body)?;
        let buckets = Layout::open(&body[HEADER_BYTES..])
            .map_err(|error| Error::corrupt("the buckets do not open").with_source(error))?;
        Ok(Self { scale, buckets, smallest: envelope.smallest })
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], lo: u64, _hi: u64) {
        self.buckets.prefetch_directory(&body[HEADER_BYTES..], self.bucket(lo));
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> Probe {
        note_probe();
        self.buckets.prepare(isa, &body[HEADER_BYTES..], self.bucket(lo), self.bucket(hi))
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &[u8], probe: Probe) -> bool {
        self.buckets.finish(isa, &body[HEADER_BYTES..], &probe)
    }
}
