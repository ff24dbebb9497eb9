//! RocksDB on the command line: the same rows as `SlateDB`, fewer reads with filters, and the papers' figures.

mod command;
mod engines;
mod figures;
