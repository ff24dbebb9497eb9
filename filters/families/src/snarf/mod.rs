//! SNARF: where the keys lie, learned as a line from key to key, and a compressed bit array along it.
//!
//! Bucketing cuts the key space into equal buckets; crowded parts of it then share few buckets, empty ones waste many.
//! SNARF cuts it by rank. Every 128th key is a *knot*, and the space between two knots gets the same number of
//! *positions*, however wide it is. With knots 100 and 200 and 10 positions between them, the keys 137 and 161 stand on
//! positions 3 and 6; the range 140 to 155 reaches from position 3 to 5 and is "maybe", 150 to 155 from 4 to 5 and is
//! "no". The positions of a segment, mostly far apart, are Rice-coded by their differences: a block.
//!
//! Guarantee: no false negative. A range that holds a knot holds a key. Any other lies between two knots, and is a
//! false positive if one of its ends has the position of the key next to it: for K positions a key, and queries that
//! are independent of the keys, about once in K, whatever the range's length; next to a key always. K is about
//! `2^(bits_per_key - 2.3)`. Where a segment has as many positions as keys could be in it, it is exact.
//!
//! Cost: a binary search over the knots, two divisions, and half a block read from its start, 128 numbers at most; a
//! range over any number of blocks is settled by the knot in it. Build: a division a key, twice. Insertion and removal:
//! [`SnarfMut`] decodes one block and codes it again.
//!
//! Vaidya and others, "SNARF: A Learning-Enhanced Range Filter", VLDB 2022. Ours: blocks are the segments of the model,
//! so that a range in several blocks needs none of them (the published code forgets keys there); knots are stored once
//! and not coded; positions are integers, so that no rounding puts a key after a larger one; the bits of a block are
//! bounded, so that damaged ones are too.

mod builder;
mod codec;
mod fit;
mod mutable;
mod predict;
mod query;
mod run;
mod spec;
mod spline;
#[cfg(test)]
mod tests;

pub use mutable::SnarfMut;
pub use predict::SnarfPrediction;
pub(crate) use query::Snarf;
pub use spec::SnarfSpec;
