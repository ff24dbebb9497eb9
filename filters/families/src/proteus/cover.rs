//! The prefixes of one length that a range touches, as runs of integers under the hash of what they share.

use lacuna_base::hash::IntegerHasher;
use lacuna_succinct::arch::Isa;

use super::prefix_key::{PrefixKey, head_bits};
use crate::bloom::Bloom;
use crate::points::PointBody as _;

/// Consecutive prefixes with one head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    hasher: IntegerHasher,
    from: u64,
    to: u64,
}

/// At most two runs; `None`: more prefixes than a bound can allow.
pub(crate) type Runs = Option<[Option<Run>; 2]>;

/// Prefixes of all `runs`, saturating.
#[inline(always)]
pub(crate) fn prefix_count(runs: &[Option<Run>; 2]) -> u64 {
    runs.iter().flatten().fold(0, |sum: u64, run| sum.saturating_add(run.len()))
}

impl Run {
    /// Prefixes, saturating.
    pub(crate) fn len(&self) -> u64 {
        (self.to - self.from).saturating_add(1)
    }

    /// Whether the Bloom filter in `bytes` may hold one of them; at most as many as a bound allows, which keeps the sum of both
    /// ends far from overflow.
    #[inline(always)]
    pub(crate) fn may_hold<I: Isa>(&self, isa: I, bloom: &Bloom, bytes: &[u8]) -> bool {
        (0..self.len()).any(|step| bloom.may_contain(isa, bytes, self.hasher.hash(self.from + step)))
    }

    /// Without its last prefix.
    fn shortened(self) -> Option<Self> {
        if self.from < self.to { Some(Self { to: self.to - 1, ..self }) } else { None }
    }
}

/// The prefixes of `bits` bits that a range touches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cover<K> {
    lo: K,
    hi: K,
    bits: u32,
    seed: u64,
    /// Whether the last prefix, that of `hi`, is outside.
    hi_excluded: bool,
}

impl<K: PrefixKey> Cover<K> {
    /// Those of `bits` bits from `lo` to `hi`, itself outside of the range if `hi_excluded`, hashed under `seed`.
    #[inline(always)]
    pub(crate) fn new((lo, hi): (K, K), hi_excluded: bool, bits: u32, seed: u64) -> Self {
        Self { lo, hi, bits, seed, hi_excluded: hi_excluded && hi.is_sharp(bits) }
    }

    /// Largest tail.
    fn last_tail(&self) -> u64 {
        u64::MAX >> (64 - (self.bits - head_bits(self.bits)))
    }

    fn run(&self, key: K, from: u64, to: u64) -> Run {
        Run { hasher: key.hasher(self.bits, self.seed), from, to }
    }

    /// All of them.
    pub(crate) fn whole(&self) -> Runs {
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
    pub(crate) fn low_side(&self, trie_bits: u32) -> Option<Run> {
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
    pub(crate) fn high_side(&self, trie_bits: u32) -> Option<Option<Run>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proteus::prefix_key::StringTail;

    #[test]
    fn integers_touch_the_prefixes_between_their_ends() {
        for bits in [1, 3, 8] {
            let prefix = |key: u64| key >> (64 - bits);
            for (lo, hi) in (0..64u64).flat_map(|lo| (lo..64).map(move |hi| (lo << 55, hi << 55))) {
                let count = |hi_excluded| {
                    prefix_count(&Cover::new((lo, hi), hi_excluded, bits, 1).whole().expect("no head"))
                };
                let last_is_whole = prefix(hi) << (64 - bits) == hi;
                let expected = prefix(hi) - prefix(lo) + 1;
                assert_eq!(count(false), expected, "{bits} bits, {lo:#x} to {hi:#x}");
                assert_eq!(
                    count(true),
                    expected - u64::from(last_is_whole),
                    "{bits} bits, {lo:#x} to {hi:#x}"
                );
            }
        }
    }

    /// Prefixes of nine bytes: a head of one, and the eight bytes of a tail, of which the last one of a head is followed by the first
    /// one of the next.
    #[test]
    fn runs_go_on_in_the_next_head() {
        const BITS: u32 = 72;
        let string = |head: u8, tail: u64| [&[head][..], &tail.to_be_bytes()].concat();
        let (lo, hi) = (string(b'a', u64::MAX - 2), string(b'b', 2));
        let ends = (StringTail(&lo), StringTail(&hi));
        let runs = Cover::new(ends, false, BITS, 7).whole().expect("neighbours");
        assert_eq!(prefix_count(&runs), 6);
        let short = Cover::new(ends, true, BITS, 7).whole().expect("neighbours");
        assert_eq!(prefix_count(&short), 5, "without the last");
        let has = |runs: &[Option<Run>; 2], string: &[u8]| {
            let key = StringTail(string);
            let (tail, hasher) = (key.tail(BITS), key.hasher(BITS, 7));
            runs.iter()
                .flatten()
                .any(|run| (run.from..=run.to).contains(&tail) && run.hasher.hash(tail) == hasher.hash(tail))
        };
        let inside = [&lo[..], &string(b'a', u64::MAX), b"b", b"b\0\0", &string(b'b', 1)];
        assert!(inside.iter().all(|string| has(&runs, string) && has(&short, string)));
        assert!(has(&runs, &hi) && !has(&short, &hi));
        assert!(!has(&runs, &string(b'a', u64::MAX - 3)) && !has(&runs, &string(b'b', 3)));
        let far = string(b'c', 2);
        assert!(Cover::new((ends.0, StringTail(&far)), false, BITS, 7).whole().is_none(), "a head between");
    }
}
