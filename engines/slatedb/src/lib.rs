//! Range filters in every SST of a stock SlateDB.
//!
//! A scan of SlateDB opens every SST whose key span touches the range, whether or not one of its keys lies inside.
//! This crate puts a range filter into each SST, through SlateDB's own `FilterPolicy`; a scan then reads only those
//! that can hold a key of the range. A "no" is always true, so no row is ever lost; where a filter cannot deny, SlateDB
//! reads as before. Point reads and prefix scans ask the same filter.
//!
//! ```
//! use lacuna_slatedb::RangeFilters;
//! use slatedb::config::{FlushOptions, FlushType, Settings};
//! use slatedb::object_store::memory::InMemory;
//! use slatedb::Db;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?;
//! let settings = Settings { min_filter_keys: 0, ..Settings::default() };
//! let builder = Db::builder("sensors", Arc::new(InMemory::new())).with_settings(settings);
//! let db = lacuna.install(builder).build().await?;
//!
//! for second in (0..2_000u64).map(|minute| minute * 60) {
//!     db.put(second.to_be_bytes(), b"21.5").await?;
//! }
//! db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable }).await?;
//!
//! let (lo, hi) = (7_201u64.to_be_bytes(), 7_230u64.to_be_bytes());
//! let mut rows = lacuna.scan(&db, lo..=hi).await?;
//! assert!(rows.next().await?.is_none());
//! assert_eq!(lacuna.stats().skipped(), 1, "the one SST was not read");
//! db.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - **Every process needs it.** A writer, reader, compactor or compaction worker without the policy falls back to
//!   SlateDB's Bloom filter, and a compactor without it drops the filters from what it rewrites.
//!   [`RangeFilters::install`] takes all four builders. `Admin::run_compactor` offers no way in; use
//!   `CompactorBuilder`.
//! - **A cache is needed.** SlateDB fetches and decodes the filters of an SST through its cache; `slatedb` without
//!   the feature `moka` or `foyer` has none, and then each scan fetches each filter again.
//! - **Small SSTs have no filter.** Below `Settings::min_filter_keys` rows (1,000 unless set) SlateDB builds no filter.
//! - **One filter instead of two.** SlateDB's Bloom filter is left out unless
//!   [`with_slatedb_bloom`](RangeFilters::with_slatedb_bloom) asks for it: all filters of an SST are fetched
//!   together, and ours answers points too. A database that already has Bloom filters keeps using them with it; without
//!   it SlateDB logs a warning each time it meets one, and reads.
//! - **Changing the codec** changes the policy's name. [`with_older_codec`](RangeFilters::with_older_codec) keeps
//!   reading the old filters until compaction has replaced them. Family, budget and seed may change at any time.
//! - **Learned gaps** are off unless [`with_learned_gaps`](RangeFilters::with_learned_gaps) asks for them. Then scans
//!   without a row are hints, [`GapLearner`] looks into the SSTs that were read in vain, and later scans in a gap do not
//!   read them again.
//! - **Many ranges or prefixes in one call**: [`RangeFilters::contains_ranges`], and [`prefix_range`] for the range of a prefix.
//! - **Codecs.** `bytes` takes any key. `fixed_be:8` is for keys that are big-endian integers, and makes the tightest
//!   filters for them. A key that the codec does not take leaves its SST without a filter.
//! - **`auto` chooses the family.** With `auto@14`, or `auto:price=5000000@14` where a needless read costs five
//!   milliseconds, every SST gets the filter that is cheapest for its own keys and for the scans that recently returned
//!   nothing. [`RangeFilters::scan`] notes those; a compactor in a process of its own gets them by
//!   [`sample_bytes`](RangeFilters::sample_bytes) and [`seed_sample`](RangeFilters::seed_sample).
//! - **Nothing fails in silence.** [`RangeFilters::stats`] counts filters built, coarsened, not stored, opened and
//!   damaged, and questions asked and answered "no". SlateDB's own metrics see the verdicts too
//!   (`slatedb.db.sst_filter_negative_count` with `kind` `range`).

#![warn(missing_docs)]

mod apply;
mod config;
mod file_tag;
mod gap_learner;
pub mod measure;
mod policy;
mod probes;
mod scan;
mod sst_filter;

pub use apply::ApplyFilters;
pub use config::RangeFilters;
pub use gap_learner::GapLearner;
pub use lacuna_guard::{
    CountersSnapshot, GapOptions, GuardCodec, GuardSpec, LearnedGaps, Metric, prefix_range,
};
pub use policy::RangeFilterPolicy;
pub use scan::GuardedScan;
/// The SlateDB that this version goes into.
pub use slatedb;
