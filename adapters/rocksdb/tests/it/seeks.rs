//! Planned seeks against RocksDB's own iterators.

use std::cell::Cell;
use std::ops::Bound;

use lacuna_rocksdb::{LacunaRocksDb, OwnedRow, Readable, SeekTables};
use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{
    AsColumnFamilyRef, ColumnFamilyDescriptor, DB, DBRawIteratorWithThreadMode, Env, OptimisticTransactionDB,
    ReadOptions, WriteBatch,
};

use crate::differential::{Bounds, Keys, Store, small_tables};
use crate::saved_reads::four_levels;
use crate::support::{TestDb, compact_all, gap, key, options};

/// The row that RocksDB finds without filters.
fn plain<R: Readable>(reader: &R, bounds: &Bounds, first: bool) -> Option<OwnedRow> {
    let inside = |key: &[u8]| {
        use std::ops::RangeBounds;
        bounds.contains(&key.to_vec())
    };
    let mut rows = reader.raw(ReadOptions::default());
    match (first, &bounds.0, &bounds.1) {
        (true, Bound::Included(lo) | Bound::Excluded(lo), _) => rows.seek(lo),
        (true, Bound::Unbounded, _) => rows.seek_to_first(),
        (false, _, Bound::Included(hi) | Bound::Excluded(hi)) => rows.seek_for_prev(hi),
        (false, _, Bound::Unbounded) => rows.seek_to_last(),
    }
    // An excluded end is one step away.
    let at_end = [&bounds.0, &bounds.1]
        .into_iter()
        .any(|end| matches!(end, Bound::Excluded(end) if rows.key() == Some(end)));
    if at_end {
        step(&mut rows, first);
    }
    rows.item().filter(|(key, _)| inside(key)).map(|(key, value)| (key.to_vec(), value.to_vec()))
}

fn step<D: rust_rocksdb::DBAccess>(rows: &mut DBRawIteratorWithThreadMode<'_, D>, forward: bool) {
    if forward { rows.next() } else { rows.prev() }
}

struct World<S> {
    case: String,
    lacuna: LacunaRocksDb,
    env: Env,
    db: S,
    keys: Keys,
    rng: Rng,
}

impl<S: Store + lacuna_rocksdb::LiveTables> World<S> {
    fn new(spec: &str, keys: Keys, seed: u64) -> Self {
        let (lacuna, env) = (LacunaRocksDb::parse(spec).unwrap(), Env::mem_env().unwrap());
        let mut options = small_tables(&env);
        lacuna.install(&mut options);
        let db = S::open(&options);
        Self { case: format!("{spec}, {keys:?}, seed {seed}"), lacuna, env, db, keys, rng: Rng::new(seed) }
    }

    fn write(&mut self) {
        let key = self.keys.draw(&mut self.rng);
        match self.rng.below(12) {
            0..3 => self.db.delete(&key),
            3 => self.db.merge(&key, b"+1"),
            4 => {
                let mut ends = [key, self.keys.draw(&mut self.rng)];
                ends.sort();
                self.db.delete_range(&ends[0], &ends[1]);
            }
            5 => self.db.flush(),
            _ => self.db.put(&key, &self.rng.below(1_000).to_le_bytes()),
        }
    }

    fn check<R: Readable>(&self, tables: &SeekTables, reader: &R, bounds: &Bounds, place: &str) {
        let found = |first| {
            let range = bounds.clone();
            if first { tables.first(reader, range) } else { tables.last(reader, range) }.unwrap()
        };
        for first in [true, false] {
            let expected = plain(reader, bounds, first);
            assert_eq!(found(first), expected, "{}, {place}, {bounds:?}, first {first}", self.case);
        }
    }

