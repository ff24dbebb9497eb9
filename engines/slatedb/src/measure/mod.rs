//! How many object reads do filters save? A counting object store, and databases laid out to be measured.
//!
//! The experiment: sorted keys are dealt out to a number of SSTs in turn, so that each spans the whole key range
//! and no scan can leave one out by its smallest and largest key. Then ranges without a key are scanned, and the GETs
//! on SSTs are counted, with filters and without. [`MeasuredDb`] writes, opens and scans; [`CountingStore`] counts.
//!
//! What makes such numbers wrong, and what is done about it here:
//!
//! - **SlateDB holds back flushes** once eight SSTs of level 0 overlap: both `l0_max_ssts` and
//!   `l0_max_ssts_per_key` must be raised, or `flush` waits for a compactor for ever.
//! - **A compactor rewrites the layout** while it is measured: there is none, and no garbage collector.
//! - **A flush fills the block cache** with what it wrote: the database is closed and opened again with empty caches,
//!   then filters and indexes of all SSTs are loaded, and a few scans warm the block cache.
//! - **Scans do not fill the block cache** unless `ScanOptions::cache_blocks` asks for it: here they do, which helps
//!   the database without filters.
//! - **Filters and indexes compete with blocks** in one cache: they have a cache of their own, as by default in
//!   SlateDB.
//! - **SSTs below 1,000 rows get no filter** (`min_filter_keys`): this is left as it is, so deal out enough keys.
//!
//! ```
//! use lacuna_slatedb::RangeFilters;
//! use lacuna_slatedb::measure::{MeasuredDb, gap_ranges, spread_keys};
//! use slatedb::object_store::memory::InMemory;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let keys = spread_keys(8_000, 1);
//! let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?;
//! let measured = MeasuredDb::new(Arc::new(InMemory::new()), "measured", Some(lacuna));
//! measured.write_interleaved(&keys, 4, 64).await?;
//! let db = measured.open_warm(1 << 20).await?;
//! let count = measured.scan_all(&db, &gap_ranges(&keys, 100, 16, 1)).await?;
//! assert_eq!((count.scans, count.rows), (100, 0));
//! assert!(count.reads.gets < 40, "without filters each scan reads up to 4 SSTs");
//! db.close().await?;
//! # Ok(())
//! # }
//! ```

mod counting_store;
mod measured_db;
mod ranges;

pub use counting_store::{CountingStore, Reads};
pub use measured_db::{MeasuredDb, ScanCount};
pub use ranges::{gap_ranges, spread_keys};
