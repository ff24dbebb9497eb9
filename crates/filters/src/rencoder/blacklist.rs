//! The paper's blacklist (section 3.4): false positives remembered key by key.
//!
//! A range that was a false positive is cut into dyadic ranges. The shortest of their prefixes has some length l; each
//! of them goes into a hash table under its first l bits, with a bitmap of the keys it holds below them. For `160..=165`
//! of eight-bit keys these are `101000**` with all four bits and `101001**` with two. The next query asks the table for
//! every leaf that the filter lets through, and goes on where the table knows better.
//!
//! Guarantee: what is denied was inserted, so it is as true as the caller's word that the range is empty. Cost: a
//! look-up for each different l of the table, and `2^(64 - l)` bits for each entry. It is here for the comparison with
//! the paper; [`GapSet`](lacuna_core::GapSet) answers more for less.

use std::collections::HashMap;
use std::fmt;

use lacuna_core::{Envelope, Error, Result, U64Range};

use super::query::Rencoder;
use super::walk::{Next, Walk};
use crate::frame::{Clipped, Frame};
use crate::integer::IntegerBody;
use crate::kind::{FilterBytes, Kind};

/// Longest range that is remembered, as a power of two: a bitmap of 2^16 keys.
const MOST_KEYS_LOG2: u32 = 16;

/// A hash table of keys known to be absent, in bitmaps under their common prefixes.
///
/// ```
/// use lacuna_core::U64Range;
/// use lacuna_filters::Blacklist;
///
/// let mut blacklist = Blacklist::new();
/// blacklist.insert(U64Range::new(160, 165).expect("160 <= 165"));
/// assert!(blacklist.covers(U64Range::new(161, 164).expect("161 <= 164")));
/// assert!(!blacklist.covers(U64Range::new(164, 166).expect("164 <= 166")));
/// assert_eq!((blacklist.len(), blacklist.payload_bytes()), (2, 2 * (8 + 1)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Blacklist {
    /// By the bits below the prefix, and the prefix.
    bitmaps: HashMap<(u32, u64), Box<[u64]>>,
    /// A one for each number of bits below a prefix in use.
    heights: u64,
}

impl Blacklist {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers that no key of `range` is there. A range whose largest dyadic part has more than 2^16 keys is left out.
    pub fn insert(&mut self, range: U64Range) {
        let Some(height) = dyadic(range).map(|(_, height)| height).max() else { return };
        if height > MOST_KEYS_LOG2 {
            return;
        }
        self.heights |= 1 << height;
        for (start, part) in dyadic(range) {
            let words = (1usize << height).div_ceil(64);
            let bitmap = self.bitmaps.entry((height, start >> height));
            let bitmap = bitmap.or_insert_with(|| vec![0; words].into_boxed_slice());
            (start..=start | ((1 << part) - 1)).for_each(|key| set(bitmap, key & ((1 << height) - 1)));
        }
    }

    /// Whether every key of `range` was remembered.
    pub fn covers(&self, range: U64Range) -> bool {
        let few = range.hi() - range.lo() < 1 << (MOST_KEYS_LOG2 + 1);
        few && (range.lo()..=range.hi()).all(|key| self.holds(key))
    }

    fn holds(&self, key: u64) -> bool {
        let mut heights = self.heights;
        while heights != 0 {
            let height = heights.trailing_zeros();
            heights &= heights - 1;
            let bitmap = self.bitmaps.get(&(height, key >> height));
            if bitmap.is_some_and(|bitmap| is_set(bitmap, key & ((1 << height) - 1))) {
                return true;
            }
        }
        false
    }

    /// Number of prefixes.
    pub fn len(&self) -> usize {
        self.bitmaps.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.bitmaps.is_empty()
    }

    /// Bytes of what the paper counts: an eight-byte prefix and the bitmap for each entry, without the table's own.
    pub fn payload_bytes(&self) -> usize {
        self.bitmaps.keys().map(|(height, _)| 8 + (1usize << height).div_ceil(8)).sum()
    }
}

