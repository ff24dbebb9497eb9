//! Range filters in every SSTable of a stock RocksDB.
//!
//! An iterator of RocksDB opens every table whose key span touches the range, whether or not one of its keys lies
//! inside. This crate puts a range filter into each table, as a property that a collector writes at flush and
//! compaction, and asks it through `ReadOptions::table_filter`; tables that cannot hold a key of the range are then
//! skipped without reading a block. A "no" is always true, so no row is ever lost, and no deletion forgotten.
//!
//! See [`RangeFilters`] for an example.
//!
//! # What to know
//!
//! - **One iterator, one range.** RocksDB remembers a table's answer for the life of the iterator. The read options made
//!   here carry the bounds of the range that was asked, [`GuardedScan`] cannot leave it, and RocksDB keeps its own
//!   iterators between the bounds too.
//! - **Points**: RocksDB's own `get` and `multi_get` never ask, so they need RocksDB's Bloom or Ribbon filter;
//!   [`RangeFilters::get`] and [`RangeFilters::multi_get`] ask, and need none. See
//!   [`docs/design/rocksdb-points.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/rocksdb-points.md).
//! - **Many ranges or prefixes in one call**: [`RangeFilters::may_contain_ranges`] asks the filter of each table about
//!   all of them at once, [`RangeFilters::contains_ranges`] then reads where it must.
//! - **Memory.** RocksDB keeps the property of every open table on the heap (it shows in
//!   `rocksdb.estimate-table-readers-mem`, not in the block cache) and reads it when it opens the table. 14 bits a key
//!   are 1.75 bytes a key; [`RangeFilters::with_max_bytes`] caps each table's share. Where that is too much,
//!   [`RangeFilters::with_partitions`] keeps filters in files of a folder and bounds the memory of all together.
//! - **Old tables** are read as before, and counted, until compaction rewrites them.
//! - **Metrics**: [`TableStats::metrics`] names every count, by level and by reason, for whatever collects them.
//! - **Column families** each take a [`RangeFilters`] of their own, if they differ in codec; one may serve several.
//! - **Other comparators and user-defined timestamps** are refused by [`RangeFilters::install`], if they are set before it.
//!   Reads of a column family in another order are refused with an error.
//! - **`min_tombstones_for_range_conversion`** must stay 0: RocksDB refuses iterators with any table filter otherwise.
//! - **Learned gaps** are off unless [`RangeFilters::with_learned_gaps`] asks for them. Then scans without a row are
//!   hints, [`GapLearner`] looks into the tables that were read in vain, and later scans in a gap do not read them again.
//! - **The next key** of a wide or open range needs one table, where an iterator reads one of each level: [`SeekTables`]
//!   plans such seeks with filters that name next keys (`surf`).
//! - **`GetPropertiesOfAllTables`** and event listeners copy all properties, filters included; call them rarely.
//! - **OPTIONS files** note the collector as `LacunaRangeFilter`; see [`RangeFilters::register`].

#![warn(missing_docs)]

mod config;
mod gap_learner;
mod live_tables;
mod many;
mod raw_table;
mod read_range;
mod readable;
mod refusal;
mod scan;
mod seek_tables;
mod shim;
mod table_listener;

pub use config::RangeFilters;
pub use gap_learner::GapLearner;
pub use lacuna_guard::{CountersSnapshot, GapOptions, GuardCodec, GuardSpec, LearnedGaps, prefix_range};
pub use lacuna_rocksdb_property::{
    Direction, Metric, PROPERTY_NAME, PartitionStats, PartitionStore, Property, Scanned, TableStats,
};
pub use live_tables::LiveTables;
pub use read_range::{Outcome, ReadRange};
pub use readable::Readable;
/// The RocksDB that this version goes into.
pub use rust_rocksdb;
pub use scan::{GuardedScan, Row};
pub use seek_tables::{OwnedRow, SeekTables};
