//! The property without an engine: bytes that must not change, and bytes that did.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod allocations;
mod bytes;
mod caps;
mod folder;
mod gaps;
mod levels;
mod panics;
mod partitions;
mod seek_runs;
mod walks;

use std::ops::Bound::{Excluded, Included};

use lacuna_rocksdb_property::{Collector, Direction, Question, TableFacts, TableGuard};

/// The property of a table written for `level` with these keys.
fn property(guard: &TableGuard, level: Option<usize>, keys: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut collector = Collector::new(guard, level);
    keys.into_iter().for_each(|key| collector.add(Collector::PUT, &key.to_be_bytes()));
    collector.finish().unwrap()
}

/// A question about `lo..hi`.
fn question(guard: &TableGuard, lo: u64, hi: u64, direction: Direction) -> Question {
    Question::new(guard, (Included(&lo.to_be_bytes()), Excluded(&hi.to_be_bytes())), direction)
}

/// A table with this property.
fn table(property: &[u8]) -> TableFacts<'_> {
    TableFacts { comparator: TableFacts::BYTEWISE, property: Some(property), identity: None }
}
