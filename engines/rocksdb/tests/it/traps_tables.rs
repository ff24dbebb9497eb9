//! R9, R10, R12, R20: which tables have a filter, and which do not.

use lacuna_rocksdb::RangeFilters;
use rust_rocksdb::{ColumnFamilyDescriptor, CompactOptions, DB, Env, SstFileWriter};

use crate::support::{TestDb, compact_all, gap, key, options, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

#[test]
fn old_tables_are_scanned_until_rewritten() {
    let test = TestDb::new("off codec=fixed_be:8");
    test.write_table((0..100).map(key));
    let test = test.reopen(SPEC, true);
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    assert_eq!((test.lacuna.stats().scanned.missing, test.asked()), (2, (0, 0)));
    compact_all(&test.db);
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    assert_eq!((test.lacuna.stats().scanned.missing, test.asked()), (2, (2, 0)));
}

#[test]
fn a_compaction_without_the_collector_drops_the_filter() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let test = test.reopen(SPEC, false);
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    assert_eq!((test.lacuna.stats().scanned.missing, test.asked()), (0, (2, 0)));
    compact_all(&test.db);
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    assert_eq!((test.lacuna.stats().scanned.missing, test.asked()), (2, (2, 0)));
    assert_eq!(test.rows(&key(0), &key(99)).len(), 100);
}

#[test]
fn a_moved_table_keeps_its_filter() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let built = test.lacuna.stats().filters.built;
    let mut moving = CompactOptions::default();
    moving.set_change_level(true);
    moving.set_target_level(3);
    moving.set_bottommost_level_compaction(rust_rocksdb::BottommostLevelCompaction::Skip);
    test.db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &moving);
    assert_eq!(test.db.live_files().unwrap()[0].level, 3);
    assert_eq!(test.lacuna.stats().filters.built, built, "moved, not rewritten");
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    let filters = test.lacuna.stats().filters;
    assert_eq!(filters.level(Some(0)).skipped, 2, "counted under the level it was written for");
}

#[test]
fn answers_are_counted_by_level() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    compact_all(&test.db);
    test.write_table((0..100).map(key));
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    let filters = test.lacuna.stats().filters;
    assert_eq!(filters.level(Some(0)).skipped, 2);
    assert_eq!(filters.total().skipped, 4);
    let below: u64 = (1..7).map(|level| filters.level(Some(level)).skipped).sum();
    assert_eq!(below, 2);
}

#[test]
fn ingested_tables_take_part() {
    let test = TestDb::new(SPEC);
    let ingest = |path: &str, lacuna: Option<&RangeFilters>, first: u64| {
        let options = options(&test.env, lacuna);
        let mut writer = SstFileWriter::create(&options);
        writer.open(path).unwrap();
        (0..100).for_each(|place| writer.put(key(first + 2 * place), b"value").unwrap());
        writer.finish().unwrap();
        test.db.ingest_external_file(vec![path]).unwrap();
    };
    ingest("/with.sst", Some(&test.lacuna), 0);
    ingest("/without.sst", None, 1);
    assert!(test.rows(&gap(5), &gap(5)).is_empty());
    assert_eq!((test.lacuna.stats().scanned.missing, test.asked()), (2, (2, 0)));
    assert_eq!(test.rows(&key(0), &key(199)).len(), 200);
}

#[test]
fn column_families_have_their_own_filters() {
    let env = Env::mem_env().unwrap();
    let (integers, strings) =
        (RangeFilters::parse(SPEC).unwrap(), RangeFilters::parse("grafite@16").unwrap());
    let family = |name: &str, lacuna| ColumnFamilyDescriptor::new(name, options(&env, lacuna));
    let mut all = options(&env, None);
    all.create_missing_column_families(true);
    let families =
        [family("integers", Some(&integers)), family("strings", Some(&strings)), family("plain", None)];
    let db = DB::open_cf_descriptors(&all, "/db", families).unwrap();
    for name in ["integers", "strings", "plain"] {
        let handle = db.cf_handle(name).unwrap();
        (0..100).for_each(|number| db.put_cf(&handle, key(number), name).unwrap());
        db.flush_cf(&handle).unwrap();
    }
    let read = |lacuna: &RangeFilters, name, lo, hi| {
        rows_of(lacuna.read(lo..=hi).scan_cf(&db, &db.cf_handle(name).unwrap())).len()
    };
    for (lacuna, name) in [(&integers, "integers"), (&strings, "strings")] {
        assert_eq!(read(lacuna, name, key(10), key(19)), 10);
        assert_eq!(read(lacuna, name, gap(10), gap(10)), 0);
        assert_eq!((lacuna.stats().filters.skipped(), lacuna.stats().scanned.total()), (1, 0), "{name}");
    }
    assert_eq!(read(&integers, "strings", key(10), key(19)), 10, "another codec is scanned");
    assert_eq!(integers.stats().scanned.unsupported, 1);
    assert_eq!(read(&integers, "plain", key(10), key(19)), 10, "a family without filters is scanned");
    assert_eq!(integers.stats().scanned.missing, 1);
}
