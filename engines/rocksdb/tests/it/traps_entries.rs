//! R1, R2, R13: every kind of entry that a table can hold.

use std::time::Duration;

use rust_rocksdb::{CompactOptions, CompactionDecision, ReadOptions, WaitForCompactOptions, WriteBatch};

use crate::support::{TestDb, collect, compact_all, gap, key, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

/// A table at the bottom with keys 0 to 99, and above it a table that `write` fills.
fn layered(write: impl FnOnce(&TestDb)) -> TestDb {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    compact_all(&test.db);
    write(&test);
    test.db.flush().unwrap();
    test
}

#[test]
fn the_shim_writes_a_property() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let stats = test.lacuna.stats();
    assert_eq!((stats.filters.built, stats.filters.build_failures), (1, 0));
    assert!(test.rows(&key(1_000), &key(1_001)).is_empty());
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    assert_eq!(test.lacuna.stats().scanned.total(), 0, "{}", test.lacuna.stats());
    assert!(test.asked().0 >= 2);
}

#[test]
fn a_table_skipped_with_its_deletion_would_resurrect_the_key() {
    let test = layered(|test| test.db.delete(key(5)).unwrap());
    // A filter that overlooks deletions skips the upper table: what R1 warns of, so that the next test can fail.
    let mut blind = ReadOptions::default();
    blind.set_iterate_range(key(5)..key(6));
    blind.set_table_filter(|table| table.num_deletions() == 0);
    let mut rows = test.db.raw_iterator_opt(blind);
    rows.seek_to_first();
    assert_eq!(collect(&mut rows).len(), 1);
}

#[test]
fn a_deletion_keeps_its_key_hidden() {
    let test = layered(|test| test.db.delete(key(5)).unwrap());
    assert!(test.rows(&key(5), &key(5)).is_empty());
    assert!(test.rows(&key(4), &key(6)).iter().map(|(key, _)| key.clone()).eq([key(4), key(6)]));
}

#[test]
fn a_single_deletion_keeps_its_key_hidden() {
    let test = layered(|test| test.db.single_delete(key(5)).unwrap());
    assert!(test.rows(&key(5), &key(5)).is_empty());
}

#[test]
fn a_merge_operand_is_found() {
    let test = layered(|test| {
        test.db.merge(key(5), b"+1").unwrap();
        test.db.merge(key(500), b"new").unwrap();
    });
    assert_eq!(test.rows(&key(5), &key(5))[0].1, b"value+1");
    assert_eq!(test.rows(&key(500), &key(500))[0].1, b"new");
}

#[test]
fn range_deletions_of_skipped_tables_apply_on_level_0() {
    let test = layered(|test| {
        let mut batch = WriteBatch::default();
        batch.delete_range(key(10), key(20));
        batch.put(key(1_000), b"far away");
        test.db.write(&batch).unwrap();
    });
    let (skipped, _) = test.asked();
    assert!(test.rows(&key(10), &key(19)).is_empty());
    assert!(test.asked().0 >= skipped + 2, "the upper table was skipped in both directions");
    assert_eq!(test.rows(&key(9), &key(20)).len(), 2);
}

#[test]
fn range_deletions_of_skipped_tables_apply_below() {
    let test = TestDb::with(SPEC, |options| options.set_level_compaction_dynamic_level_bytes(false));
    test.write_table((0..100).map(key));
    let mut to_bottom = CompactOptions::default();
    to_bottom.set_change_level(true);
    to_bottom.set_target_level(6);
    test.db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &to_bottom);
    let snapshot = test.db.snapshot();
    let mut batch = WriteBatch::default();
    batch.delete_range(key(10), key(20));
    batch.put(key(1_000), b"far away");
    test.db.write(&batch).unwrap();
    test.db.flush().unwrap();
    let eager = [("level0_file_num_compaction_trigger", "1"), ("disable_auto_compactions", "false")];
    test.db.set_options(&eager).unwrap();
    test.db.wait_for_compact(&WaitForCompactOptions::default()).unwrap();
    let mut levels: Vec<i32> = test.db.live_files().unwrap().iter().map(|file| file.level).collect();
    levels.sort_unstable();
    assert_eq!(levels, [1, 6]);
    let (skipped, _) = test.asked();
    assert!(test.rows(&key(10), &key(19)).is_empty());
    assert_eq!(test.asked().0, skipped + 2, "the upper table was skipped in both directions");
    assert_eq!(test.rows_in(&snapshot, &key(10), &key(19)).len(), 10);
}

