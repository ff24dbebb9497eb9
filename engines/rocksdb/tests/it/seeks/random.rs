//! Random writes, and seeks in both directions between all kinds of bounds.

use std::ops::Bound;

use lacuna_rocksdb::{RangeFilters, Readable, SeekTables};
use lacuna_workload::Rng;
use rust_rocksdb::{DB, Env, OptimisticTransactionDB};

use super::plain;
use crate::differential::{Bounds, Keys, Store, small_tables};

struct World<S> {
    case: String,
    lacuna: RangeFilters,
    env: Env,
    db: S,
    keys: Keys,
    rng: Rng,
}

impl<S: Store + lacuna_rocksdb::LiveTables> World<S> {
    fn new(spec: &str, keys: Keys, seed: u64) -> Self {
        let (lacuna, env) = (RangeFilters::parse(spec).unwrap(), Env::mem_env().unwrap());
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

    /// Bounds; half of them have an open end.
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
