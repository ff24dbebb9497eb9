//! Many ranges in one call. That answers are right under random work is the business of `differential`.

use std::ops::{Bound, Range, RangeInclusive};
use std::time::{Duration, Instant};

use lacuna_rocksdb::{RangeFilters, prefix_range};
use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{
    BlockBasedOptions, DB, Env, MergeOperands, Options, ReadOptions, SliceTransform, TransactionDB,
    TransactionDBOptions, WriteBatch,
};

use crate::saved_reads::four_levels;
use crate::support::{TestDb, gap, key};

const SPEC: &str = "grafite@16 codec=fixed_be:8";
const SEED: u64 = 31;

/// Keys of 40,000 users, of which the even ones exist, in their tables and in the memtable.
fn users(test: &TestDb) {
    for part in 0..4u64 {
        test.write_table((part..20_000).step_by(5).map(|user| format!("user/{:05}/mail", user * 2)));
    }
    (4..20_000)
        .step_by(5)
        .for_each(|user| test.db.put(format!("user/{:05}/mail", user * 2), b"new").unwrap());
}

fn user(number: u64) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    prefix_range(format!("user/{number:05}/").as_bytes())
}

#[test]
fn prefixes_are_distinguished_in_tables_and_memtables() {
    let test = TestDb::new("surf@30");
    users(&test);
    let asked: Vec<u64> = (0..40_000).rev().collect();
    let expected: Vec<bool> = asked.iter().map(|user| user % 2 == 0).collect();
    let contains = test.lacuna.contains_ranges(&test.db, asked.iter().map(|&number| user(number))).unwrap();
    assert_eq!(contains, expected);
    let may = test.lacuna.may_contain_ranges(&test.db, asked.iter().map(|&number| user(number))).unwrap();
    assert!(may.iter().zip(&expected).all(|(may, expected)| *may || !expected));
    let proven = may.iter().filter(|may| !**may).count();
    assert!(proven > 15_000, "{proven} of 20,000 were proven to be absent");
}

#[test]
fn no_block_is_read_to_ask() {
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    let (db, _env) = four_levels(Some(&lacuna));
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    let may = lacuna.may_contain_ranges(&db, absent(10_000)).unwrap();
    assert_eq!(context.metric(PerfMetric::BlockReadCount), 0, "seed {SEED}");
    let passed = may.iter().filter(|may| **may).count();
    // A range has 128 keys on average, 0.9 % at 16 bits, in each of the up to five tables that compaction leaves in its way.
    assert!(passed < 600, "seed {SEED}: {passed} of 10,000 gaps");
    assert_eq!(lacuna.contains_ranges(&db, absent(10_000)).unwrap(), [false; 10_000]);
    let blocks = context.metric(PerfMetric::BlockReadCount);
    assert!(blocks <= 3 * passed as u64, "seed {SEED}: {blocks} blocks for {passed} ranges");
}

/// Ranges between the keys of `four_levels`, whose low 16 bits are zero.
fn absent(count: usize) -> Vec<RangeInclusive<[u8; 8]>> {
    let mut rng = Rng::new(SEED);
    let range = |number: u64| (number | 1).to_be_bytes()..=(number | 1 | 0xFF).to_be_bytes();
    (0..count).map(|_| range(rng.next_u64())).collect()
}

