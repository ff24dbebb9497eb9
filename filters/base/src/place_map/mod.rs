//! An order-preserving code of 64 bits for byte strings: how long keys reach integer filters.
//!
//! A [`Window`](crate::Window) of eight bytes cannot tell host names, paths or several series in one file apart. A place
//! map divides the integers among strings as arithmetic coding does: an interval for each next byte, in order of the
//! bytes, as wide as this byte is frequent there, and one for the end of the string before them all. With keys that begin with
//! `www.` nine times of ten, `www.` costs a fraction of a bit and leaves 63 bits for what follows.
//!
//! Frequencies come from the file's own keys: a trie over their most common prefixes has a row of frequencies for each of
//! its nodes, and a table has rows for what follows below the trie, by the byte before. A string that leaves what the map
//! knows falls into a gap, which each interval leaves free at its upper end.
//!
//! Intervals of one node are disjoint, in order and never empty, whatever the frequencies are. So the map is monotone
//! (`a <= b` gives `place(a) <= place(b)`) for all strings, those of other files too, and a range of strings lies in a
//! closed range of integers that holds all its keys. It loses what stands after 64 bits; a [`LongPlace`] loses what stands after
//! 512, for families that can take so long an integer.
//!
//! Cost: a few steps for each byte, at most 64 bits' worth of bytes below the trie; no allocation. Build: `O(n)` bytes read.
//! The idea of order-preserving compression for search trees is that of Zhang et al., "Order-Preserving Key Compression for
//! In-Memory Search Trees" (HOPE), SIGMOD 2020, section 4; here codes are intervals and contexts are the file's prefixes.

mod build;
mod interval;
mod long;
mod query;
mod rows;
#[cfg(test)]
mod tests;
mod trie;

pub use long::LongPlace;
pub use query::PlaceMap;

/// Bytes before the rows: bits, rows, and two sets of bytes.
const HEADER_BYTES: usize = 2 + 2 * BYTE_SET;
/// Bytes of a set of bytes.
const BYTE_SET: usize = 32;
/// Most bytes of a map: its length and the offsets of its nodes have two bytes.
const MAX_BYTES: usize = (1 << 16) - 1;
/// Most bytes of a label: its length has one byte.
const MAX_LABEL: usize = 255;
/// Units of an interval that a row below the trie divides, and their logarithm.
const ROW_LOG2: u32 = 16;
/// The same for a row of the trie.
const NODE_LOG2: u32 = 8;
