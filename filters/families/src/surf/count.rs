//! Counting the keys of a range: exact but for the leaf that each end may or may not cut.

use std::cell::Cell;
use std::cmp::Ordering;

use lacuna_base::{ByteRange, CountBounds, CountEstimate, RangeFilter, U64Range};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};
use lacuna_succinct::trie::Border;

use super::codec::Body;
use super::filter::Surf;
use super::key::{IntegerKey, PathKey, StringKey};
use super::tail::TailRange;
use crate::frame::FilterBytes;

/// An end of the range, on the outer side of the leaf that it cuts.
struct End<'a, K> {
    body: &'a Body,
    bytes: &'a [u8],
    key: &'a K,
    is_excluded: bool,
    is_upper: bool,
    /// The slot of the leaf that the end cuts, as far as the suffixes decide.
    cut: Cell<Option<u64>>,
}

impl<K: PathKey> Border for End<'_, K> {
    #[inline(always)]
    fn key(&self) -> &[u8] {
        self.key.path()
    }
    #[inline(always)]
    fn is_behind_key(&self) -> bool {
        self.is_upper != self.is_excluded
    }
    #[inline(always)]
    fn is_behind(&self, depth: usize, slot: u64, leaf: impl FnOnce() -> u64) -> bool {
        // All keys of the leaf start with this key.
        if self.is_excluded && self.is_upper && depth == self.key.path().len() {
            return false;
        }
        let suffixes = self.body.suffixes;
        let stored = if suffixes.real_bits == 0 { 0 } else { self.body.trie.value(self.bytes, leaf()) };
        match suffixes.compare(stored, self.key, depth) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => {
                self.cut.set(Some(slot));
                self.is_upper
            }
        }
    }
}

/// A count; an end is excluded where its flag is set.
struct CountIn<'a, K> {
    body: &'a Body,
    bytes: &'a [u8],
    lo: (K, bool),
    hi: Option<(K, bool)>,
    key_count: u64,
}

impl<K: PathKey> Kernel for CountIn<'_, K> {
    type Output = CountBounds;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> CountBounds {
        let Self { body, bytes, lo, hi, key_count } = &self;
        let key_count = *key_count;
        let end = |(key, is_excluded), is_upper| End {
            body,
            bytes,
            key,
            is_excluded,
            is_upper,
            cut: Cell::new(None),
        };
        let lo = end((&lo.0, lo.1), false);
        let hi = hi.as_ref().map(|hi| end((&hi.0, hi.1), true));
        let leaves = body.trie.count(isa, bytes, &lo, hi.as_ref());
        let (low, high) = (lo.cut.get(), hi.and_then(|hi| hi.cut.get()));
        let cut = u64::from(low.is_some()) + u64::from(high.is_some() && high != low);
        // Each leaf of a trie that was cut at a level stands for one key or more.
        let max = if body.is_cut && leaves > 0 { key_count } else { leaves };
        CountBounds { min: leaves.saturating_sub(cut), max }
    }
}

impl<B: FilterBytes> CountEstimate<u64> for Surf<u64, B> {
    /// Without a cut trie, the bounds are at most 2 apart.
    fn count_range(&self, range: U64Range) -> CountBounds {
        let envelope = *self.frame.envelope();
        let Some(body) = &self.body else { return count_ends(range, &envelope) };
        let (lo, hi) = (IntegerKey::new(range.lo()), IntegerKey::new(range.hi()));
        let (lo, hi, key_count) = ((lo, false), Some((hi, false)), envelope.key_count);
        dispatch(CountIn { body, bytes: self.trie_bytes(), lo, hi, key_count })
    }
}

/// The bounds on a count from the smallest and largest key alone.
fn count_ends(range: U64Range, envelope: &lacuna_base::Envelope) -> CountBounds {
    let lacuna_base::Envelope { key_count, smallest, largest, .. } = *envelope;
    if key_count == 0 || range.hi() < smallest || range.lo() > largest {
        return CountBounds { min: 0, max: 0 };
    }
    let mut min = u64::from(range.contains(smallest)) + u64::from(range.contains(largest));
    if smallest == largest {
        min = min.min(1);
    }
    CountBounds { min, max: if key_count <= 2 { min } else { key_count } }
}

impl<B: FilterBytes> CountEstimate<[u8]> for Surf<[u8], B> {
    /// Without a cut trie, the bounds are at most 2 apart.
    fn count_range(&self, range: ByteRange<'_>) -> CountBounds {
        const NONE: CountBounds = CountBounds { min: 0, max: 0 };
        let key_count = self.key_count();
        let Some(TailRange { lo, hi }) = TailRange::of(range, self.frame.prefix()) else { return NONE };
        let Some(body) = &self.body else { return CountBounds { min: 0, max: key_count } };
        let hi = hi.map(|(hi, is_excluded)| (StringKey(hi), is_excluded));
        dispatch(CountIn { body, bytes: self.trie_bytes(), lo: (StringKey(lo.0), lo.1), hi, key_count })
    }
}
