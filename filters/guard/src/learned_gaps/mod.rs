//! The learned gaps of each file: asked after its filter said "maybe".
//!
//! A filter makes the same mistake each time it is asked the same question, for as long as its file lives. This module
//! keeps what reading the file has shown: between two of its keys there is none. With the keys `10` and `90` side by
//! side in a file, a scan of `50..60` that its filter let pass is a hint to look; after the look, `[11, 89]` is a
//! *learned gap*, and the next scan of `30..40` does not read the file, whatever the filter answers.
//!
//! - [`LearnedGaps`]: the gaps of one database, within a budget of memory, and the queue of hints;
//! - [`FileGaps`]: the gaps of one file, asked by its guard;
//! - [`FileTag`]: the identity of a file; two files never share one;
//! - [`Neighbours`]: the proof, two keys side by side among the raw entries of the file;
//! - [`ReadBudget`]: how fast the background may read to find proofs, and [`Looks`]: where it need not look, and what a
//!   look has taught.
//!
//! Guarantee: what is reported empty was shown to be empty by that file's own entries, of every type and sequence
//! number, and the file never changes. An empty scan of the database is only a [`Hint`]: a snapshot, a tombstone, an
//! expired row or a rolled-back transaction may have hidden keys that the file holds.
//!
//! Keys of `fixed_be` are kept as integers, 17 bytes a gap. Under every other codec gaps are kept between the engine's
//! own keys, 65 bytes each, never between codes: codes of `head` are shared by many keys, and those of `composite` are
//! not in the engine's order, so that a gap between neighbours proves nothing about the codes between theirs.
//!
//! Cost: a question is an atomic load or two and a binary search, without a lock or an allocation; a caller that only
//! knows the file's tag finds its place through a small table of atomics first. A file takes its place, of fixed size,
//! when its first gap is learned; when there is none left, the clock takes one from a file whose gaps no query asked
//! for.

mod file_gaps;
mod file_tag;
mod gap_options;
mod hints;
mod looks;
mod places;
mod read_budget;
mod refuted;
mod store;
mod tag_index;

pub use file_gaps::{FileGaps, Neighbours};
pub use file_tag::FileTag;
pub use gap_options::GapOptions;
pub use hints::{Hint, MAX_FILES};
pub use looks::{Looks, reach_into};
pub use read_budget::ReadBudget;
pub use store::LearnedGaps;
