//! Storage engines side by side with their filters: seeks, points, and what they read.
//!
//! **Problem.** A filter's rate says little to a user who runs a database. They ask how many blocks a scan reads and
//! how long it takes, with their keys, with no filter, with the engine's own, and with ours.
//!
//! **Idea.** An [`Engine`] makes a [`Database`] from a [`DatabasePlan`]: keys dealt out to levels that each span all keys,
//! so that a seek has to ask every level. One driver, [`compare`], writes a database for each filter, warms it, asks all
//! of them the same [`Question`]s in turn, and gives an [`EngineRow`] each. RocksDB takes a
//! compiler for C++ and the feature `rocksdb`.
//!
//! With keys 1 to 9, two levels and a size ratio of 2, about three keys lie in the upper level and six in the lower; the
//! seek of 20 to 30 opens a file of each unless a filter says that it holds nothing there.
//!
//! **Guarantee.** The rows of every answer are counted and compared with the keys themselves: a filter that hides a row ends
//! the run, with its name and the range. Counts repeat from the seed. Times are medians of rounds in which the databases take turns.
//!
//! **Cost.** A database a filter on disk at the same time.
//!
//! ```
//! use lacuna_bench::engine::{EngineSetting, FilterChoice, SlateDbEngine, compare};
//! use lacuna_workload::{KeySource, QuerySource, ReadOptions};
//!
//! let keys = KeySource::parse("uniform:6k")?.load(&ReadOptions::default(), 1, &mut |_| {})?;
//! let setting = EngineSetting::new("uniform:6k", keys, &QuerySource::parse("uniform:300:32")?, 1)?.with_empty_share(0.5)?;
//! let filters = [FilterChoice::None, FilterChoice::lacuna("grafite", 14.0)];
//! let rows = compare(&SlateDbEngine, &filters, &setting, &mut |_| {})?;
//! assert_eq!(rows[0].rows, rows[1].rows);
//! assert!(rows[0].data_blocks_per_query > rows[1].data_blocks_per_query);
//! # Ok::<(), lacuna_base::Error>(())
//! ```

mod ask;
mod database;
mod driver;
mod filter_choice;
mod levels;
mod questions;
#[cfg(feature = "rocksdb")]
pub mod rocksdb;
mod row;
mod setting;
mod slatedb;
mod table;

pub use ask::{Asked, Manner, ask, warm};
pub use database::{Counts, Database, DatabasePlan, Direction, Engine, Shape};
pub use driver::{Contest, compare};
pub use filter_choice::FilterChoice;
pub use levels::{deal_out, half_zero_value};
pub(crate) use questions::false_positive_rate;
pub use questions::{Question, Questions, sample_bytes};
pub use row::{COLUMNS, EngineRow};
pub use setting::EngineSetting;
pub use slatedb::SlateDbEngine;
pub use table::to_table;