    /// Tables that are known a while ago, and a database, snapshot and transaction that have moved on.
    fn run(mut self, rounds: u64) {
        let options = small_tables(&self.env);
        let mut tables = SeekTables::load(&self.lacuna, &options, &self.db).unwrap();
        let mut seekable = 0;
        for round in 0..rounds {
            if round % 7 == 0 {
                tables.refresh(&self.db).unwrap();
                seekable += tables.seekable().0;
            }
            (0..40).for_each(|_| self.write());
            let bounds: Vec<Bounds> = (0..20).map(|_| self.bounds()).collect();
            {
                let snapshot = self.db.snapshot();
                bounds.iter().for_each(|bounds| {
                    self.check(&tables, &snapshot, bounds, &format!("round {round}, snapshot"));
                });
            }
            for bounds in &bounds {
                self.check(&tables, &self.db, bounds, &format!("round {round}"));
            }
            if let Some(transaction) = self.db.begin() {
                transaction.put(bounds_key(&bounds[0]), b"uncommitted").unwrap();
                for bounds in &bounds {
                    self.check(&tables, &transaction, bounds, &format!("round {round}, transaction"));
                }
                transaction.rollback().unwrap();
            }
        }
        assert_eq!(seekable > 0, self.case.contains("surf"), "{}: {seekable}", self.case);
    }

    /// Bounds of which half have an open end.
    fn bounds(&mut self) -> Bounds {
        let (lo, hi) = self.keys.draw_bounds(&mut self.rng);
        match self.rng.below(4) {
            0 => (lo, Bound::Unbounded),
            1 => (Bound::Unbounded, hi),
            _ => (lo, hi),
        }
    }
}

fn bounds_key(bounds: &Bounds) -> Vec<u8> {
    match (&bounds.0, &bounds.1) {
        (Bound::Included(key) | Bound::Excluded(key), _)
        | (_, Bound::Included(key) | Bound::Excluded(key)) => key.clone(),
        _ => b"12345678".to_vec(),
    }
}

const ROUNDS: u64 = 25;

#[test]
fn planned_seeks_over_strings_find_what_rocksdb_finds() {
    for (seed, spec) in (1..).zip(["surf@30", "surf:real=4@40", "grafite@16", "off codec=bytes"]) {
        World::<DB>::new(spec, Keys::Strings, seed).run(ROUNDS);
    }
}

#[test]
fn planned_seeks_over_integers_find_what_rocksdb_finds() {
    let specs = ["surf@30 codec=fixed_be:8", "surf@30 codec=bytes", "bloom@10 codec=composite:4,4"];
    for (seed, spec) in (11..).zip(specs) {
        World::<DB>::new(spec, Keys::Integers, seed).run(ROUNDS);
    }
}

#[test]
fn planned_seeks_in_transactions_find_what_rocksdb_finds() {
    for (seed, spec) in (21..).zip(["surf@30 codec=fixed_be:8", "surf@30"]) {
        World::<OptimisticTransactionDB>::new(spec, Keys::Integers, seed).run(ROUNDS);
    }
}

#[test]
fn an_open_seek_reads_one_table() {
    let lacuna = LacunaRocksDb::parse("surf@20 codec=fixed_be:8").unwrap();
    let (db, env) = four_levels(Some(&lacuna));
    let mut options = rust_rocksdb::Options::default();
    options.set_env(&env);
    let tables = SeekTables::load(&lacuna, &options, &db).unwrap();
    let ((seekable, all), bytes) = (tables.seekable(), tables.memory_bytes());
    // Where compaction cuts is up to its threads; a table of a few rows may be left, whose SuRF is above its budget.
    assert!(bytes > 100_000 && all - seekable <= all / 20, "{seekable} of {all} tables, {bytes} bytes");
    let blocks = |planned: bool, first: bool| {
        set_perf_stats(PerfStatsLevel::EnableCount);
        let mut context = PerfContext::default();
        context.reset();
        let mut rng = Rng::new(77);
        for _ in 0..1_000 {
            let from = (rng.next_u64() >> 1).to_be_bytes();
            let bounds: Bounds = match first {
                true => (Bound::Included(from.to_vec()), Bound::Unbounded),
                false => (Bound::Unbounded, Bound::Included(from.to_vec())),
            };
            let row = match (planned, first) {
                (false, _) => plain(&db, &bounds, first),
                (true, true) => tables.first(&db, bounds).unwrap(),
                (true, false) => tables.last(&db, bounds).unwrap(),
            };
            assert!(row.is_some());
        }
        context.metric(PerfMetric::BlockReadCount)
    };
    for first in [true, false] {
        let (without, with) = (blocks(false, first), blocks(true, first));
        println!("1,000 open seeks, first {first}: {without} blocks without a plan, {with} with");
        assert!(with < 1_600 && 2 * with < without, "{with} against {without}");
    }
}

