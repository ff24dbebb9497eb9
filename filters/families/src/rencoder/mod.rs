//! REncoder: all prefixes of all keys in one Bloom filter, eight of them in one cache line.
//!
//! A range is a handful of dyadic nodes, and a node is a prefix of keys: `160..=165` is `101000*` and `1010010*`. A
//! Bloom filter of prefixes answers for each, and what it says "maybe" to is asked again further down, bit by bit, a
//! cache miss each. REncoder cuts the tree of all prefixes into mini-trees of eight levels and stores each as a bitmap
//! in one line of 512 bits, OR-ed into the place that the prefix above it hashes to. Key 164 = `10100100` lies in the
//! mini-tree under the empty prefix, as the leaf 164 and the nodes of 2, 4, ... 128 leaves over it: eight bits. One line
//! for each hash function, AND-ed, and every leaf whose whole path is set may be a key; nothing else may.
//!
//! Guarantee: no false negative, whatever levels are stored. With L levels and k hash functions a range of R keys far
//! from all keys is a false positive with a chance of about `R / 2^(k L)`, where half of the bits are ones at `k L =
//! 0.69 bits_per_key`; a range right after a key is left with the few levels that distinguish the two, so there k
//! counts more than L. Over integers [`rate_bound`](lacuna_base::RangeFilter::rate_bound) holds for any keys and
//! queries when the lowest level is stored. The answer is "maybe" past 64 fetched mini-trees (`probes=N`).
//!
//! Cost: k lines, fetched side by side, for a range within 256 keys; twice that across a border; one more step up for
//! each further eight levels, only where the bottom says "maybe". Build: one pass that counts, one that writes k lines a
//! key.
//!
//! Fan and others, "Enabling space-time efficient range queries with REncoder", VLDB Journal 2024. Variants: the base
//! stores the lowest levels; `ss` starts at the level that distinguishes all keys; `se` at the one that distinguishes
//! a sample of queries from the keys; `po` asks points on the lowest level alone; `float` stores exponents, then
//! mantissas. Ours: the root of a mini-tree is not stored, since the leaf above it says the same; each level of a
//! mini-tree has its own word and turn inside an aligned line instead of one byte offset across two lines ([`lines`],
//! measured in [`docs/design/rencoder-windows.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/rencoder-windows.md)); a block of 64 leaves is verified at once ([`tree`]); levels and k
//! are predicted from one counting pass instead of found by inserting ([`levels`], [`design`]), `round=N` builds as
//! the paper does. With the feature `baselines`, `rencoder:published` is the paper's own layout, a family of its own to
//! compare with.

#[cfg(feature = "baselines")]
mod blacklist;
mod bound;
mod builder;
mod codec;
mod design;
mod insert;
mod levels;
mod lines;
mod made;
mod offers;
mod predict;
mod predict_rate;
#[cfg(feature = "baselines")]
mod published;
mod query;
mod rectangle;
mod spec;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_floats;
#[cfg(test)]
mod tests_independence;
#[cfg(test)]
mod tests_kit;
#[cfg(test)]
mod tests_levels;
#[cfg(test)]
mod tests_rates;
mod tree;
mod walk;

#[cfg(feature = "baselines")]
pub use blacklist::{Blacklist, BlacklistedRencoder};
pub(crate) use levels::{NodeCounts, bit_length};
pub(crate) use offers::likely_designs;
#[cfg(feature = "baselines")]
pub use published::PublishedRencoderSpec;
pub(crate) use query::Rencoder;
pub use rectangle::Rectangle;
pub use spec::RencoderSpec;
