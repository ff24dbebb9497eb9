//! Asking: one length after the other, until one of them has none of the prefixes that the range touches.

use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::Isa;

use super::codec::{Body, PrefixFilter, VERSION};
use crate::integer::{IntegerBody, asks_in_groups};
use crate::points::PointBody as _;
use crate::proteus::cover::{Cover, prefix_count};
use crate::proteus::filter::PrefixBody;
use crate::proteus::prefix_key::PrefixKey;

impl PrefixFilter {
    /// Whether a key may have one of the prefixes that the range touches; they are not asked for if they are more than `probes`.
    #[inline(always)]
    fn may_hold<I: Isa, K: PrefixKey>(
        &self,
        isa: I,
        bytes: &[u8],
        ends: (K, K),
        hi_excluded: bool,
        probes: u64,
    ) -> bool {
        let runs = Cover::new(ends, hi_excluded, self.bits, self.bloom.seed()).whole();
        let Some(runs) = runs.filter(|runs| prefix_count(runs) <= probes) else {
            cross("multi_prefix_bloom: tired");
            return true;
        };
        let bytes = bytes.get(self.start..).unwrap_or_default();
        runs.iter().flatten().any(|run| run.may_hold(isa, &self.bloom, bytes))
    }
}

impl PrefixBody for Body {
    #[inline(always)]
    fn may_hold<I: Isa, K: PrefixKey>(&self, isa: I, bytes: &[u8], lo: K, hi: K, hi_excluded: bool) -> bool {
        self.filters().all(|filter| filter.may_hold(isa, bytes, (lo, hi), hi_excluded, self.probes))
    }
}

impl IntegerBody for Body {
    const VERSION: u16 = VERSION;
    type Probe = (u64, u64);

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        Self::open(body, envelope)
    }

    #[inline(always)]
    fn prefetch(&self, bytes: &[u8], lo: u64, _hi: u64) {
        for filter in self.filters().take(1) {
            let hash = lo.hasher(filter.bits, filter.bloom.seed()).hash(lo.tail(filter.bits));
            filter.bloom.prefetch(bytes.get(filter.start..).unwrap_or_default(), hash);
        }
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, _bytes: &[u8], lo: u64, hi: u64) -> (u64, u64) {
        (lo, hi)
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, bytes: &[u8], (lo, hi): (u64, u64)) -> bool {
        self.may_hold(isa, bytes, lo, hi, false)
    }

    asks_in_groups!();

    /// A filter of whole keys keeps its rate for any keys and queries; the others can only deny more.
    fn rate_bound(&self, range_len: u64) -> f64 {
        let whole = self.filters().find(|filter| filter.bits == u64::BITS);
        match whole.filter(|_| range_len <= self.probes) {
            Some(filter) => (filter.bloom.point_rate() * range_len as f64).min(1.0),
            None => 1.0,
        }
    }
}
