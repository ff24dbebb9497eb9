//! The truth: the keys themselves, sorted, asked by binary search.

use std::fmt;

use lacuna_base::{KeyRange, KeySpace, SortedKeys};

/// A set of keys that answers exactly, and from which filters are built.
///
/// ```
/// use lacuna_base::U64Range;
/// use lacuna_testkit::Oracle;
///
/// let oracle = Oracle::<u64>::new(vec![9, 2, 9]);
/// assert_eq!(oracle.keys(), [2, 9]);
/// assert!(oracle.contains(9));
/// assert!(!oracle.holds_any(U64Range::new(3, 8).expect("3 <= 8")));
/// ```
#[derive(Clone)]
pub struct Oracle<K: KeySpace + ?Sized> {
    keys: Vec<K::Owned>,
    column: K::OwnedColumn,
}

impl<K: KeySpace + ?Sized> Oracle<K> {
    /// The set of `keys`, given in any order and any number of times.
    pub fn new(mut keys: Vec<K::Owned>) -> Self {
        keys.sort();
        keys.dedup();
        let mut column = K::OwnedColumn::default();
        for key in &keys {
            K::push(&mut column, K::borrow(key));
        }
        Self { keys, column }
    }

    /// The keys, ascending.
    pub fn keys(&self) -> &[K::Owned] {
        &self.keys
    }

    /// Number of distinct keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys as a filter takes them.
    pub fn sorted(&self) -> SortedKeys<'_, K> {
        SortedKeys::try_new(K::column(&self.column)).expect("`new` sorted the keys and removed repeats")
    }

    /// Whether `key` is there.
    pub fn contains(&self, key: K::Ref<'_>) -> bool {
        let place = self.first_at(key);
        self.keys.get(place).is_some_and(|found| K::borrow(found) == K::shorten(key))
    }

    /// Whether any key of `range` is there.
    pub fn holds_any(&self, range: KeyRange<'_, K>) -> bool {
        let (lo, _) = K::ends(range);
        // The first key may be an excluded end; the one after it is then the first that can be inside.
        let candidates = self.keys[self.first_at(lo)..].iter().take(2);
        candidates.into_iter().any(|key| K::contains(range, K::borrow(key)))
    }

    /// Number of keys below `key`.
    fn first_at(&self, key: K::Ref<'_>) -> usize {
        self.keys.partition_point(|other| K::borrow(other) < K::shorten(key))
    }
}

impl<K: KeySpace + ?Sized> fmt::Debug for Oracle<K> {
    /// Few keys in full, many as a count with both ends: a fault shows this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.keys.as_slice() {
            [first, .., last] if self.len() > 20 => {
                write!(f, "{} keys from {first:?} to {last:?}", self.len())
            }
            few => write!(f, "keys {few:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Bound::{self, Excluded, Included, Unbounded};

    use super::*;

    fn bounds(key: u64) -> [Bound<u64>; 3] {
        [Included(key), Excluded(key), Unbounded]
    }

    #[test]
    fn integer_answers_match_a_linear_scan() {
        for mask in 0u64..256 {
            let keys: Vec<u64> = (0..8).filter(|bit| mask >> bit & 1 == 1).collect();
            let oracle = Oracle::<u64>::new(keys.clone());
            for (lo, hi) in (0..8).flat_map(|lo| (0..8).map(move |hi| (lo, hi))) {
                for range in
                    bounds(lo).into_iter().flat_map(|lo| bounds(hi).map(|hi| u64::range(lo, hi))).flatten()
                {
                    let truth = keys.iter().any(|&key| range.contains(key));
                    assert_eq!(oracle.holds_any(range), truth, "{keys:?} {range:?}");
                }
                assert_eq!(oracle.contains(lo), keys.contains(&lo));
            }
        }
    }

    #[test]
    fn string_answers_match_an_ordered_set() {
        let strings = [&b""[..], b"\0", b"\0\0", b"a", b"a\0", b"a\xFF", b"b"];
        for mask in 0usize..1 << strings.len() {
            let keys: BTreeSet<Vec<u8>> = (0..strings.len())
                .filter(|bit| mask >> bit & 1 == 1)
                .map(|bit| strings[bit].to_vec())
                .collect();
            let oracle = Oracle::<[u8]>::new(keys.iter().cloned().collect());
            for (lo, hi) in strings.iter().flat_map(|lo| strings.iter().map(move |hi| (*lo, *hi))) {
                for (lo, hi) in
                    [(Included(lo), Excluded(hi)), (Excluded(lo), Included(hi)), (Excluded(lo), Unbounded)]
                {
                    let Some(range) = <[u8]>::range(lo, hi) else { continue };
                    assert_eq!(
                        oracle.holds_any(range),
                        keys.iter().any(|key| range.contains(key)),
                        "{range:?}"
                    );
                }
            }
        }
    }
}
