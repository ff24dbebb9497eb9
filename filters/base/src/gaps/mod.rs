//! Gaps learned about one immutable file: intervals of the key space that are proven to hold no key.
//!
//! A filter repeats its false positives for as long as the file lives. A reader that has read the file and found
//! nothing between two of its keys may note that here, and the next query inside the gap needs no read: with keys 3, 7
//! and 9 the gaps are `[4, 6]` and `[8, 8]`, and the range `5..=6` is known to be empty. Intervals that overlap or
//! touch become one; `[4, 6]` and `[8, 8]` never do, since the key 7 stands between them.
//!
//! [`GapSet`] holds intervals of integers, [`ByteGapSet`] intervals of byte strings by their first bytes after the
//! file's common prefix; both are [`Intervals`](intervals::Intervals) of one or four words.
//!
//! Guarantee: what is reported empty lies in the union of what was learned, so it is as true as the proofs. Only the
//! file's own raw entries, of every type and sequence number, are proofs: an empty scan of a database proves nothing,
//! because snapshots, tombstones and expiry hide entries that the file holds.
//!
//! Cost: 17 bytes an interval of integers, 65 of byte strings, within a budget of memory that is taken at once. A
//! question is one binary search, without a lock; one that meets a writer again and again is answered "not known".
//! Learning is off the query path: it takes a lock and moves the intervals after the new one. When the budget is used
//! up, the clock algorithm drops an interval that was not asked for since the hand came by last.
//!
//! The sequence lock is Boehm's, "Can seqlocks get along with programming language memory models?", MSPC 2012; the clock
//! is Corbató's, 1968.

mod byte_gap_set;
mod gap_set;
mod gap_window;
mod intervals;

pub use byte_gap_set::ByteGapSet;
pub use gap_set::GapSet;
