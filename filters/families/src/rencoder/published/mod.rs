//! REncoder in the layout of its paper, to compare with: `rencoder:published`.
//!
//! Mini-trees of eight levels and their root are bitmaps of 511 bits in the order of a breadth-first walk: the root is the
//! first node, its halves the second and third. Each is OR-ed into one array of bytes from the byte on that the prefix
//! above it hashes to, once for each hash function. In mini-trees of four levels, key 164 = `10100100` sets the nodes 1, 2,
//! 5, 10 and 20 of the bitmap under the prefix `1010`. A range is cut into its largest aligned parts; for each the
//! prefixes above it are asked from the shortest stored one down, then its halves depth first, bit by bit, in bitmaps that
//! are fetched once and kept until another prefix is asked for.
//!
//! Guarantee: no false negative. No bound on the rate: a bitmap starts at whole bytes, so that the same nodes meet in the
//! same bits of a byte, and its bits are not independent; table 4 and
//! [`docs/design/rencoder-windows.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/rencoder-windows.md) show by how much.
//!
//! Cost: k windows of 64 bytes for each mini-tree, each of which mostly reaches into two cache lines, and a step for each
//! bit that is looked at. Past 64 mini-trees the answer is "maybe"; the paper has no such bound (`probes=max` is 4,096).
//!
//! Fan and others, VLDB Journal 2024: figure 3 and algorithms 1 and 2 (bitmaps and their places), 3 and 4 (questions),
//! 5 (levels round by round until half of the bits are ones; `round=4` is the algorithm as printed). What differs: the
//! last window ends with the array, where the public code reads and writes beyond it; a key is left out of a round only
//! where the key before it has the same nodes in that round, where the public code loses whole sets of keys; the hash
//! is XXH3-64 with a seed for each function in place of the 32-bit Bob Hash. The paper leaves the number of hash
//! functions to the user: without `k=N` it is the number that [`RencoderSpec`](super::RencoderSpec) chooses for the same
//! keys and budget, so that the two differ in their layout alone.

mod builder;
mod codec;
mod predict;
mod query;
mod spec;
#[cfg(test)]
mod tests;

pub use spec::PublishedRencoderSpec;
