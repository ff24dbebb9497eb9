//! The places of many queries among sorted keys, sought side by side.
//!
//! A binary search waits for one cache miss after the other. Sixteen of them that take turns wait for their misses at the
//! same time: with the keys 10, 20, 30 and 40 the queries 15 and 35 both look at 20 first, then one at 10 and one at 30.

use std::ops::Range;

/// Searches that take turns: as many misses as a core can have under way, and some.
pub const ABREAST: usize = 16;

/// Sets each of `places` to the first place of `span` that is not before its query, or to the end of `span`.
///
/// `is_before(query, place)` says whether the key at `place` lies before the query with this number; for each query it must
/// be true up to some place and false from there on.
///
/// ```
/// let keys = [10, 20, 30, 40];
/// let queries = [15, 35, 50];
/// let mut places = [0; 3];
/// lacuna_base::internal::seek_abreast(&mut places, 0..4, |query, place| keys[place] < queries[query]);
/// assert_eq!(places, [1, 3, 4]);
/// ```
#[inline(always)]
pub fn seek_abreast(places: &mut [usize], span: Range<usize>, is_before: impl Fn(usize, usize) -> bool) {
    places.fill(span.start);
    if span.is_empty() {
        return;
    }
    let mut left = span.len();
    while left > 1 {
        let half = left / 2;
        // A product instead of a branch, which would be mispredicted half of the time and end the overlap.
        for (query, place) in places.iter_mut().enumerate() {
            *place += half * usize::from(is_before(query, *place + half - 1));
        }
        left -= half;
    }
    for (query, place) in places.iter_mut().enumerate() {
        *place += usize::from(is_before(query, *place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_single_searches() {
        let keys: Vec<u64> = (0..40).map(|key| key * key / 3).collect();
        let queries: Vec<u64> = (0..600).collect();
        for len in 0..keys.len() {
            for start in [0, len / 3, len] {
                let mut places = vec![usize::MAX; queries.len()];
                seek_abreast(&mut places, start..len, |query, place| keys[place] < queries[query]);
                let single = |query: &u64| start + keys[start..len].partition_point(|key| key < query);
                assert_eq!(places, queries.iter().map(single).collect::<Vec<_>>(), "{start}..{len}");
            }
        }
    }
}
