//! Files come and go with their tables.

use std::fs;

use lacuna_rocksdb::{RangeFilters, SeekTables};
use rust_rocksdb::{ColumnFamilyDescriptor, DB, Options};

use super::{Home, filters};
use crate::support::{gap, key};

#[test]
fn files_go_when_their_tables_do() {
    let home = Home::new();
    let opened = home.open();
    (0..4).for_each(|first| opened.write(first, 4));
    assert_eq!(home.files(), 4);
    opened.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    assert_eq!((home.files(), opened.store.stats().files_removed), (1, 4));
    assert!(opened.passed() < 5);
    opened.db.delete_file_in_range(key(0), key(20_000)).unwrap();
    assert_eq!(home.files(), 0);
    assert!(opened.lacuna.get(&opened.db, key(0)).unwrap().is_none());
}

#[test]
fn an_iterator_keeps_the_file_of_the_table_that_it_reads() {
    let home = Home::new();
    let opened = home.open();
    opened.write(0, 2);
    opened.write(1, 2);
    let snapshot = opened.db.snapshot();
    let mut rows = opened.lacuna.read(key(10)..key(20)).scan(&snapshot);
    assert_eq!(rows.next_row().unwrap().unwrap().0, key(10));
    opened.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    assert_eq!(home.files(), 3, "the old tables are still read");
    assert_eq!(rows.next_row().unwrap().unwrap().0, key(11));
    drop(rows);
    drop(snapshot);
    opened.write(0, 2);
    opened.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    assert_eq!(home.files(), 1);
}

#[test]
fn a_reopened_database_finds_its_files_and_removes_others() {
    let home = Home::new();
    let opened = home.open();
    opened.write(0, 2);
    opened.write(1, 2);
    drop(opened);
    // A crash after a file was written and before its table was.
    let orphan = home.partitions().join(format!("{}.lacuna", "0123456789abcdef".repeat(2)));
    fs::write(&orphan, "half a filter").unwrap();
    fs::write(home.partitions().join("README"), "not ours").unwrap();

    let opened = home.open();
    assert!(opened.passed() < 5);
    assert_eq!(opened.store.stats().missing, 0);
    assert_eq!(opened.lacuna.remove_unused_partitions(&opened.options, &opened.db).unwrap(), 1);
    assert_eq!((orphan.exists(), home.files()), (false, 3));
    // Tables of before are known now, too.
    opened.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    assert_eq!(home.files(), 2);
    assert!(opened.passed() < 5);
}

#[test]
fn a_database_opened_for_reading_only_asks_the_files() {
    let home = Home::new();
    let opened = home.open();
    opened.write(0, 1);
    drop(opened);
    let (lacuna, store, options) = filters(&home.partitions());
    let db = DB::open_for_read_only(&options, home.path("db"), false).unwrap();
    assert!(super::Opened { db, lacuna, store: store.clone(), options }.passed() < 5);
    assert!(store.stats().loads > 0);
    assert_eq!(home.files(), 1);
}

#[test]
fn column_families_share_a_budget_and_take_their_files_along() {
    let home = Home::new();
    let (lacuna, store, options) = filters(&home.partitions());
    let strings = RangeFilters::parse("surf@30 codec=bytes").unwrap().with_partitions(&store);
    let mut plain = Options::default();
    plain.create_if_missing(true);
    plain.create_missing_column_families(true);
    lacuna.watch_tables(&mut plain);
    let mut of_strings = Options::default();
    strings.install(&mut of_strings);
    let families = [
        ColumnFamilyDescriptor::new("integers", options),
        ColumnFamilyDescriptor::new("strings", of_strings),
    ];
    let mut db = DB::open_cf_descriptors(&plain, home.path("db"), families).unwrap();
    for name in ["integers", "strings"] {
        let family = db.cf_handle(name).unwrap();
        (0..5_000).for_each(|number| db.put_cf(&family, key(number), name).unwrap());
        db.flush_cf(&family).unwrap();
    }
    assert_eq!(home.files(), 2);
    for (lacuna, name) in [(&lacuna, "integers"), (&strings, "strings")] {
        let family = db.cf_handle(name).unwrap();
        for number in (0..5_000).step_by(50) {
            assert!(lacuna.get_cf(&db, &family, key(number)).unwrap().is_some(), "{name}, {number}");
            assert!(lacuna.get_cf(&db, &family, gap(number)).unwrap().is_none());
        }
        assert!(lacuna.stats().filters.skipped() > 90, "{name}: {}", lacuna.stats());
        assert_eq!(lacuna.stats().partitions, store.stats());
    }
    db.drop_cf("strings").unwrap();
    assert_eq!(home.files(), 1);
}

#[test]
fn planned_seeks_work_without_partitions() {
    let home = Home::new();
    let opened = home.open();
    opened.write(0, 2);
    let tables = SeekTables::load(&opened.lacuna, &opened.options, &opened.db).unwrap();
    for number in (0..9_000).step_by(501) {
        let (found, _) = tables.first(&opened.db, gap(number)..).unwrap().unwrap();
        assert_eq!(found, key(number / 2 * 2 + 2));
    }
}
