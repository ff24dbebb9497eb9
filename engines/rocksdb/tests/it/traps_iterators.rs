//! R3, R5, R14, R15 and transactions: every kind of iterator that ends in a table.

use rust_rocksdb::{
    ColumnFamilyDescriptor, DB, OptimisticTransactionDB, Options, ReadOptions, SliceTransform, TransactionDB,
    TransactionDBOptions,
};

use crate::support::{TestDb, collect, key, options, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

fn keys(rows: &[(Vec<u8>, Vec<u8>)]) -> Vec<[u8; 8]> {
    rows.iter().map(|(key, _)| key[..].try_into().unwrap()).collect()
}

#[test]
fn an_iterator_stays_between_its_bounds_wherever_it_seeks() {
    let test = TestDb::new(SPEC);
    for first in 0..4 {
        test.write_table((first..100).step_by(4).map(key));
    }
    let mut rows = test.db.raw_iterator_opt(test.lacuna.read(key(10)..key(20)).into_options());
    for seek in [0, 10, 15, 19, 20, 50, 10] {
        rows.seek(key(seek));
        let expected: Vec<_> = (seek.max(10)..20).map(key).collect();
        assert_eq!(keys(&collect(&mut rows)), expected, "seek to {seek}");
        rows.seek_for_prev(key(seek));
        let at_or_before = rows.key().map(<[u8]>::to_vec);
        let expected = (10..=seek.min(19)).next_back().map(|number| key(number).to_vec());
        assert_eq!(at_or_before, expected, "seek backward to {seek}");
    }
}

#[test]
fn a_tailing_iterator_sees_new_tables() {
    let test = TestDb::new(SPEC);
    test.write_table([key(1), key(30)]);
    let mut tailing = ReadOptions::default();
    tailing.set_tailing(true);
    let options = test.lacuna.read(key(10)..key(20)).with_options(tailing).into_options();
    let mut rows = test.db.raw_iterator_opt(options);
    rows.seek_to_first();
    assert!(!rows.valid());
    test.write_table([key(12)]);
    rows.seek(key(10));
    assert_eq!(rows.key(), Some(&key(12)[..]));
}

#[test]
fn a_refreshed_iterator_sees_new_tables() {
    let test = TestDb::new(SPEC);
    test.write_table([key(1), key(30)]);
    let mut rows = test.db.raw_iterator_opt(test.lacuna.read(key(10)..key(20)).into_options());
    rows.seek_to_first();
    assert!(!rows.valid());
    test.write_table([key(12)]);
    rows.refresh().unwrap();
    rows.seek_to_first();
    assert_eq!(rows.key(), Some(&key(12)[..]));
}

#[test]
fn an_iterator_that_refreshes_itself_stays_at_its_snapshot() {
    let test = TestDb::new(SPEC);
    for first in 0..4 {
        test.write_table((first..400).step_by(4).map(key));
    }
    let snapshot = test.db.snapshot();
    let mut refreshing = ReadOptions::default();
    refreshing.set_snapshot(&snapshot);
    refreshing.set_auto_refresh_iterator_with_snapshot(true);
    let read = test.lacuna.read(key(10)..key(300)).with_options(refreshing);
    let mut rows = test.db.raw_iterator_opt(read.into_options());
    rows.seek_to_first();
    // The tables it stands in are replaced meanwhile.
    (0..400).step_by(3).for_each(|number| test.db.delete(key(number)).unwrap());
    test.db.flush().unwrap();
    crate::support::compact_all(&test.db);
    assert_eq!(keys(&collect(&mut rows)), (10..300).map(key).collect::<Vec<_>>());
}

#[test]
fn prefix_seeks_compose() {
    let test = TestDb::with(SPEC, |options| {
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(5));
        let mut table = rust_rocksdb::BlockBasedOptions::default();
        table.set_bloom_filter(10.0, false);
        options.set_block_based_table_factory(&table);
        options.set_target_file_size_base(1 << 10);
    });
    // Five bytes of prefix hold sixteen keys; some prefixes are left out, in alternating tables.
    let written: Vec<u64> = (0..4_000).filter(|number| number / 16 % 3 != 1).collect();
    for first in 0..3 {
        test.write_table(written.iter().skip(first).step_by(3).map(|&number| key(number)));
    }
    test.db.compact_range(None::<&[u8]>, None::<&[u8]>);
    for prefix in 0..250 {
        let (lo, hi) = (prefix * 16, prefix * 16 + 15);
        let expected: Vec<_> = written.iter().filter(|&&n| (lo..=hi).contains(&n)).map(|&n| key(n)).collect();
        let mut prefix_seek = ReadOptions::default();
        prefix_seek.set_total_order_seek(false);
        let read = test.lacuna.read(key(lo)..=key(hi)).with_options(prefix_seek);
        assert_eq!(keys(&rows_of(read.scan(&test.db))), expected, "prefix {prefix}");
    }
}

