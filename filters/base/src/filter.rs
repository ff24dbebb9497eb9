//! The read-only answerer.

use std::fmt::Debug;
use std::ops::Bound;

use crate::key::{KeyRange, KeySpace};

/// Answers whether a set of keys may hold a key, or any key of a range. `false` is always true: the key, or every key
/// of the range, is absent. `true` means "maybe: go and read".
///
/// Queries take no lock, allocate nothing, cannot fail and look at a bounded number of places. A filter is a view over
/// its sealed bytes and may be asked from any number of threads.
pub trait RangeFilter<K: KeySpace + ?Sized>: Debug + Send + Sync {
    /// Whether `key` may be there; `false` proves that it is not.
    fn may_contain(&self, key: K::Ref<'_>) -> bool {
        self.may_contain_range(K::point(key))
    }

    /// Whether any key of `range` may be there; `false` proves that none is.
    fn may_contain_range(&self, range: KeyRange<'_, K>) -> bool;

    /// Answers many ranges at once, so that their cache misses overlap. `answers[i]` belongs to `ranges[i]`.
    ///
    /// # Panics
    /// If the two slices differ in length.
    fn may_contain_ranges(&self, ranges: &[KeyRange<'_, K>], answers: &mut [bool]) {
        assert_eq!(ranges.len(), answers.len(), "one answer for each range");
        for (range, answer) in ranges.iter().zip(answers) {
            *answer = self.may_contain_range(*range);
        }
    }

    /// Answers many closed ranges whose ends stand in two columns, as arrays of other languages have them. `answers[i]`
    /// belongs to `los[i]..=his[i]`; an inverted pair is `false`. No slower than
    /// [`may_contain_ranges`](Self::may_contain_ranges).
    ///
    /// # Panics
    /// If the three slices differ in length.
    fn may_contain_pairs<'a>(&self, los: &[K::Ref<'a>], his: &[K::Ref<'a>], answers: &mut [bool]) {
        ask_pairs(self, los, his, answers);
    }

    /// Whether any key between two bounds of any kind may be there; an empty or inverted pair is `false`.
    fn may_contain_bounds(&self, lo: Bound<K::Ref<'_>>, hi: Bound<K::Ref<'_>>) -> bool {
        fn shorten<'short, 'long: 'short, K: KeySpace + ?Sized>(
            bound: Bound<K::Ref<'long>>,
        ) -> Bound<K::Ref<'short>> {
            bound.map(K::shorten)
        }
        match K::range(shorten::<K>(lo), shorten::<K>(hi)) {
            Some(range) => self.may_contain_range(range),
            None => false,
        }
    }

    /// Most false positives this filter promises among independent empty queries of `range_len` keys, as a share of
    /// all queries, whatever the keys and the workload; 1 where it promises nothing.
    fn rate_bound(&self, range_len: u64) -> f64 {
        let _ = range_len;
        1.0
    }

    /// Number of distinct keys the filter was built from.
    fn key_count(&self) -> u64;

    /// Length of the sealed bytes, envelope included.
    fn size_in_bytes(&self) -> usize;

    /// Bytes of memory the opened filter holds, sealed bytes included.
    fn memory_bytes(&self) -> usize;
}

/// Ranges that are gathered from pairs at a time.
const GATHERED: usize = 32;

/// Answers pairs of ends as ranges, a few at a time and without an allocation.
fn ask_pairs<'a, K: KeySpace + ?Sized, F: RangeFilter<K> + ?Sized>(
    filter: &F,
    los: &[K::Ref<'a>],
    his: &[K::Ref<'a>],
    answers: &mut [bool],
) {
    check_pairs(los.len(), his.len(), answers.len());
    let pairs = los.chunks(GATHERED).zip(his.chunks(GATHERED));
    for ((los, his), answers) in pairs.zip(answers.chunks_mut(GATHERED)) {
        let mut places = [0; GATHERED];
        let mut ranges = [K::point(los[0]); GATHERED];
        let mut count = 0;
        for (place, (&lo, &hi)) in los.iter().zip(his).enumerate() {
            if let Some(range) = K::range(Bound::Included(lo), Bound::Included(hi)) {
                (places[count], ranges[count]) = (place, range);
                count += 1;
            }
        }
        let mut found = [false; GATHERED];
        filter.may_contain_ranges(&ranges[..count], &mut found[..count]);
        answers.fill(false);
        for (&place, &found) in places[..count].iter().zip(&found) {
            answers[place] = found;
        }
    }
}

/// The lengths of a call of [`RangeFilter::may_contain_pairs`].
#[inline]
fn check_pairs(los: usize, his: usize, answers: usize) {
    assert!(los == his && his == answers, "a lower end, an upper end and an answer for each range");
}

impl<K: KeySpace + ?Sized, F: RangeFilter<K> + ?Sized> RangeFilter<K> for Box<F> {
    fn may_contain(&self, key: K::Ref<'_>) -> bool {
        (**self).may_contain(key)
    }
    fn may_contain_range(&self, range: KeyRange<'_, K>) -> bool {
        (**self).may_contain_range(range)
    }
    fn may_contain_ranges(&self, ranges: &[KeyRange<'_, K>], answers: &mut [bool]) {
        (**self).may_contain_ranges(ranges, answers);
    }
    fn may_contain_pairs<'a>(&self, los: &[K::Ref<'a>], his: &[K::Ref<'a>], answers: &mut [bool]) {
        (**self).may_contain_pairs(los, his, answers);
    }
    fn may_contain_bounds(&self, lo: Bound<K::Ref<'_>>, hi: Bound<K::Ref<'_>>) -> bool {
        (**self).may_contain_bounds(lo, hi)
    }
    fn rate_bound(&self, range_len: u64) -> f64 {
        (**self).rate_bound(range_len)
    }
    fn key_count(&self) -> u64 {
        (**self).key_count()
    }
    fn size_in_bytes(&self) -> usize {
        (**self).size_in_bytes()
    }
    fn memory_bytes(&self) -> usize {
        (**self).memory_bytes()
    }
}
