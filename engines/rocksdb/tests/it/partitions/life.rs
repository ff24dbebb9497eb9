//! Files come and go with their tables.

use std::fs;

use lacuna_rocksdb::{RangeFilters, SeekTables};
use rust_rocksdb::{ColumnFamilyDescriptor, DB, Env, KeyEncodingType, Options, PlainTableFactoryOptions};

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

/// Options that look in another place than the database does say nothing of the filters that there are.
#[test]
fn files_of_tables_that_are_not_found_stay() {
    let home = Home::new();
    home.open().write(0, 2);
    let opened = home.open();
    let mut elsewhere = Options::default();
    elsewhere.set_env(&Env::mem_env().unwrap());
    assert_eq!(opened.lacuna.remove_unused_partitions(&elsewhere, &opened.db).unwrap(), 0);
    assert_eq!(home.files(), 1);
    assert!(opened.passed() < 5);
    assert_eq!(opened.lacuna.remove_unused_partitions(&opened.options, &opened.db).unwrap(), 0);
    assert_eq!(home.files(), 1);
}

#[test]
fn files_of_tables_of_another_format_stay() {
    let home = Home::new();
    let open = || {
        let (lacuna, store, mut options) = filters(&home.partitions());
        options.set_allow_mmap_reads(true);
        options.set_plain_table_factory(&PlainTableFactoryOptions {
            user_key_length: 0,
            bloom_bits_per_key: 0,
            hash_table_ratio: 0.0,
            index_sparseness: 16,
            huge_page_tlb_size: 0,
            encoding_type: KeyEncodingType::Plain,
            full_scan_mode: false,
            store_index_in_file: false,
        });
        let db = DB::open(&options, home.path("db")).unwrap();
        super::Opened { db, lacuna, store, options }
    };
    open().write(0, 2);
    let opened = open();
    assert_eq!(opened.lacuna.remove_unused_partitions(&opened.options, &opened.db).unwrap(), 0);
    assert_eq!(home.files(), 1);
    // They name no comparator, so that all are read; no row is lost.
    assert!(opened.passed() > 90);
    assert!(opened.lacuna.stats().scanned.comparator > 0, "{}", opened.lacuna.stats());
}

/// Tables in another order have no filter, and do not keep the files of others.
#[test]
fn files_are_removed_beside_a_column_family_of_another_order() {
    let home = Home::new();
    let open = || {
        let (lacuna, store, mut options) = filters(&home.partitions());
        options.create_missing_column_families(true);
        let mut own = Options::default();
        own.set_comparator("backward", Box::new(|a: &[u8], b: &[u8]| b.cmp(a)));
        let own = ColumnFamilyDescriptor::new("own", own);
        let default = ColumnFamilyDescriptor::new("default", options.clone());
        let db = DB::open_cf_descriptors(&options, home.path("db"), [default, own]).unwrap();
        super::Opened { db, lacuna, store, options }
    };
    let opened = open();
    opened.write(0, 2);
    let family = opened.db.cf_handle("own").unwrap();
    opened.db.put_cf(&family, key(5), b"value").unwrap();
    opened.db.flush_cf(&family).unwrap();
    drop(opened);
    let orphan = home.partitions().join(format!("{}.lacuna", "0123456789abcdef".repeat(2)));
    fs::write(&orphan, "half a filter").unwrap();
    let opened = open();
    assert_eq!(opened.lacuna.remove_unused_partitions(&opened.options, &opened.db).unwrap(), 1);
    assert_eq!((orphan.exists(), home.files()), (false, 1));
}

#[test]
fn filters_that_are_installed_twice_are_built_once() {
    let once = Home::new();
    let installed = once.open();
    installed.write(0, 2);
    let home = Home::new();
    let (lacuna, store, mut options) = filters(&home.partitions());
    lacuna.install(&mut options);
    let db = DB::open(&options, home.path("db")).unwrap();
    let opened = super::Opened { db, lacuna, store, options };
    opened.write(0, 2);
    let built = opened.lacuna.stats().filters.built;
    assert_eq!((home.files(), built), (1, installed.lacuna.stats().filters.built));
    assert!(opened.passed() < 5);
    opened.write(1, 2);
    opened.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    assert_eq!(home.files(), 1, "files go with their tables");
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
