//! Asking: the trie first, then the Bloom filter below the two prefixes that a range may share with a key.
//!
//! A stored prefix strictly between those of the ends belongs to a key inside the range, so that the answer is "maybe"
//! and right. Only below the first and the last prefix does the Bloom filter have something to deny.

use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::Isa;

use super::codec::{Body, HEADER_BYTES, VERSION};
use super::cover::{Cover, Run, Runs, prefix_count};
use super::filter::PrefixBody;
use super::prefix_key::PrefixKey;
use crate::integer::{IntegerBody, asks_in_groups};
use crate::points::PointBody;

/// The prefixes that remain for the Bloom filter after the trie and the bound on probes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    /// Nothing.
    Settled(bool),
    /// These prefixes, at most as many as the bound.
    Ask([Option<Run>; 2]),
}

impl PrefixBody for Body {
    #[inline(always)]
    fn may_hold<I: Isa, K: PrefixKey>(&self, isa: I, bytes: &[u8], lo: K, hi: K, hi_excluded: bool) -> bool {
        match self.plan(isa, bytes, lo, hi, hi_excluded) {
            Plan::Settled(answer) => answer,
            Plan::Ask(runs) => self.ask(isa, bytes, &runs),
        }
    }
}

impl Body {
    /// Asks the trie.
    #[inline(always)]
    pub(crate) fn plan<I: Isa, K: PrefixKey>(
        &self,
        isa: I,
        bytes: &[u8],
        lo: K,
        hi: K,
        hi_excluded: bool,
    ) -> Plan {
        let cover = self.bloom.map(|(bloom, bits)| Cover::new((lo, hi), hi_excluded, bits, bloom.seed()));
        let Some(trie) = &self.trie else {
            return self.bounded(cover.and_then(|cover| cover.whole()));
        };
        let (depth, trie_bytes) = (trie.bits(), bytes.get(HEADER_BYTES..).unwrap_or_default());
        let met = trie.meet(isa, trie_bytes, &lo.path(depth), &hi.path(depth));
        let last = met.last && !(hi_excluded && hi.is_sharp(depth));
        let Some(cover) = cover else { return Plan::Settled(met.between || met.first || last) };
        if met.between {
            return Plan::Settled(true);
        }
        if lo.shared_bits(hi) >= depth {
            return if last { self.bounded(cover.whole()) } else { Plan::Settled(false) };
        }
        if !met.first && !last {
            return Plan::Settled(false);
        }
        let low = if met.first { cover.low_side(depth).map(Some) } else { Some(None) };
        let high = if last { cover.high_side(depth) } else { Some(None) };
        self.bounded(low.zip(high).map(|(low, high)| [low, high]))
    }

    /// The runs, unless they have more prefixes than may be asked.
    #[inline(always)]
    fn bounded(&self, runs: Runs) -> Plan {
        if let Some(runs) = runs
            && prefix_count(&runs) <= self.probes
        {
            return Plan::Ask(runs);
        }
        cross("proteus: tired");
        Plan::Settled(true)
    }

    /// Asks the Bloom filter for each prefix of the runs.
    #[inline(always)]
    fn ask<I: Isa>(&self, isa: I, bytes: &[u8], runs: &[Option<Run>; 2]) -> bool {
        let Some((bloom, _)) = &self.bloom else { return true };
        let bloom_bytes = bytes.get(self.bloom_at..).unwrap_or_default();
        runs.iter().flatten().any(|run| run.may_hold(isa, bloom, bloom_bytes))
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
        if let (None, Some((bloom, bits))) = (&self.trie, &self.bloom) {
            let hash = lo.hasher(*bits, bloom.seed()).hash(lo.tail(*bits));
            bloom.prefetch(bytes.get(self.bloom_at..).unwrap_or_default(), hash);
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
}
