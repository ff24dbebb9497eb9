//! A small store whose reads cost something, to see what filters save.
//!
//! **Problem.** A filter is worth its memory and its time only if it avoids enough reads, and that depends on the price
//! of a read, how many files a query must ask, and what the queries look like.
//!
//! **Idea.** Filters stand in memory, items cost a *priced read*. Two layouts: sorted tables that all span the whole
//! key range (an LSM tree before compaction: keys 0, 1, 2, 3, ... of the set go to the tables 0, 1, 0, 1, ...), so that
//! each query asks every table; and leaves of 100 to 1,000 consecutive keys with an index of their first
//! keys (a B+tree), so that most queries concern one leaf. All sealed filters lie in one arena, as they would in an
//! engine's block cache.
//!
//! [`run_seeks`] asks for the first key of each range instead of all of them, once as an engine does that asks each
//! filter for yes or no, and once by the filters' candidates.
//!
//! **Guarantee.** Every answer (how many keys, and which) is compared with the sorted keys themselves; a wrong one is
//! counted in [`Outcome::wrong_answers`], which must be 0. Reads are counted exactly and repeat from the seed.
//!
//! **Cost.** With [`ReadPrice::Accounted`] a read costs its price on paper: the run takes as long as the filters alone.
//! [`ReadPrice::Spun`] burns the time for real, caches going cold included.
//!
//! **Papers.** The leaves follow the two-level experiments of "REncoder" (VLDBJ 2024); the tables follow the RocksDB
//! experiments of "SuRF" and "Proteus", without RocksDB.

mod arena;
mod outcome;
mod part;
mod run;
mod seeks;
mod store;

pub use outcome::Outcome;
pub use run::{ReadPrice, run_store};
pub use seeks::{SeekOutcome, run_seeks};
pub use store::{Layout, StorePlan, TwoLevelStore};

/// The spec that means: no filters.
pub const OFF: &str = "off";