/// The dyadic ranges that `range` consists of, as first key and height, ascending.
fn dyadic(range: U64Range) -> impl Iterator<Item = (u64, u32)> {
    let mut from = Some(range.lo());
    std::iter::from_fn(move || {
        let start = from.filter(|&start| start <= range.hi())?;
        let fitting = (range.hi() - start).checked_add(1).map_or(63, u64::ilog2);
        let height = start.trailing_zeros().min(fitting).min(63);
        from = start.checked_add(1 << height);
        Some((start, height))
    })
}

fn place(key: u64) -> (usize, u64) {
    let word = usize::try_from(key / 64).expect("a bitmap has at most 2^16 keys");
    (word, 1 << (key % 64))
}

fn set(bitmap: &mut [u64], key: u64) {
    let (word, bit) = place(key);
    bitmap[word] |= bit;
}

fn is_set(bitmap: &[u64], key: u64) -> bool {
    let (word, bit) = place(key);
    bitmap.get(word).is_some_and(|word| word & bit != 0)
}

/// A REncoder filter over integers with the paper's blacklist in front of its "maybe".
///
/// ```
/// use lacuna_core::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};
/// use lacuna_filters::{BlacklistedRencoder, RencoderSpec};
///
/// let keys: Vec<u64> = (0..1_000).map(|i| i * 1_000).collect();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(3.0)?);
/// let sealed = RencoderSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let mut filter = BlacklistedRencoder::open(sealed)?;
///
/// let empty = U64Range::new(5_001, 5_999).expect("not inverted");
/// filter.report_false_positive(empty);
/// assert!(!filter.may_contain_range(empty));
/// assert!(filter.may_contain_range(U64Range::new(5_000, 5_999).expect("not inverted")));
/// # Ok::<(), lacuna_core::Error>(())
/// ```
pub struct BlacklistedRencoder<B> {
    frame: Frame<B>,
    body: Option<Rencoder>,
    blacklist: Blacklist,
}

impl<B: FilterBytes> BlacklistedRencoder<B> {
    /// Opens a sealed `rencoder` over integers, with an empty blacklist.
    ///
    /// # Errors
    /// As [`open`](crate::open); `Unsupported` if the bytes are of another family.
    pub fn open(bytes: B) -> Result<Self> {
        let (envelope, _) = Envelope::open(bytes.as_ref())?;
        if Kind::from_id(envelope.kind)? != Kind::Rencoder {
            return Err(Error::unsupported("only a `rencoder` takes this blacklist"));
        }
        crate::check_version(&envelope, Rencoder::VERSION)?;
        let frame = Frame::whole(envelope, bytes)?;
        let settled = frame.body().is_empty() && envelope.key_count <= 2;
        let body = if settled { None } else { Some(Rencoder::open(frame.body(), &envelope)?) };
        Ok(Self { frame, body, blacklist: Blacklist::new() })
    }

    /// Remembers that `range`, which was a "maybe", holds no key: read it first.
    pub fn report_false_positive(&mut self, range: U64Range) {
        self.blacklist.insert(range);
    }

    /// What is remembered.
    pub fn blacklist(&self) -> &Blacklist {
        &self.blacklist
    }

    /// Whether any key of `range` may be there; `false` proves that none is.
    pub fn may_contain_range(&self, range: U64Range) -> bool {
        match (self.frame.clip(range), &self.body) {
            (Clipped::Settled(answer), _) => answer,
            (Clipped::Inside(_), None) => false,
            (Clipped::Inside(range), Some(body)) => self.any_unlisted(body, range),
        }
    }

    /// Whether a leaf that the filter lets through is not blacklisted as far as it lies in `range`.
    fn any_unlisted(&self, body: &Rencoder, range: U64Range) -> bool {
        let low = body.header.levels.low;
        let mut walk = Walk::new(body, self.frame.body(), range.hi() >> low);
        let mut from = range.lo() >> low;
        loop {
            match walk.next_from(from) {
                Next::End => return false,
                Next::Tired => return true,
                Next::Leaf(leaf) => {
                    let first = (leaf << low).max(range.lo());
                    let last = (leaf << low | ((1 << low) - 1)).min(range.hi());
                    let part = U64Range::new(first, last);
                    if !part.is_some_and(|part| self.blacklist.covers(part)) {
                        return true;
                    }
                    from = leaf + 1;
                }
            }
        }
    }
}