/// Blocks that `work` reads.
fn blocks_of(work: impl FnOnce()) -> u64 {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    work();
    context.metric(PerfMetric::BlockReadCount)
}

#[test]
fn the_last_row_of_all_is_planned() {
    let lacuna = LacunaRocksDb::parse("surf@20 codec=fixed_be:8").unwrap();
    let (db, env) = four_levels(Some(&lacuna));
    let tables = SeekTables::load(&lacuna, &options(&env, None), &db).unwrap();
    let all: Bounds = (Bound::Unbounded, Bound::Unbounded);
    let (mut expected, mut found) = (None, None);
    let without = blocks_of(|| expected = plain(&db, &all, false));
    let with = blocks_of(|| found = tables.last(&db, all.clone()).unwrap());
    assert!(expected.is_some() && expected == found);
    assert!(with > 0 && with < without, "{with} blocks against {without}");
    // What nobody knows of is found too.
    db.put([0xFF; 9], b"beyond").unwrap();
    assert_eq!(tables.last(&db, all).unwrap(), Some((vec![0xFF; 9], b"beyond".to_vec())));
}

/// A database in which others write each time an iterator but the first is made.
struct Racing<'a> {
    db: &'a DB,
    iterators: Cell<u32>,
}

impl Readable for Racing<'_> {
    type Access = DB;
    fn raw(&self, options: ReadOptions) -> DBRawIteratorWithThreadMode<'_, DB> {
        self.iterators.set(self.iterators.get() + 1);
        if self.iterators.get() > 1 {
            let mut batch = WriteBatch::default();
            batch.put(key(20), b"before the second place");
            batch.delete(key(100));
            self.db.write(&batch).unwrap();
        }
        self.db.raw(options)
    }
    fn raw_cf(
        &self,
        _: &impl AsColumnFamilyRef,
        options: ReadOptions,
    ) -> DBRawIteratorWithThreadMode<'_, DB> {
        self.raw(options)
    }
}

#[test]
fn a_seek_is_answered_as_of_one_moment() {
    let test = TestDb::new("surf@60 codec=fixed_be:8");
    test.write_table([10, 500].map(key));
    test.db.delete(key(10)).unwrap();
    test.write_table([600].map(key));
    test.write_table([100, 200, 700].map(key));
    let tables = SeekTables::load(&test.lacuna, &options(&test.env, None), &test.db).unwrap();
    let racing = Racing { db: &test.db, iterators: Cell::new(0) };
    // 10 is deleted, so that a second iterator follows; by then 20 has come and 100 has gone, both at once.
    let (found, _) = tables.first(&racing, key(5)..).unwrap().unwrap();
    assert_eq!(racing.iterators.get(), 2);
    assert_eq!(found, key(20), "at no moment was 200 the first");
}

#[test]
fn seeks_in_a_column_family_read_its_tables() {
    let (env, lacuna) = (Env::mem_env().unwrap(), LacunaRocksDb::parse("surf@60 codec=fixed_be:8").unwrap());
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
    // In another family the plan is no use, and the answer right.
    assert_eq!(tables.first(&db, key(0)..).unwrap().unwrap().0, key(3));
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