#[test]
fn a_table_of_range_deletions_alone_is_built() {
    let test = layered(|test| {
        let mut batch = WriteBatch::default();
        batch.delete_range(key(10), key(20));
        test.db.write(&batch).unwrap();
    });
    assert_eq!(test.lacuna.stats().filters.build_failures, 0, "{}", test.lacuna.stats());
    assert!(test.rows(&key(10), &key(19)).is_empty());
}

#[test]
fn snapshots_read_what_later_tables_hide() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let snapshot = test.db.snapshot();
    (10..20).for_each(|number| test.db.delete(key(number)).unwrap());
    test.db.flush().unwrap();
    compact_all(&test.db);
    assert!(test.rows(&key(10), &key(19)).is_empty());
    assert_eq!(test.rows_in(&snapshot, &key(10), &key(19)).len(), 10);
}

#[test]
fn compaction_filters_remove_keys_and_their_bits() {
    let test = TestDb::with(SPEC, |options| {
        options.set_compaction_filter("odd", |_, key: &[u8], _| match key[5] & 0x10 {
            0 => CompactionDecision::Keep,
            _ => CompactionDecision::Remove,
        });
    });
    test.write_table((0..100).map(key));
    compact_all(&test.db);
    assert_eq!(test.rows(&key(0), &key(99)).len(), 50);
    let (skipped, _) = test.asked();
    assert!(test.rows(&key(1), &key(1)).is_empty());
    assert_eq!(test.asked().0, skipped + 2, "the collector saw what the compaction filter left");
}

/// A value as a database with a time to live stores it: followed by the second it was written in.
fn written_in(second: u32, value: &[u8]) -> Vec<u8> {
    [value, &second.to_le_bytes()].concat()
}

#[test]
fn expired_rows_end_with_a_compaction_as_without_filters() {
    let folder = tempfile::tempdir().unwrap();
    let lacuna = lacuna_rocksdb::RangeFilters::parse(SPEC).unwrap();
    let mut options = rust_rocksdb::Options::default();
    options.create_if_missing(true);
    lacuna.install(&mut options);
    // Written without a time to live, so that seconds can be chosen: of the years 2014 and 2036.
    let db = rust_rocksdb::DB::open(&options, folder.path()).unwrap();
    (0..100).for_each(|number| db.put(key(number), written_in(1_400_000_000, b"value")).unwrap());
    db.flush().unwrap();
    [12, 14].iter().for_each(|&number| db.put(key(number), written_in(2_100_000_000, b"later")).unwrap());
    db.flush().unwrap();
    drop(db);
    let db = rust_rocksdb::DB::open_with_ttl(&options, folder.path(), Duration::from_secs(1)).unwrap();
    let rows = || rows_of(lacuna.read(key(10)..key(20)).scan(&db));
    assert_eq!(rows().len(), 10, "RocksDB shows expired rows until they are compacted");
    assert_eq!(rows()[0].1, b"value", "without the time that is stored after it");
    compact_all(&db);
    assert_eq!(rows(), [12, 14].map(|number| (key(number).to_vec(), b"later".to_vec())));
    assert!(rows_of(lacuna.read(gap(12)..=gap(12)).scan(&db)).is_empty());
    assert!(lacuna.stats().filters.skipped() > 0, "{}", lacuna.stats());
}

#[test]
fn values_in_blob_files_are_found() {
    let test = TestDb::with(SPEC, |options| {
        options.set_enable_blob_files(true);
        options.set_min_blob_size(0);
    });
    test.write_table((0..100).map(key));
    compact_all(&test.db);
    assert_eq!(test.rows(&key(7), &key(7))[0].1, b"value");
    assert!(test.rows(&key(100), &key(200)).is_empty());
    assert_eq!(test.lacuna.stats().scanned.total(), 0);
}
