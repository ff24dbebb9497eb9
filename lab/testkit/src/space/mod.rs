//! What the suite must know of a key space beyond the contract: its hard keys and sets.

mod integers;
mod strings;

use lacuna_base::{KeyRange, KeySpace};
use lacuna_workload::Rng;
use proptest::strategy::BoxedStrategy;
use std::ops::Bound::Included;

/// A key space the suite can draw tests from: `u64` and `[u8]`.
pub trait TestSpace: KeySpace {
    /// Number of places [`universe`](Self::universe) can stand at.
    const PLACEMENTS: usize;

    /// `size` ascending keys (16 or 256) whose every subset is tried; placement 0 is the plain one, the others spread
    /// the keys over the space and push them against its rims.
    fn universe(size: usize, placement: usize) -> Vec<Self::Owned>;

    /// The key for a number, keeping the order of numbers.
    fn number(number: u64) -> Self::Owned;

    /// The smallest key there is.
    fn smallest() -> Self::Owned;

    /// The largest key there is, or for byte strings one above all others in the suite.
    fn largest() -> Self::Owned;

    /// Keys near `key`: next to it, somewhat off, far off. May hold `key` itself and repeats.
    fn neighbours(key: &Self::Owned) -> Vec<Self::Owned>;

    /// Named key sets that have broken filters.
    fn nasty_sets() -> Vec<(&'static str, Vec<Self::Owned>)>;

    /// A key for property tests, often in a cluster or at a rim.
    fn any_key() -> BoxedStrategy<Self::Owned>;

    /// Ends of a query of `range_len` keys, anywhere or shortly after one of `keys`; `None` if there is none there,
    /// or if the length of a range means nothing in this space.
    fn draw_query(
        rng: &mut Rng,
        near: Option<&Self::Owned>,
        range_len: u64,
    ) -> Option<(Self::Owned, Self::Owned)>;

    /// The five keys of the golden files.
    fn five_keys() -> Vec<Self::Owned>;
}

/// The closed range between two keys; `None` if it is inverted.
pub(crate) fn closed<'a, K: KeySpace + ?Sized>(
    lo: &'a K::Owned,
    hi: &'a K::Owned,
) -> Option<KeyRange<'a, K>> {
    K::range(Included(K::borrow(lo)), Included(K::borrow(hi)))
}

/// Every closed range between two of `ends`, which ascend, with the places of its ends.
pub(crate) fn closed_ranges<K: KeySpace + ?Sized>(ends: &[K::Owned]) -> Vec<(KeyRange<'_, K>, usize, usize)> {
    let places = (0..ends.len()).flat_map(|lo| (lo..ends.len()).map(move |hi| (lo, hi)));
    places.filter_map(|(lo, hi)| Some((closed::<K>(&ends[lo], &ends[hi])?, lo, hi))).collect()
}

/// `count` keys of uniform numbers.
pub(crate) fn uniform_keys<K: TestSpace + ?Sized>(rng: &mut Rng, count: usize) -> Vec<K::Owned> {
    (0..count).map(|_| K::number(rng.next_u64())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_universe_ascends<K: TestSpace + ?Sized>() {
        for (size, placement) in
            [16, 256].into_iter().flat_map(|size| (0..K::PLACEMENTS).map(move |at| (size, at)))
        {
            let universe = K::universe(size, placement);
            assert_eq!(universe.len(), size, "placement {placement}");
            assert!(universe.is_sorted_by(|left, right| left < right), "size {size}, placement {placement}");
        }
    }

    #[test]
    fn universes_ascend_without_repeats() {
        every_universe_ascends::<u64>();
        every_universe_ascends::<[u8]>();
    }

    #[test]
    fn numbers_keep_their_order() {
        for pair in [0, 1, 255, 256, 1 << 40, u64::MAX].windows(2) {
            assert!(u64::number(pair[0]) < u64::number(pair[1]));
            assert!(<[u8]>::number(pair[0]) < <[u8]>::number(pair[1]));
        }
    }

    #[test]
    fn all_ranges_of_a_universe_are_listed() {
        let ends = u64::universe(16, 0);
        assert_eq!(closed_ranges::<u64>(&ends).len(), 136);
    }
}
