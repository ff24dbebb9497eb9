//! Planned seeks against RocksDB's own iterators.

mod answers;
mod moments;
mod random;
mod savings;

use std::ops::Bound;

use lacuna_rocksdb::{OwnedRow, Readable};
use rust_rocksdb::{DBRawIteratorWithThreadMode, ReadOptions};

use crate::differential::Bounds;

/// The row that RocksDB finds without filters.
fn plain<R: Readable>(reader: &R, bounds: &Bounds, first: bool) -> Option<OwnedRow> {
    let inside = |key: &[u8]| {
        use std::ops::RangeBounds;
        bounds.contains(&key.to_vec())
    };
    let mut rows = reader.raw(ReadOptions::default());
    match (first, &bounds.0, &bounds.1) {
        (true, Bound::Included(lo) | Bound::Excluded(lo), _) => rows.seek(lo),
        (true, Bound::Unbounded, _) => rows.seek_to_first(),
        (false, _, Bound::Included(hi) | Bound::Excluded(hi)) => rows.seek_for_prev(hi),
        (false, _, Bound::Unbounded) => rows.seek_to_last(),
    }
    // An excluded end is one step away.
    let at_end = [&bounds.0, &bounds.1]
        .into_iter()
        .any(|end| matches!(end, Bound::Excluded(end) if rows.key() == Some(end)));
    if at_end {
        step(&mut rows, first);
    }
    rows.item().filter(|(key, _)| inside(key)).map(|(key, value)| (key.to_vec(), value.to_vec()))
}

fn step<D: rust_rocksdb::DBAccess>(rows: &mut DBRawIteratorWithThreadMode<'_, D>, forward: bool) {
    if forward { rows.next() } else { rows.prev() }
}
