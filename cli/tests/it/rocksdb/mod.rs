//! RocksDB on the command line: the same rows as `SlateDB`, and fewer reads with filters.

mod command;
mod engines;