#[test]
fn transactions_read_their_own_writes() {
    let test = TestDb::new(SPEC);
    drop(test.db);
    let mut options: Options = options(&test.env, Some(&test.lacuna));
    options.create_if_missing(true);
    let db: TransactionDB =
        TransactionDB::open(&options, &TransactionDBOptions::default(), "/transactions").unwrap();
    (0..100).for_each(|number| db.put(key(number), b"old").unwrap());
    db.flush().unwrap();
    let transaction = db.transaction();
    transaction.put(key(205), b"new").unwrap();
    transaction.delete(key(5)).unwrap();
    let scan = |lo, hi| rows_of(test.lacuna.read(key(lo)..=key(hi)).scan(&transaction));
    assert_eq!(keys(&scan(200, 210)), [key(205)], "the table below was skipped");
    assert_eq!(keys(&scan(4, 6)), [key(4), key(6)]);
    let reverse = rows_of(test.lacuna.read_reverse(key(4)..=key(6)).scan(&transaction));
    assert_eq!(keys(&reverse), [key(6), key(4)]);
    transaction.rollback().unwrap();
    assert!(scan(200, 210).is_empty());
    assert_eq!(scan(4, 6).len(), 3);
    assert_eq!(rows_of(test.lacuna.read(key(4)..=key(6)).scan(&db)).len(), 3);
    assert!(test.lacuna.stats().filters.skipped() >= 2);
}

#[test]
fn optimistic_transactions_read_their_own_writes() {
    let test = TestDb::new(SPEC);
    let options: Options = options(&test.env, Some(&test.lacuna));
    let db: OptimisticTransactionDB = OptimisticTransactionDB::open(&options, "/optimistic").unwrap();
    (0..100).for_each(|number| db.put(key(number), b"old").unwrap());
    db.flush().unwrap();
    let transaction = db.transaction();
    transaction.put(key(205), b"new").unwrap();
    assert_eq!(rows_of(test.lacuna.read(key(200)..=key(210)).scan(&transaction)).len(), 1);
    drop(transaction);
    assert!(rows_of(test.lacuna.read(key(200)..=key(210)).scan(&db)).is_empty());
}

#[test]
fn named_families_take_part_in_snapshots_transactions_and_tailing() {
    let test = TestDb::new(SPEC);
    let mut options = options(&test.env, Some(&test.lacuna));
    options.create_missing_column_families(true);
    let family = [ColumnFamilyDescriptor::new("family", options.clone())];
    let db: OptimisticTransactionDB =
        OptimisticTransactionDB::open_cf_descriptors(&options, "/families", family).unwrap();
    let family = db.cf_handle("family").unwrap();
    (0..100).for_each(|number| db.put_cf(&family, key(2 * number), b"old").unwrap());
    db.flush_cf(&family).unwrap();
    let (snapshot, transaction) = (db.snapshot(), db.transaction());
    transaction.put_cf(&family, key(51), b"new").unwrap();
    let read = || test.lacuna.read(key(51)..=key(51));
    let mut tailing = ReadOptions::default();
    tailing.set_tailing(true);
    let mut tail = db.raw_iterator_cf_opt(&family, read().with_options(tailing).into_options());
    tail.seek_to_first();
    let found = || {
        [
            rows_of(read().scan_cf(&db, &family)),
            rows_of(read().scan_cf(&snapshot, &family)),
            rows_of(read().scan_cf(&transaction, &family)),
        ]
        .map(|rows| rows.len())
    };
    assert_eq!((found(), tail.valid()), ([0, 0, 1], false));
    assert_eq!(test.asked(), (4, 0), "each of the four skipped the table");
    db.put_cf(&family, key(51), b"committed").unwrap();
    db.flush_cf(&family).unwrap();
    tail.seek_to_first();
    assert_eq!((found(), tail.key()), ([1, 0, 1], Some(&key(51)[..])));
}

#[test]
fn read_only_databases_are_asked() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let mut reader = Options::default();
    reader.set_env(&test.env);
    reader.set_merge_operator_associative("concatenate", |_, _, _| None);
    let db = DB::open_for_read_only(&reader, "/db", false).unwrap();
    assert!(rows_of(test.lacuna.read(key(200)..=key(210)).scan(&db)).is_empty());
    assert_eq!(rows_of(test.lacuna.read(key(20)..=key(30)).scan(&db)).len(), 11);
    assert_eq!(test.lacuna.stats().filters.skipped(), 1);
}

#[test]
fn tombstone_conversion_is_refused_in_words() {
    let test = TestDb::with(SPEC, |options| options.set_min_tombstones_for_range_conversion(2));
    test.write_table((0..100).map(key));
    let problem = test.lacuna.read(key(10)..key(20)).scan(&test.db).next_row().map(|_| ()).unwrap_err();
    assert!(problem.to_string().contains("min_tombstones_for_range_conversion"), "{problem}");
}
