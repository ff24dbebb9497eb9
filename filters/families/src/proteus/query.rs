//! Asking: the trie first, then the Bloom filter below the two prefixes that a range may share with a key.
//!
//! A stored prefix strictly between those of the ends belongs to a key inside the range, so that the answer is "maybe"
//! and right. Only below the first and the last prefix does the Bloom filter have something to deny.

use lacuna_base::hash::IntegerHasher;
use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::Isa;

use super::codec::{Body, HEADER_BYTES, VERSION};
use super::prefix_key::{PrefixKey, head_bits};
use crate::integer::{IntegerBody, asks_in_groups};
use crate::points::PointBody;

/// Consecutive prefixes with one head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    hasher: IntegerHasher,
    from: u64,
    to: u64,
}

/// At most two runs; `None`: more prefixes than the bound allows.
type Runs = Option<[Option<Run>; 2]>;

impl Run {
    /// Prefixes, saturating.
    pub(crate) fn len(&self) -> u64 {
        (self.to - self.from).saturating_add(1)
    }

    /// Without its last prefix.
    fn shortened(self) -> Option<Self> {
        if self.from < self.to { Some(Self { to: self.to - 1, ..self }) } else { None }
    }
}

/// The prefixes of `bits` bits that a range touches.
struct Cover<K> {
    lo: K,
    hi: K,
    bits: u32,
    seed: u64,
    /// Whether the last prefix, that of `hi`, is outside.
    hi_excluded: bool,
}

impl<K: PrefixKey> Cover<K> {
    /// Largest tail.
    fn last_tail(&self) -> u64 {
        u64::MAX >> (64 - (self.bits - head_bits(self.bits)))
    }

    fn run(&self, key: K, from: u64, to: u64) -> Run {
        Run { hasher: key.hasher(self.bits, self.seed), from, to }
    }

    /// All of them.
    fn whole(&self) -> Runs {
        let (from, to) = (self.lo.tail(self.bits), self.hi.tail(self.bits));
        let head = head_bits(self.bits);
        let shared = self.lo.shared_bits(self.hi);
        if shared >= head {
            // The ends of damaged or padded ranges may stand the wrong way around.
            return Some([self.ended(self.run(self.lo, from.min(to), to)), None]);
        }
        let is_next = all(self.lo, true, shared + 1..head) && all(self.hi, false, shared + 1..head);
        if !is_next {
            return None;
        }
        Some([Some(self.run(self.lo, from, self.last_tail())), self.ended(self.run(self.hi, 0, to))])
    }

    fn ended(&self, run: Run) -> Option<Run> {
        if self.hi_excluded { run.shortened() } else { Some(run) }
    }

    /// The prefixes from the first one to the last one with the same first `trie_bits` bits.
    fn low_side(&self, trie_bits: u32) -> Option<Run> {
        let head = head_bits(self.bits);
        let from = self.lo.tail(self.bits);
        if trie_bits >= head {
            return Some(self.run(self.lo, from, from | below(self.bits - trie_bits)));
        }
        if all(self.lo, true, trie_bits..head) {
            Some(self.run(self.lo, from, self.last_tail()))
        } else {
            None
        }
    }

    /// The prefixes up to the last one from the first one with the same first `trie_bits` bits; the inner `None` means
    /// none.
    fn high_side(&self, trie_bits: u32) -> Option<Option<Run>> {
        let head = head_bits(self.bits);
        let to = self.hi.tail(self.bits);
        if trie_bits >= head {
            return Some(self.ended(self.run(self.hi, to & !below(self.bits - trie_bits), to)));
        }
        if all(self.hi, false, trie_bits..head) { Some(self.ended(self.run(self.hi, 0, to))) } else { None }
    }
}

/// A mask of the low `bits` bits.
fn below(bits: u32) -> u64 {
    u64::MAX.unbounded_shr(64 - bits.min(64))
}

fn all<K: PrefixKey>(key: K, is: bool, mut bits: std::ops::Range<u32>) -> bool {
    bits.all(|place| key.bit(place) == is)
}

/// The prefixes that remain for the Bloom filter after the trie and the bound on probes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    /// Nothing.
    Settled(bool),
    /// These prefixes, at most as many as the bound.
    Ask([Option<Run>; 2]),
}

impl Body {
    /// Whether a key may lie between `lo` and `hi`, itself outside if `hi_excluded`.
    #[inline(always)]
    pub(crate) fn may_hold<I: Isa, K: PrefixKey>(
        &self,
        isa: I,
        bytes: &[u8],
        lo: K,
        hi: K,
        hi_excluded: bool,
    ) -> bool {
        match self.plan(isa, bytes, lo, hi, hi_excluded) {
            Plan::Settled(answer) => answer,
            Plan::Ask(runs) => self.ask(isa, bytes, &runs),
        }
    }

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
        let cover = self.bloom.map(|(bloom, bits)| {
            let hi_excluded = hi_excluded && hi.is_sharp(bits);
            Cover { lo, hi, bits, seed: bloom.seed(), hi_excluded }
        });
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
        if let Some(runs) = runs {
            let count = runs.iter().flatten().fold(0u64, |sum, run| sum.saturating_add(run.len()));
            if count <= self.probes {
                return Plan::Ask(runs);
            }
        }
        cross("proteus: tired");
        Plan::Settled(true)
    }

    /// Asks the Bloom filter for each prefix of the runs.
    #[inline(always)]
    fn ask<I: Isa>(&self, isa: I, bytes: &[u8], runs: &[Option<Run>; 2]) -> bool {
        let Some((bloom, _)) = &self.bloom else { return true };
        let bloom_bytes = bytes.get(self.bloom_at..).unwrap_or_default();
        runs.iter().flatten().any(|run| {
            // The bound keeps the sum of both ends far from overflow.
            (0..run.len()).any(|step| bloom.may_contain(isa, bloom_bytes, run.hasher.hash(run.from + step)))
        })
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
