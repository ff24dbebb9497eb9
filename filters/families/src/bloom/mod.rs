//! Bloom filters: the point filter everything is compared with, standard and cache-line blocked.
//!
//! Does the set hold this key? Each key sets `k` bits of an array at places taken from its hash; a key whose `k` bits
//! are not all set is absent. With 8 bits and `k = 2`, keys that set bits {1, 4} and {4, 6} leave `01001010`; a key
//! that asks for {1, 3} is denied, one that asks for {1, 6} is a false positive.
//!
//! Guarantee: no false negative; the rate is about `0.6185^bits_per_key` at the best `k`. A short range is asked key by
//! key, up to [`MAX_POINTS`], and its rate grows in proportion; a longer one is "maybe".
//!
//! Cost: the standard filter reads up to `k` cache lines. A batch stops at a key's first empty bit, after two lines on average for
//! an absent key. One question alone reads three lines at once before it branches, and three and a quarter on average: a
//! processor that guesses right starts on the next question early. The blocked filter keeps
//! all bits of a key in one line of 512 bits and reads that; it loses about half a bit a key in rate. Build: `k` bits a
//! key, which a large filter sets part by part.
//!
//! Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 1970; Putze, Sanders, Singler, "Cache-,
//! hash- and space-efficient Bloom filters", WEA 2007, for the blocks. Ours takes any number of bits, not only a power
//! of two; a block is eight words and a key sets one bit in each of them (or in a group of them at small budgets), so
//! that testing it is a handful of vector instructions.

mod batch;
mod blocked;
mod builder;
mod codec;
mod predict;
mod query;
mod setting;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use blocked::BlockedBloom;
pub(crate) use builder::write_standard;
pub(crate) use predict::{PointFacts, predict_integers, predict_strings, waits_for};
pub(crate) use query::Bloom;
#[cfg(feature = "baselines")]
pub(crate) use query::Places;
pub use spec::{BlockedBloomSpec, BloomSpec};

/// Most keys of a range that are asked one by one.
pub(crate) const MAX_POINTS: u64 = 64;
