//! The range filter of one RocksDB table, as a property of that table: its bytes, who writes it, who asks it.
//!
//! RocksDB lets others add properties to a table while it is written (`TablePropertiesCollector`) and skip tables by
//! their properties while it is read (`ReadOptions::table_filter`). This crate is everything on our side of those two
//! callbacks and links no RocksDB, so that the Rust adapter and the C++ header share it:
//!
//! - [`Property`]: sixteen bytes before the sealed filter, see [`docs/format/rocksdb-property.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rocksdb-property.md);
//! - [`TableGuard`]: what to build, the remembered queries and the counts of one column family;
//! - [`Collector`]: takes the entries of one table and builds a property, or none;
//! - [`Question`]: one range, asked of one table after the other; a "no" lets RocksDB skip the table;
//! - [`Questions`]: many ranges, asked of each table in one batch;
//! - [`PartitionStore`]: filters in files beside the tables, of which a budget of memory holds the partitions that are asked;
//! - [`SeekRun`]: tables side by side that name the place of their next key.
//!
//! ```
//! use lacuna_rocksdb_property::{Collector, Direction, Question, TableFacts, TableGuard};
//! use std::ops::Bound::Included;
//!
//! let guard = TableGuard::parse("grafite@14 codec=fixed_be:8")?;
//! let mut collector = Collector::new(&guard, Some(1));
//! for minute in 0..2_000u64 {
//!     collector.add(Collector::PUT, &(minute * 60).to_be_bytes());
//! }
//! let property = collector.finish().expect("built within the budget");
//!
//! let bounds = (Included(&7_201u64.to_be_bytes()[..]), Included(&7_230u64.to_be_bytes()[..]));
//! let question = Question::new(&guard, bounds, Direction::Forward);
//! let facts = TableFacts { comparator: TableFacts::BYTEWISE, property: Some(&property), identity: None };
//! assert!(!question.may_contain(facts), "the table need not be read");
//! assert_eq!(guard.stats().filters.level(Some(1)).skipped, 1);
//! # Ok::<(), lacuna_base::Error>(())
//! ```

#![warn(missing_docs)]

mod bounds;
mod collector;
mod identity;
mod in_place;
mod metrics;
mod partitions;
mod passed;
mod property;
mod question;
mod questions;
mod scanned;
mod seek_run;
mod table_filter;
mod table_guard;
mod verified;

pub use bounds::RocksBounds;
pub use collector::Collector;
pub use identity::TableIdentity;
pub use lacuna_guard::Metric;
pub use partitions::{FileId, PartitionStats, PartitionStore};
pub use property::{PROPERTY_NAME, Property};
pub use question::{Direction, Question, TableFacts, is_ordered_bytewise};
pub use questions::{OwnedBounds, Questions};
pub use scanned::Scanned;
pub use seek_run::{SeekRun, SeekTable};
pub use table_guard::{TableGuard, TableStats};
