//! Which tables are asked, and what is counted.

use lacuna_rocksdb::{RangeFilters, SeekTables, prefix_range};
use rust_rocksdb::{BlockBasedOptions, ColumnFamilyDescriptor, DB, Env, SliceTransform};

use crate::support::{TestDb, compact_all, gap, key, options};

#[test]
fn seeks_in_a_column_family_read_its_tables() {
    let (env, lacuna) = (Env::mem_env().unwrap(), RangeFilters::parse("surf@60 codec=fixed_be:8").unwrap());
    let own = options(&env, Some(&lacuna));
    let mut all = options(&env, None);
    all.create_missing_column_families(true);
    let db = DB::open_cf_descriptors(&all, "/db", [ColumnFamilyDescriptor::new("own", own.clone())]).unwrap();
    db.put(key(3), b"of the default family").unwrap();
    db.flush().unwrap();
    let handle = db.cf_handle("own").unwrap();
    for first in [10, 30] {
        (0..100).for_each(|row| db.put_cf(&handle, key(first + 50 * row), b"value").unwrap());
        db.flush_cf(&handle).unwrap();
    }
    let tables = SeekTables::load_cf(&lacuna, &own, &db, "own").unwrap();
    assert_eq!(tables.seekable(), (2, 2));
    let before = lacuna.stats().filters;
    assert_eq!(tables.first_cf(&db, &handle, key(11)..).unwrap().unwrap().0, key(30));
    assert_eq!(tables.last_cf(&db, &handle, ..key(29)).unwrap().unwrap().0, key(10));
    let after = lacuna.stats().filters;
    assert_eq!((after.passed() - before.passed(), after.skipped() - before.skipped()), (2, 2), "{after}");
    // In another column family the plan is useless, and the answer right.
    assert_eq!(tables.first(&db, key(0)..).unwrap().unwrap().0, key(3));
}

#[test]
fn seeks_go_on_to_other_prefixes() {
    let test = TestDb::with("surf@30", |options| {
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(4));
        let mut table = BlockBasedOptions::default();
        table.set_bloom_filter(10.0, false);
        options.set_block_based_table_factory(&table);
    });
    test.write_table(["aaaa1", "cccc1"]);
    let tables = SeekTables::load(&test.lacuna, &options(&test.env, None), &test.db).unwrap();
    assert_eq!(tables.first(&test.db, "bbbb0"..).unwrap().unwrap().0, b"cccc1");
    assert_eq!(tables.last(&test.db, .."bbbb0").unwrap().unwrap().0, b"aaaa1");
    assert_eq!(tables.last(&test.db, prefix_range(b"cccc")).unwrap().unwrap().0, b"cccc1");
}

#[test]
fn a_refresh_reads_what_is_new() {
    let test = TestDb::new("surf@60 codec=fixed_be:8");
    (0..5).for_each(|table| test.write_table((0..100).map(|row| key(5 * row + table))));
    let mut tables = SeekTables::load(&test.lacuna, &options(&test.env, None), &test.db).unwrap();
    assert_eq!((tables.refresh(&test.db).unwrap(), tables.seekable()), (0, (5, 5)));
    test.write_table((0..100).map(|row| key(5 * row + 3)));
    assert_eq!((tables.refresh(&test.db).unwrap(), tables.seekable()), (1, (6, 6)));
    compact_all(&test.db);
    assert_eq!((tables.refresh(&test.db).unwrap(), tables.seekable()), (1, (1, 1)));
}

#[test]
fn seeks_that_find_nothing_count_what_was_read_in_vain() {
    // One bit a key: filters that let nearly all pass, and no next keys.
    let test = TestDb::new("bucketing@1 codec=fixed_be:8");
    (0..3).for_each(|table| test.write_table((0..1_000).map(|row| key(3 * row + table))));
    let tables = SeekTables::load(&test.lacuna, &options(&test.env, None), &test.db).unwrap();
    for number in 100..200 {
        assert_eq!(tables.first(&test.db, gap(number)..=gap(number)).unwrap(), None);
    }
    let filters = test.lacuna.stats().filters;
    assert!(filters.passed() > 50 && filters.empty_scans == 100, "{filters}");
    assert_eq!(filters.total().false_positives, filters.passed(), "{filters}");
}
