//! The parts that every engine adapter shares: build a filter for a file and never fail it, open a filter or read the
//! file, count what happened, and remember the queries that found nothing.
//!
//! An adapter runs inside the flush and read path of an engine. There, a filter must never do harm: keys that cannot be
//! filtered, a budget that is too small, bytes from another version or with a flipped bit all turn into "maybe, go and
//! read", and into a number in [`Counters`], so that nothing is lost in silence. The parts:
//!
//! - [`GuardSpec`]: what to build, as text such as `grafite@14 codec=fixed_be:8`, or `off`;
//! - [`GuardCodec`]: the codec that maps the engine's keys, chosen by text, with the key space erased;
//! - [`GuardBuilder`]: takes the engine's keys, builds, coarsens if it must, stores nothing if it cannot;
//! - [`Guard`]: a filter at its place, or "read always" and why;
//! - [`QueryLog`]: recent queries that found nothing, thinned; the next build uses them;
//! - [`SeekPlanner`]: which files to open, and in which order, to find the next key;
//! - [`LearnedGaps`]: what reading a file has shown it not to hold, asked after the filter;
//! - [`Counters`]: what was built, opened, asked and skipped.
//!
//! ```
//! use lacuna_guard::{Counters, Guard, GuardBuilder, GuardSpec, QueryLog};
//! use std::ops::Bound::{Excluded, Included};
//! use std::sync::Arc;
//!
//! let spec = Arc::new(GuardSpec::parse("grafite@14 codec=fixed_be:8")?);
//! let (log, counters) = (Arc::new(QueryLog::new(spec.codec())), Arc::new(Counters::new()));
//! let mut builder = GuardBuilder::new(Arc::clone(&spec), Arc::clone(&log), Arc::clone(&counters));
//! for key in (0..10_000u64).map(|number| number << 20) {
//!     builder.add(&key.to_be_bytes());
//! }
//! let sealed = builder.finish().expect("built within the budget");
//!
//! let guard = Guard::open_or_scan(sealed.as_bytes(), spec.codec(), &counters);
//! assert!(guard.may_contain_key(&(5u64 << 20).to_be_bytes()));
//! let (lo, hi) = (((5u64 << 20) + 10).to_be_bytes(), ((5u64 << 20) + 20).to_be_bytes());
//! assert!(!guard.may_contain_bounds(Included(&lo), Excluded(&hi)));
//! assert_eq!(counters.snapshot().skipped(), 1);
//! # Ok::<(), lacuna_base::Error>(())
//! ```

#![warn(missing_docs)]

mod attempt;
mod builder;
mod codec;
mod counters;
mod counts;
mod gap_counts;
mod guard;
mod guard_key;
mod guarded;
mod hardly;
mod learned_gaps;
mod metrics;
mod query_log;
mod sample_bytes;
mod sample_queue;
mod seek_planner;
mod shared_bytes;
mod spec;

pub use builder::GuardBuilder;
pub use codec::GuardCodec;
pub use counters::Counters;
pub use counts::{Asked, CountersSnapshot, LEVELS};
pub use gap_counts::{GapCounters, GapCounts};
pub use guard::{Guard, prefix_range};
pub use learned_gaps::{
    FileGaps, FileTag, GapOptions, Hint, LearnedGaps, Looks, MAX_FILES, Neighbours, ReadBudget, reach_into,
};
pub use metrics::Metric;
pub use query_log::QueryLog;
pub use seek_planner::{Direction, SeekPlanner, SeekStep, Ties};
pub use shared_bytes::SharedBytes;
pub use spec::GuardSpec;

/// Items that Lacuna's own crates share and other crates do not need; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::guard_key::GuardKey;
}
