//! Rows as tests compare them.

use lacuna_rocksdb::GuardedScan;
use rust_rocksdb::{DBAccess, DBRawIteratorWithThreadMode};

/// A key and a value.
pub(crate) type Row = (Vec<u8>, Vec<u8>);

/// All rows of a scan.
pub(crate) fn rows_of<D: DBAccess>(mut scan: GuardedScan<'_, D>) -> Vec<Row> {
    let mut rows = Vec::new();
    while let Some((key, value)) = scan.next_row().unwrap() {
        rows.push((key.to_vec(), value.to_vec()));
    }
    rows
}

/// All rows of one of RocksDB's own iterators, from where it stands.
pub(crate) fn collect<D: DBAccess>(rows: &mut DBRawIteratorWithThreadMode<'_, D>) -> Vec<Row> {
    let mut collected = Vec::new();
    while let Some((key, value)) = rows.item() {
        collected.push((key.to_vec(), value.to_vec()));
        rows.next();
    }
    rows.status().unwrap();
    collected
}
