//! Grafite: range filtering with a rate bounded for any keys and any queries.
//!
//! Filters that go by the gaps between keys are useless for queries that start right after a key. Grafite hashes keys
//! so that nearby keys stay nearby: the key space is cut into blocks, and each block is moved as a whole to a random
//! place of a smaller circle of `reduced_universe` values. With blocks of 8 keys and a circle of 10 values, block 5
//! (keys 40 to 47) moved to 7 sends 42 to `(7 + 2) % 10 = 9` and 44 to 1. The values are kept as an Elias-Fano sequence;
//! the query `42..=44` looks between 9 and 1, around the end of the circle, and finds both.
//!
//! Guarantee: no false negative, and a false positive rate of at most `range_len * key_count / reduced_universe` for
//! every set of keys and every query chosen without knowledge of the seed: about `range_len / 2^(b - 2.2)` for b bits
//! a key. When the circle would be as large as the span of the keys, the keys themselves are stored and the rate is 0.
//!
//! Cost: one hash, then one search that waits for one or two cache misses; a range across a block boundary, or around
//! the end of the circle, costs one search for each part, six at most. Build: a hash and a linear-time sort.
//!
//! Costa, Ferragina, Vinciguerra, "Grafite: Taming Adversarial Queries with Optimal Range Filters", SIGMOD 2024,
//! sections 3 and 4. Ours: blocks are the largest power of two within the circle, so that no division is left; a range
//! across blocks is asked block by block (the published code forgets the middle); the seed is part of the plan; the
//! Elias-Fano sequence is sliced, see [`lacuna_succinct::elias_fano`].

mod builder;
mod codec;
mod predict;
mod query;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use builder::{MAX_LAST, write_body, write_circle};
pub(crate) use codec::HEADER_BYTES;
pub(crate) use predict::{circle_within, predict_within};
pub(crate) use query::{Grafite, GrafiteProbe};
pub use spec::GrafiteSpec;
