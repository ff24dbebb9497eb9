//! Filters inside a real RocksDB.
//!
//! `traps_*` hold one test for each way in which a table filter can go wrong; each is named in the module page by the
//! number it has in the design notes. `differential` compares with a database without filters; `saved_reads` counts what
//! it is all for.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod auto;
mod differential;
mod learned_gaps;
mod many;
mod partitions;
mod points;
mod saved_reads;
mod scans;
mod secrets;
mod seeks;
mod support;
mod traps_bytes;
mod traps_comparators;
mod traps_entries;
mod traps_iterators;
mod traps_options;
mod traps_ranges;
mod traps_remote;
mod traps_tables;
