//! RocksDB on the command line: the same rows as `SlateDB`, fewer reads with filters, and the papers' figures.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod command;
mod engines;
mod figures;