/// The best of five rounds, interleaved with those of the other: the machine may be busy.
#[test]
fn a_batch_is_faster_than_iterators() {
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    let (db, _env) = four_levels(Some(&lacuna));
    let ranges = absent(if cfg!(debug_assertions) { 20_000 } else { 100_000 });
    let mut best = [Duration::MAX; 3];
    for _ in 0..5 {
        best[0] = best[0].min(time(|| {
            assert!(lacuna.contains_ranges(&db, ranges.iter().cloned()).unwrap().iter().all(|row| !row));
        }));
        best[1] = best[1].min(time(|| {
            assert!(ranges.iter().all(|range| plain_is_empty(&db, range)));
        }));
        best[2] = best[2].min(time(|| {
            assert!(ranges.iter().all(|range| lacuna.scan(&db, range.clone()).is_empty().unwrap()));
        }));
    }
    let ratio = |other: Duration| other.as_secs_f64() / best[0].as_secs_f64();
    let (plain, guarded) = (ratio(best[1]), ratio(best[2]));
    println!(
        "{} ranges, best of 5: batch {:?}, RocksDB's iterators {:?} ({plain:.1} times), guarded ones {:?} ({guarded:.1} times)",
        ranges.len(),
        best[0],
        best[1],
        best[2]
    );
    // Five times with optimisation; with every internal check on, the questions themselves take most of the time.
    let min_times = if cfg!(debug_assertions) { 1.5 } else { 5.0 };
    assert!(plain >= min_times, "seed {SEED}: {plain} times");
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn plain_is_empty(db: &DB, range: &RangeInclusive<[u8; 8]>) -> bool {
    let mut options = ReadOptions::default();
    options.set_iterate_range(&range.start()[..]..&range.end()[..]);
    let mut rows = db.raw_iterator_opt(options);
    rows.seek_to_first();
    !rows.valid()
}

#[test]
fn overlapping_and_inverted_ranges_keep_their_places() {
    let test = TestDb::new(SPEC);
    test.write_table([key(10), key(30)]);
    test.db.put(key(20), b"new").unwrap();
    let ranges = [
        gap(25)..gap(29),
        key(0)..key(40),
        key(35)..key(5),
        gap(10)..gap(20),
        key(20)..key(20),
        gap(19)..gap(20),
        gap(20)..gap(21),
        key(30)..gap(30),
        key(9)..gap(11),
    ];
    let contains = test.lacuna.contains_ranges(&test.db, ranges).unwrap();
    assert_eq!(contains, [false, true, false, true, false, true, false, true, true]);
    assert!(test.lacuna.contains_ranges(&test.db, [] as [Range<[u8; 8]>; 0]).unwrap().is_empty());
}

/// Between two ranges, the iterator goes past more rows than it steps over, and past tables.
#[test]
fn rows_between_the_ranges_are_jumped_over() {
    let test = TestDb::new(SPEC);
    for first in [0, 2_000, 6_000] {
        test.write_table((first..first + 1_000).map(key));
    }
    crate::support::compact_all(&test.db);
    test.write_table([key(2_500), key(6_500)]);
    let mut batch = WriteBatch::default();
    batch.delete_range(key(2_100), key(2_200));
    test.db.write(&batch).unwrap();
    (0..8_000)
        .filter(|number| number % 1_000 >= 500)
        .for_each(|number| test.db.put(key(number), b"new").unwrap());
    let numbers = [0u64, 300, 1_200, 1_700, 2_150, 2_300, 4_000, 5_999, 6_001, 7_100, 7_600, 7_999];
    let ranges = numbers.map(|number| key(number)..gap(number));
    let expected = [true, true, false, true, false, true, false, true, true, false, true, true];
    assert_eq!(test.lacuna.contains_ranges(&test.db, ranges).unwrap(), expected);
}

#[test]
fn prefix_seeks_do_not_hide_rows_from_a_batch() {
    let test = TestDb::with("surf@30", |options| {
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(8));
        options.set_memtable_prefix_bloom_ratio(0.1);
    });
    users(&test);
    let contains = test.lacuna.contains_ranges(&test.db, (0..40_000).map(user)).unwrap();
    assert!(contains.iter().enumerate().all(|(number, row)| *row == (number % 2 == 0)));
}

/// RocksDB's Bloom filter over prefixes knows nothing of the prefix that a range begins with.
#[test]
fn ranges_across_prefixes_keep_their_rows() {
    let test = TestDb::with("surf@30", |options| {
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(4));
        let mut table = BlockBasedOptions::default();
        table.set_bloom_filter(10.0, false);
        options.set_block_based_table_factory(&table);
    });
    test.write_table(["aaaa1", "cccc1"]);
    let (first, across) = (|| "aaaa0".."aaaa9", || "bbbb0".."cccc9");
    assert_eq!(test.lacuna.may_contain_ranges(&test.db, [first(), across()]).unwrap(), [true, true]);
    assert_eq!(test.lacuna.contains_ranges(&test.db, [first(), across()]).unwrap(), [true, true]);
    assert_eq!(test.rows(b"bbbb0", b"cccc9").len(), 1);
    // Backwards, RocksDB seeks the upper bound, which has another prefix than all keys of this one.
    let (options, _) = test.lacuna.read_reverse(prefix_range(b"cccc")).into_parts();
    let mut rows = test.db.raw_iterator_opt(options);
    rows.seek_to_last();
    assert_eq!(rows.key(), Some(&b"cccc1"[..]));
}

/// Takes no operand without a value below it, as appending to what must be there.
fn needs_a_base(options: &mut Options) {
    let append = |_: &[u8], base: Option<&[u8]>, operands: &MergeOperands| {
        base.map(|base| operands.iter().fold(base.to_vec(), |whole, operand| [&whole, operand].concat()))
    };
    options.set_merge_operator("needs a base", append, |_, _, _| None);
}

/// The table with the value below an operand is not read while it is asked, so that the operand has none to be merged with.
#[test]
fn a_merge_without_its_base_is_maybe() {
    let test = TestDb::with(SPEC, needs_a_base);
    test.write_table((0..100).filter(|number| number % 10 != 7).map(key));
    [10, 12].iter().for_each(|&number| test.db.merge(key(number), b" and more").unwrap());
    test.db.put(key(17), b"new").unwrap();
    let point = |number: u64| key(number)..=key(number);
    let ranges = || {
        [point(10), gap(10)..=gap(10), point(17), point(27), gap(9)..=key(12), point(11), gap(5)..=gap(12)]
    };
    let may = test.lacuna.may_contain_ranges(&test.db, ranges()).unwrap();
    // The first row after the gap is the operand at 12.
    assert_eq!(may, [true, true, true, false, true, true, true]);
    let contains = test.lacuna.contains_ranges(&test.db, ranges()).unwrap();
    assert_eq!(contains, [true, false, true, false, true, true, true]);
    let values = test.lacuna.multi_get(&test.db, [10, 11, 12, 17, 27].map(key)).unwrap();
    let values = values.iter().map(|value| value.as_deref()).collect::<Vec<_>>();
    let merged = Some(&b"value and more"[..]);
    assert_eq!(values, [merged, Some(b"value"), merged, Some(b"new"), None]);
}

