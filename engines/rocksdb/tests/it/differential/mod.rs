//! Random work on a database with filters and on a twin without: both must always say the same.
//!
//! Puts, deletes, single deletes, range deletes, merges, ingestion, snapshots, transactions that are rolled back,
//! flushes, compactions and reopening; between them, scans in both directions between all kinds of bounds, on the
//! database, its snapshots and its transactions. Every family works once while gaps are learned and once without, and
//! every fourth with filters in partitions, whose files vanish or change. Keys are few and close together, so that tombstones, versions and near
//! misses are everywhere. RocksDB's transactional database takes no range deletes, so half of the work goes there and half
//! to the plain one.

mod keys;
mod store;
mod world;

use lacuna_families::FAMILIES;
use lacuna_rocksdb::LiveTables;
use rust_rocksdb::{DB, OptimisticTransactionDB};

pub(crate) use keys::{Bounds, Keys};
pub(crate) use store::{Store, small_tables};
use world::{Extra, World};

/// Operations of all tests on this page together; 10 million in `make test-long`.
fn operations() -> u64 {
    let long = std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1");
    if long { 10_000_000 } else { 200_000 }
}

fn run_families<S: Store + LiveTables>(codec: &str, first_seed: u64, keys: Keys) {
    let each = operations() / 6 / 2 / FAMILIES.len() as u64 + 1;
    let mut skipped_by_gap = 0;
    for (seed, family) in (first_seed..).zip(FAMILIES) {
        let spec = format!("{}@16 codec={codec} seed={seed}", family.example);
        println!("differential: {spec}, twice {each} operations");
        for extra in [Extra::Nothing, Extra::Gaps] {
            skipped_by_gap += World::<S>::new(&spec, seed, keys, extra).run(each).skipped_by_gap();
        }
        if seed.is_multiple_of(4) {
            World::<S>::new(&spec, seed, keys, Extra::Partitions).run(each);
        }
    }
    assert!(skipped_by_gap > 0, "{codec}, first seed {first_seed}: no gap was used");
}

#[test]
fn strings_read_the_same_with_filters() {
    run_families::<DB>("bytes", 100, Keys::Strings);
}

#[test]
fn integers_read_the_same_with_filters() {
    run_families::<DB>("fixed_be:8", 200, Keys::Integers);
}

#[test]
fn integers_as_strings_read_the_same_with_filters() {
    run_families::<DB>("bytes", 300, Keys::Integers);
}

#[test]
fn prefixes_with_suffixes_read_the_same_with_filters() {
    run_families::<OptimisticTransactionDB>("composite:4,4", 400, Keys::Integers);
}

#[test]
fn strings_in_transactions_read_the_same_with_filters() {
    run_families::<OptimisticTransactionDB>("bytes", 500, Keys::Strings);
}

#[test]
fn integers_in_transactions_read_the_same_with_filters() {
    run_families::<OptimisticTransactionDB>("fixed_be:8", 600, Keys::Integers);
}
