//! Bounds as RocksDB takes them.

use std::ops::Bound;

/// The smallest key inside and the smallest key above, where there is one.
pub type RocksBounds = (Option<Vec<u8>>, Option<Vec<u8>>);

/// The bounds as RocksDB takes them. Byte strings have an immediate successor, the string with a zero byte appended, so
/// nothing is lost.
pub(crate) fn rocksdb_bounds((lo, hi): &(Bound<Vec<u8>>, Bound<Vec<u8>>)) -> RocksBounds {
    let lower = match lo {
        Bound::Included(lo) => Some(lo.clone()),
        Bound::Excluded(lo) => Some(successor(lo)),
        Bound::Unbounded => None,
    };
    let upper = match hi {
        Bound::Included(hi) => Some(successor(hi)),
        Bound::Excluded(hi) => Some(hi.clone()),
        Bound::Unbounded => None,
    };
    (lower, upper)
}

fn successor(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}