#[test]
fn a_merge_in_a_transaction_is_maybe_without_its_base() {
    let test = TestDb::new(SPEC);
    let mut options = crate::support::options(&test.env, Some(&test.lacuna));
    needs_a_base(&mut options);
    let db: TransactionDB =
        TransactionDB::open(&options, &TransactionDBOptions::default(), "/transactions").unwrap();
    db.put(key(1), b"value").unwrap();
    db.flush().unwrap();
    let transaction = db.transaction();
    transaction.merge(key(1), b" and more").unwrap();
    let ranges = || [key(0)..=key(0), key(1)..=key(1), key(2)..=key(2)];
    assert_eq!(test.lacuna.may_contain_ranges(&transaction, ranges()).unwrap(), [true, true, false]);
    assert_eq!(test.lacuna.contains_ranges(&transaction, ranges()).unwrap(), [false, true, false]);
    let values = test.lacuna.multi_get(&transaction, [0, 1].map(key)).unwrap();
    assert_eq!(values, [None, Some(b"value and more".to_vec())]);
}

#[test]
fn each_column_family_is_asked_for_itself() {
    let (env, lacuna) = (Env::mem_env().unwrap(), RangeFilters::parse(SPEC).unwrap());
    let mut options = crate::support::options(&env, Some(&lacuna));
    options.create_missing_column_families(true);
    let families = ["default", "other"].map(|name| {
        let mut options = Options::default();
        lacuna.install(&mut options);
        rust_rocksdb::ColumnFamilyDescriptor::new(name, options)
    });
    let db = DB::open_cf_descriptors(&options, "/db", families).unwrap();
    let other = db.cf_handle("other").unwrap();
    db.put(key(1), b"").unwrap();
    db.put_cf(&other, key(2), b"").unwrap();
    for flushed in [false, true] {
        if flushed {
            db.flush().unwrap();
            db.flush_cf(&other).unwrap();
        }
        let ranges = || [1, 2, 3].map(|number| key(number)..=key(number));
        assert_eq!(lacuna.contains_ranges(&db, ranges()).unwrap(), [true, false, false], "{flushed}");
        assert_eq!(lacuna.contains_ranges_cf(&db, &other, ranges()).unwrap(), [false, true, false]);
        assert_eq!(lacuna.may_contain_ranges_cf(&db, &other, ranges()).unwrap(), [false, true, false]);
        assert_eq!(lacuna.get_cf(&db, &other, key(2)).unwrap(), Some(Vec::new()));
        assert_eq!(lacuna.get_cf(&db, &other, key(1)).unwrap(), None);
    }
}

/// Rows that are always there are found while tables are written, merged and removed.
#[test]
fn flushes_and_compactions_under_way_hide_no_row() {
    let test = TestDb::new(SPEC);
    test.write_table((0..2_000).step_by(2).map(key));
    let (db, asked) = (&test.db, || (0..2_000).step_by(2).map(|number| key(number)..=key(number)));
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            for round in 0..12u64 {
                for number in 0..2_000 {
                    match (number % 2, (number + round) % 3) {
                        (0, _) => db.put(key(number), round.to_be_bytes()).unwrap(),
                        (_, 0) => db.put(key(number), b"comes and goes").unwrap(),
                        _ => db.delete(key(number)).unwrap(),
                    }
                }
                db.flush().unwrap();
                crate::support::compact_all(db);
            }
        });
        let mut rounds = 0;
        while !writer.is_finished() || rounds < 5 {
            assert!(test.lacuna.may_contain_ranges(db, asked()).unwrap().iter().all(|row| *row));
            assert!(test.lacuna.contains_ranges(db, asked()).unwrap().iter().all(|row| *row));
            let keys = (0..2_000).step_by(2).map(key);
            assert!(test.lacuna.multi_get(db, keys).unwrap().iter().all(Option::is_some));
            rounds += 1;
        }
    });
}

#[test]
fn tables_without_a_filter_are_maybe_and_then_read() {
    let test = TestDb::new("off codec=fixed_be:8");
    test.write_table((0..100).map(key));
    let ranges = || [key(5)..=key(5), gap(5)..=gap(5)];
    assert_eq!(test.lacuna.may_contain_ranges(&test.db, ranges()).unwrap(), [true, true]);
    assert_eq!(test.lacuna.stats().scanned.missing, 1, "one table, asked once");
    assert_eq!(test.lacuna.contains_ranges(&test.db, ranges()).unwrap(), [true, false]);
}
