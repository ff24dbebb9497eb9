//! Asking Bucketing.

use lacuna_base::{Envelope, Error, Result};
use lacuna_succinct::arch::Isa;
use lacuna_succinct::elias_fano::{Layout, Probe};

use super::codec::{Map, Scale, VERSION};
use crate::integer::{IntegerBody, asks_in_groups};
use crate::probes::note_probe;

/// A view of a Bucketing filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucketing {
    map: Map,
    buckets: Layout,
    smallest: u64,
}

impl Bucketing {
    #[inline(always)]
    fn bucket(&self, body: &[u8], key: u64) -> u64 {
        // The filter around clips queries to the keys' span.
        self.map.bucket(body, key.saturating_sub(self.smallest))
    }
}

impl IntegerBody for Bucketing {
    const VERSION: u16 = VERSION;
    type Probe = Probe;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let map = Map::decode(body)?;
        let buckets = Layout::open(&body[map.buckets_at()..])
            .map_err(|error| Error::corrupt("the buckets do not open").with_source(error))?;
        Ok(Self { map, buckets, smallest: envelope.smallest })
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], lo: u64, _hi: u64) {
        self.buckets.prefetch_directory(&body[self.map.buckets_at()..], self.bucket(body, lo));
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> Probe {
        note_probe();
        let (first, last) = (self.bucket(body, lo), self.bucket(body, hi));
        // Only a damaged table puts the ends out of order: then any bucket is "maybe".
        let (first, last) = if first <= last { (first, last) } else { (0, u64::MAX) };
        self.buckets.prepare(isa, &body[self.map.buckets_at()..], first, last)
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &[u8], probe: Probe) -> bool {
        self.buckets.finish(isa, &body[self.map.buckets_at()..], &probe)
    }

    fn rate_bound(&self, _range_len: u64) -> f64 {
        if self.map.scale == Scale::EXACT { 0.0 } else { 1.0 }
    }

    asks_in_groups!();
}
