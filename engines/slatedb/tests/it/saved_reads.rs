//! What it is for: object reads that do not happen.

use std::sync::Arc;

use lacuna_slatedb::RangeFilters;
use lacuna_slatedb::measure::{MeasuredDb, ScanCount, gap_ranges, spread_keys};
use slatedb::object_store::local::LocalFileSystem;

const SEED: u64 = 11;
const SSTS: usize = 16;
const VALUE_BYTES: usize = 92;

/// Scans gaps of `keys` in a database of 16 overlapping SSTs, its block cache a tenth of the data.
async fn scan_gaps(keys: &[u64], lacuna: Option<RangeFilters>) -> ScanCount {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
    let measured = MeasuredDb::new(store, "db", lacuna);
    measured.write_interleaved(keys, SSTS, VALUE_BYTES).await.unwrap();
    let data_bytes = keys.len() * (8 + 8 + VALUE_BYTES);
    let db = measured.open_warm(data_bytes as u64 / 10).await.unwrap();
    assert_eq!(db.manifest().l0().len(), SSTS);
    let warm_up = measured.scan_all(&db, &gap_ranges(keys, 500, 16, SEED + 1)).await.unwrap();
    assert_eq!(warm_up.rows, 0);
    let count = measured.scan_all(&db, &gap_ranges(keys, 2_000, 16, SEED)).await.unwrap();
    let all: Vec<(u64, u64)> = keys.iter().step_by(97).map(|&key| (key, key)).collect();
    assert_eq!(measured.scan_all(&db, &all).await.unwrap().rows, all.len() as u64, "every key is found");
    db.close().await.unwrap();
    count
}

async fn compare(key_count: u64) {
    let keys = spread_keys(key_count, SEED);
    assert!(keys.len() / SSTS >= 1_000, "enough for `min_filter_keys`");
    let plain = scan_gaps(&keys, None).await;
    let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8").unwrap();
    let filtered = scan_gaps(&keys, Some(lacuna)).await;
    println!("16 SSTs, {key_count} keys, seed {SEED}: {plain:?} without filters, {filtered:?} with");
    assert_eq!((plain.rows, filtered.rows, plain.scans, filtered.scans), (0, 0, 2_000, 2_000));
    assert!(plain.reads.gets > 20_000, "the cache must not hide the reads: {plain:?}");
    assert!(filtered.reads.gets * 20 <= plain.reads.gets, "seed {SEED}: {filtered:?} against {plain:?}");
}

#[tokio::test]
async fn empty_scans_read_twenty_times_less() {
    compare(100_000).await;
}

#[tokio::test]
async fn empty_scans_of_a_million_keys_read_twenty_times_less() {
    // Writes 250 MB: part of `make test-long`; `make bars` measures it too.
    if std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1") {
        compare(1_000_000).await;
    }
}