impl<B> fmt::Debug for BlacklistedRencoder<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlacklistedRencoder").field("body", &self.body).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use lacuna_core::{Budget, BuildPlan, FilterSpec, SortedKeys};
    use lacuna_workload::Rng;

    use super::*;
    use crate::RencoderSpec;

    fn range(lo: u64, hi: u64) -> U64Range {
        U64Range::new(lo, hi).expect("not inverted")
    }

    #[test]
    fn dyadic_parts_make_up_the_range() {
        let mut rng = Rng::new(1);
        let mut ranges = vec![range(0, u64::MAX), range(u64::MAX, u64::MAX), range(0, 0), range(160, 165)];
        ranges.extend(
            (0..1_000).map(|_| rng.next_u64() >> rng.below(64)).map(|lo| range(lo, lo.saturating_add(999))),
        );
        for range in ranges {
            let mut next = Some(range.lo());
            for (start, height) in dyadic(range) {
                assert_eq!(Some(start), next, "{range:?}");
                assert_eq!(start & ((1u64 << height) - 1), 0, "{range:?}");
                next = start.checked_add(1 << height);
            }
            assert_eq!(next, range.hi().checked_add(1), "{range:?}");
        }
    }

    /// Section 5.11: the second round has no false positive, and no key is lost.
    #[test]
    fn a_second_round_is_without_false_positives() {
        let seed = 3;
        let mut rng = Rng::new(seed);
        let mut keys: Vec<u64> = (0..20_000).map(|_| rng.next_u64()).collect();
        keys.sort_unstable();
        let queries: Vec<U64Range> = (0..50_000)
            .map(|_| (rng.next_u64() >> 1, rng.between(1, 31)))
            .map(|(lo, more)| range(lo, lo + more))
            .filter(|range| {
                keys.partition_point(|&key| key < range.lo())
                    == keys.partition_point(|&key| key <= range.hi())
            })
            .collect();
        for spec in [RencoderSpec::new(), RencoderSpec::select_start()] {
            let plan = BuildPlan::<u64>::new(Budget::bits_per_key(8.0).expect("in range")).with_seed(seed);
            let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
            let mut filter = BlacklistedRencoder::open(sealed).expect("just sealed");
            let first: Vec<U64Range> =
                queries.iter().copied().filter(|&range| filter.may_contain_range(range)).collect();
            assert!(first.len() > 100, "{} false positives, seed {seed}", first.len());
            first.iter().for_each(|&range| filter.report_false_positive(range));
            assert_eq!(queries.iter().filter(|&&range| filter.may_contain_range(range)).count(), 0);
            for &key in &keys {
                let around = range(key.saturating_sub(rng.below(32)), key.saturating_add(rng.below(32)));
                assert!(filter.may_contain_range(around), "{around:?}, seed {seed}");
            }
        }
    }

    /// What a false positive costs to remember here and in a `GapSet`, which also answers the rest of the gap.
    #[test]
    fn a_gap_set_takes_less_memory() {
        let mut rng = Rng::new(4);
        for (shortest, longest, share) in [(2, 32, 1.0), (2, 1_024, 0.25), (1_024, 1_024, 0.125)] {
            let mut blacklist = Blacklist::new();
            let false_positives = 10_000;
            for _ in 0..false_positives {
                let lo = rng.next_u64() >> 1;
                blacklist.insert(range(lo, lo + rng.between(shortest, longest) - 1));
            }
            let bytes = blacklist.payload_bytes() as f64 / f64::from(false_positives);
            let gap = lacuna_core::GapSet::INTERVAL_BYTES as f64;
            assert!(gap <= share * bytes, "{shortest} to {longest}: {gap} bytes a gap, {bytes} here, seed 4");
        }
    }
}
