//! The paper's blacklist (section 3.4): false positives remembered key by key.
//!
//! A range that was a false positive is cut into dyadic ranges. The shortest of their prefixes has some length l; each
//! of them goes into a hash table under its first l bits, with a bitmap of the keys it holds below them. For
//! `160..=165` of eight-bit keys these are `101000**` with all four bits and `101001**` with two. The next query asks
//! the table for every leaf that the filter lets through, and goes on where the table denies the leaf.
//!
//! Guarantee: what is denied was inserted, so it is as true as the caller's word that the range is empty. Cost: a
//! look-up for each different l of the table, and `2^(64 - l)` bits for each entry. It is here for the comparison with
//! the paper; [`GapSet`](lacuna_base::GapSet) answers more for less.

mod filter;
mod table;

pub use filter::BlacklistedRencoder;
pub use table::Blacklist;

#[cfg(test)]
mod tests;
