//! Databases that flush and compact on request, in memory.
//!
//! What is worth knowing about SlateDB 0.18 when testing against it:
//!
//! - `flush` waits for ever once eight SSTs of level 0 overlap, unless `l0_max_ssts` **and** `l0_max_ssts_per_key`
//!   are raised, or a compactor runs;
//! - a compaction can be asked for (`Admin::submit_compaction`) and runs when the coordinator, the worker and the
//!   coordinator again have polled: three intervals, all set to milliseconds here;
//! - whether it is done is shown by its status, not by the manifest: the next one into the same run, submitted while
//!   the worker is still at it, makes the worker panic;
//! - a compaction with old runs among its sources must go into the oldest of them;
//! - the size-tiered scheduler is kept from adding compactions of its own by `min_compaction_sources`;
//! - `Db::scan` panics on an empty or inverted range;
//! - `put` returns before the write is durable; a `DbReader` sees it after a flush.

mod database;
mod learning;
mod merge;
mod policy;
mod query;

pub(crate) use database::{TestDb, quiet_compactor, quiet_settings, quiet_worker, rows};
pub(crate) use learning::{BLIND, Learning};
pub(crate) use merge::Concatenate;
pub(crate) use policy::{Damaged, entry, point, range, row, tombstone};
pub(crate) use query::{Model, Query};
