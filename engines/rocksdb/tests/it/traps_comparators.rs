//! R7: column families whose order is not that of bytes.

use std::cmp::Ordering;
use std::ops::Bound;

use lacuna_rocksdb::{RangeFilters, Readable, SeekTables};
use rust_rocksdb::{
    ColumnFamilyDescriptor, DB, DBWithThreadMode, Env, ErrorKind, MultiThreaded, OptimisticTransactionDB,
    Options, ReadOptions, TransactionDB, TransactionDBOptions,
};

use crate::support::{TestDb, collect, key, options, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

fn backward(options: &mut Options) {
    options.set_comparator("backward", Box::new(|a: &[u8], b: &[u8]| b.cmp(a)));
}

/// Every way to read the default column family says that it cannot, and what to do.
fn is_refused<R: Readable>(lacuna: &RangeFilters, db: &R) {
    let point = || [key(5)..=key(5)];
    let answers = [
        lacuna.get(db, key(5)).map(|_| ()),
        lacuna.multi_get(db, [key(5)]).map(|_| ()),
        lacuna.scan(db, key(6)..=key(4)).next_row().map(|_| ()),
        lacuna.scan(db, key(4)..=key(6)).is_empty().map(|_| ()),
        lacuna.read_reverse((Bound::Excluded(key(6)), Bound::Unbounded)).scan(db).next_row().map(|_| ()),
        lacuna.may_contain_ranges(db, point()).map(|_| ()),
        lacuna.may_contain_ranges(db, [(Bound::Included(key(6)), Bound::Excluded(key(3)))]).map(|_| ()),
        lacuna.contains_ranges(db, point()).map(|_| ()),
    ];
    answers.into_iter().enumerate().for_each(|(place, answer)| check(&format!("{place}"), answer));
}

fn is_refused_in<R: Readable>(lacuna: &RangeFilters, db: &R, family: &impl rust_rocksdb::AsColumnFamilyRef) {
    let point = || [key(5)..=key(5)];
    let answers = [
        lacuna.get_cf(db, family, key(5)).map(|_| ()),
        lacuna.multi_get_cf(db, family, [key(5)]).map(|_| ()),
        lacuna.read(key(6)..=key(4)).scan_cf(db, family).next_row().map(|_| ()),
        lacuna.read_reverse(..key(6)).scan_cf(db, family).is_empty().map(|_| ()),
        lacuna.may_contain_ranges_cf(db, family, point()).map(|_| ()),
        lacuna.contains_ranges_cf(db, family, point()).map(|_| ()),
    ];
    answers
        .into_iter()
        .enumerate()
        .for_each(|(place, answer)| check(&format!("{place} in a family"), answer));
}

fn check(way: &str, answer: Result<(), rust_rocksdb::Error>) {
    let problem = answer.expect_err(way);
    assert_eq!(problem.kind(), ErrorKind::InvalidArgument, "{way}");
    assert!(
        problem.as_ref().contains("`backward`") && problem.as_ref().contains("without filters"),
        "{problem}"
    );
}

#[test]
fn reads_of_another_order_are_refused() {
    let test = TestDb::with(SPEC, backward);
    is_refused(&test.lacuna, &test.db);
    test.write_table((0..10).map(key));
    is_refused(&test.lacuna, &test.db);
    let mut own = options(&test.env, None);
    backward(&mut own);
    let tables = SeekTables::load(&test.lacuna, &own, &test.db).unwrap();
    check("first", tables.first(&test.db, key(5)..).map(|_| ()));
    check("last", tables.last(&test.db, ..key(5)).map(|_| ()));
    is_refused(&test.lacuna, &test.db.snapshot());
    let stats = test.lacuna.stats();
    assert_eq!((stats.filters.asked(), stats.filters.empty_scans), (0, 0), "{stats}");
}

/// A snapshot or a transaction does not name the comparator of the default column family; its tables do.
#[test]
fn transactions_of_another_order_are_refused() {
    let test = TestDb::new(SPEC);
    let mut own = options(&test.env, None);
    backward(&mut own);
    let locking: TransactionDB =
        TransactionDB::open(&own, &TransactionDBOptions::default(), "/locking").unwrap();
    let checking: OptimisticTransactionDB = OptimisticTransactionDB::open(&own, "/checking").unwrap();
    (0..10).for_each(|number| locking.put(key(number), b"value").unwrap());
    (0..10).for_each(|number| checking.put(key(number), b"value").unwrap());
    is_refused(&test.lacuna, &checking);
    locking.flush().unwrap();
    checking.flush().unwrap();
    is_refused(&test.lacuna, &locking);
    is_refused(&test.lacuna, &locking.transaction());
    is_refused(&test.lacuna, &locking.snapshot());
    is_refused(&test.lacuna, &checking.transaction());
}

/// A database for many threads names the comparator only if column families were named when it was opened; else tables do.
#[test]
fn a_database_of_many_threads_and_another_order_is_refused() {
    type Shared = DBWithThreadMode<MultiThreaded>;
    let test = TestDb::new(SPEC);
    let mut own = options(&test.env, None);
    backward(&mut own);
    let plain = Shared::open(&own, "/plain").unwrap();
    let named = [ColumnFamilyDescriptor::new("default", own.clone())];
    let named = Shared::open_cf_descriptors(&own, "/named", named).unwrap();
    [&plain, &named].iter().for_each(|db| db.put(key(5), b"value").unwrap());
    is_refused(&test.lacuna, &named);
    plain.flush().unwrap();
    is_refused(&test.lacuna, &plain);
}

#[test]
fn a_column_family_of_another_order_is_refused_beside_others() {
    let (env, lacuna) = (Env::mem_env().unwrap(), RangeFilters::parse(SPEC).unwrap());
    let mut all = options(&env, Some(&lacuna));
    all.create_missing_column_families(true);
    let mut own = Options::default();
    backward(&mut own);
    let db = DB::open_cf_descriptors(&all, "/db", [ColumnFamilyDescriptor::new("own", own)]).unwrap();
    let family = db.cf_handle("own").unwrap();
    db.put(key(5), b"value").unwrap();
    db.put_cf(&family, key(5), b"value").unwrap();
    is_refused_in(&lacuna, &db, &family);
    is_refused_in(&lacuna, &db.snapshot(), &family);
    assert!(lacuna.get(&db, key(5)).unwrap().is_some());
    let tables = SeekTables::load(&lacuna, &all, &db).unwrap();
    check("first", tables.first_cf(&db, &family, key(5)..).map(|_| ()));
    check("last", tables.last_cf(&db, &family, ..key(5)).map(|_| ()));
}

#[test]
fn tables_of_another_comparator_are_scanned() {
    for one_by_one in [false, true] {
        let test = TestDb::with(SPEC, backward);
        (0..10).for_each(|number| {
            test.db.put(key(number), b"value").unwrap();
            if one_by_one {
                test.db.flush().unwrap();
            }
        });
        test.db.flush().unwrap();
        // An iterator of RocksDB's own: in this order the keys from 6 to 4 lie between 6 and 3.
        let read = test.lacuna.read((Bound::Included(key(6)), Bound::Excluded(key(3))));
        let mut rows = test.db.raw_iterator_opt(read.into_options());
        rows.seek_to_first();
        assert_eq!(collect(&mut rows).len(), 3, "one table for each key: {one_by_one}");
        let stats = test.lacuna.stats();
        assert!(stats.scanned.comparator >= 1, "{stats}");
        assert_eq!(stats.filters.asked(), 0, "{stats}");
        assert_eq!(stats.filters.build_failures, u64::from(!one_by_one), "keys out of order make no filter");
    }
}

#[test]
fn tables_with_user_timestamps_are_scanned() {
    let test = TestDb::with("grafite@16", |options| {
        let split = |key: &[u8]| key.len() - 8;
        options.set_comparator_with_ts(
            "leveldb.BytewiseComparator.u64ts",
            8,
            Box::new(move |a: &[u8], b: &[u8]| {
                a[..split(a)].cmp(&b[..split(b)]).then_with(|| by_age(&b[split(b)..], &a[split(a)..]))
            }),
            Box::new(by_age),
            Box::new(|a: &[u8], a_has: bool, b: &[u8], b_has: bool| strip(a, a_has).cmp(strip(b, b_has))),
        );
    });
    for number in 0..10 {
        test.db.put_with_ts(key(number), 7u64.to_le_bytes(), b"value").unwrap();
    }
    test.db.flush().unwrap();
    let mut at = ReadOptions::default();
    at.set_timestamp(9u64.to_le_bytes());
    let rows = rows_of(test.lacuna.read(key(3)..=key(5)).with_options(at).scan(&test.db));
    assert_eq!(rows.len(), 3);
    let mut at = ReadOptions::default();
    at.set_timestamp(9u64.to_le_bytes());
    assert!(
        test.lacuna
            .read(key(5)..=key(5))
            .with_options(at)
            .scan(&test.db.snapshot())
            .next_row()
            .unwrap()
            .is_some()
    );
    assert!(test.lacuna.stats().scanned.comparator >= 1, "{}", test.lacuna.stats());
    assert_eq!(test.asked(), (0, 0));
}

#[test]
fn other_comparators_are_refused_at_installation() {
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    let mut backward = Options::default();
    backward.set_comparator("backward", Box::new(|a: &[u8], b: &[u8]| b.cmp(a)));
    let mut with_time = Options::default();
    with_time.set_comparator_with_ts(
        "leveldb.BytewiseComparator.u64ts",
        8,
        Box::new(|a: &[u8], b: &[u8]| a.cmp(b)),
        Box::new(by_age),
        Box::new(|a: &[u8], a_has: bool, b: &[u8], b_has: bool| strip(a, a_has).cmp(strip(b, b_has))),
    );
    for (options, name) in [(&mut backward, "`backward`"), (&mut with_time, ".u64ts`")] {
        let problem = lacuna.try_install(options).unwrap_err().to_string();
        assert!(problem.contains(name) && problem.contains("without filters"), "{problem}");
    }
    lacuna.try_install(&mut Options::default()).unwrap();
}

/// Older first; RocksDB wants versions of one key the other way round.
fn by_age(a: &[u8], b: &[u8]) -> Ordering {
    let number = |timestamp: &[u8]| u64::from_le_bytes(timestamp.try_into().unwrap());
    number(a).cmp(&number(b))
}

fn strip(key: &[u8], has_timestamp: bool) -> &[u8] {
    if has_timestamp { &key[..key.len() - 8] } else { key }
}
