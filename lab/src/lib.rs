//! The laboratory: what measures Lacuna and is not part of it. Never published, and nothing that users build depends on it.
//!
//! | folder | idea |
//! | --- | --- |
//! | `commands/` | the command line, a file for each command |
//! | [`paper`] | the figures and tables of papers, measured again |
//! | `bars/` | ratios and rates that must hold: PASS or FAIL |
//! | [`designer_grid`] | what `auto` chooses beside what would have been best |
//! | [`frontier`] | every family beside every other: rates, sizes, times |
//! | [`node_costs`] | what filters that nodes exchange cost |
//! | [`two_level`] | a small store whose reads have a price, with and without filters |
//! | [`blacklist_rounds`] | the same questions again, with false positives remembered |
//! | `cache_bench/` | the range cache beside other systems over real servers (feature `cache`) |
//!
//! Figures over RocksDB need the feature `rocksdb`. How things are timed, and rows of filters and engines, are in
//! [`lacuna_bench`], which `lacuna bench` uses too.

mod bars;
pub mod blacklist_rounds;
#[cfg(feature = "cache")]
mod cache_bench;
mod commands;
pub mod designer_grid;
pub mod frontier;
pub mod node_costs;
pub mod paper;
pub mod two_level;

#[cfg(feature = "cache")]
pub use cache_bench::COLUMNS as CACHE_COLUMNS;
pub use commands::run;
