//! Timing several things side by side.
//!
//! **Problem.** On a machine that others use, the same loop takes 60 ns now and 90 ns a second later, so two numbers
//! taken one after the other cannot be compared.
//!
//! **Idea.** All tasks run once in every *round*, starting with another one each time, and a disturbance of a second
//! or more hits neighbours alike. The result is the median over at least nine rounds, and, for two tasks, the median
//! of their ratios within each round. For times 60, 90, 61 beside 30, 45, 30 the ratio is 2, whatever happened in the
//! second round.
//!
//! The measured time is the thread's own time on a processor, to the nanosecond where the operating system reports it
//! (Linux does); the effect of other processes on the caches is included, and shows as spread.
//!
//! **In the timed loop** stand the questions and their answers and nothing else: ranges are drawn before, filters are
//! opened before, answers are summed or kept from being optimised away. See [`dependent`], [`independent`],
//! [`batched`] for the ways to ask and [`MemoryFloor`] for the yardstick of the machine. One thread throughout.
//!
//! ```
//! use lacuna_bench::harness::Rounds;
//!
//! let mut rounds = Rounds::new();
//! let short = rounds.add("short", 1, || (0..1_000u64).map(std::hint::black_box).sum::<u64>());
//! let long = rounds.add("long", 1, || (0..20_000u64).map(std::hint::black_box).sum::<u64>());
//! let timings = rounds.run(9, &mut |_| {});
//! assert!(timings.ratio(long, short) > 2.0);
//! ```

mod ask;
mod barrier;
mod clock;
mod memory_floor;
mod rounds;

pub use clock::{Stopwatch, WorkClock};

pub use ask::{BATCH, batched, dependent, independent, predicted};
pub use memory_floor::MemoryFloor;
pub use rounds::{Rounds, TaskId, Timings};

/// Rounds of queries that a bar is measured in, at least.
pub const QUERY_ROUNDS: usize = 9;

/// Builds that a build time is the median of, at least.
pub const BUILD_ROUNDS: usize = 3;
