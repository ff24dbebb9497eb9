//! Ribbon: a range filter that stores where in its block the one key is, and nothing of where the blocks are.
//!
//! A filter that stores a set of n values pays for the set: 1.44 bits a key at least, 2 to 2.6 in practice, beyond the
//! logarithm of one over its rate. Ribbon stores a function instead. The key space is cut into blocks of `2^j` keys, and a
//! retrieval structure gives for each block that holds a key its position, in j bits, and `m - j` zeros. Asked about any other
//! block it gives m random bits. With blocks of 8 keys and `m = 5`, keys 42 and 77 are the positions 2 of block 5 and 5 of
//! block 9: block 5 gives `00 010`, so `43..=47` is denied. Block 6 has no key and gives `01 100`, say: the two bits that are
//! not zero deny it whatever the position. Several keys in one block make its position the largest one, a mark, and stand in a
//! [`grafite`](crate::grafite) body, the *spill*; so does a key at that position, and a block that fits no layer of the
//! retrieval structure.
//!
//! Guarantee: no false negative, and a false positive rate of at most `range_len / 2^m` for every set of keys and every query
//! chosen without knowledge of the seed, where b bits a key give `m` of about `b / 1.02`. A share of the blocks may have a bit
//! more than the others, so that every budget is used. A range over several blocks asks each of them, up to 64.
//!
//! Keys may be taken by *cells* of `2^c` keys: then a range of up to a cell has the rate of one key or two, whatever its length, but
//! a range that shares a cell with a key is "maybe". With cells of 16 keys, `48..=79` is the cells 3 and 4, and "maybe" beside key 77. So
//! cells are for ranges far from keys, and no rate is bounded. Two *halves* are a filter of keys as they are and one of cells, asked one after
//! the other: the bound of the first, and long ranges denied by the second.
//!
//! Cost: a hash, a threshold of two bits and 84 adjacent bytes for each block, one wait in all. Build: a sort by hash and an
//! elimination; some 50 ns a key. Several threads may share it, and the bytes are the same.
//!
//! Dillinger, Hübschle-Schneider, Sanders, Walzer, "Fast Succinct Retrieval and Approximate Membership Using Ribbon", SEA
//! 2022, for the retrieval structure. Ours: what it stores, the mask that hides it, tall rows for fractions of a bit, the
//! spill, cells and halves. The mathematics stands in
//! [`docs/design/ribbon.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/ribbon.md).

mod builder;
mod codec;
mod counts;
mod hash;
mod layer;
mod likely;
mod part;
mod partition;
mod predict;
mod query;
mod shape;
mod solve;
mod spec;
mod stretch;
#[cfg(test)]
mod tests;

pub(crate) use likely::{halves_that_promise, likely_forms};
pub use spec::RibbonSpec;
