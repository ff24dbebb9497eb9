//! Rosetta: a Bloom filter for each prefix length, asked from the longest node of a range down to its keys.
//!
//! A Bloom filter answers for a key; a range of R keys would take R questions, and be wrong R times as often. Rosetta
//! keeps further Bloom filters, of the keys without their last bit, their last two, and so on. A range is cut into its
//! largest aligned nodes; where the filter of a node's level says "maybe", its two halves are asked, and so on down to
//! the keys ("doubting"): only a path of nothing but "maybe" is a "maybe". With keys 3 and 12, the range 4 to 11 is
//! the nodes 4-7 and 8-11; the level that leaves out two bits knows 0 and 3, is asked for 1 and 2, and says "no" to
//! both.
//!
//! Guarantee: no false negative, and a rate that depends on nothing but the length of a range and the seed: neither on
//! where the keys lie nor on how close a query comes to them. [`rate_bound`](lacuna_base::RangeFilter::rate_bound)
//! states it for lengths whose nodes all fit the bound on probes. At the same rate, a range of R keys takes about
//! log2 R bits a key more than a point; no choice of levels avoids that.
//!
//! Cost: a probe for each node, k bits of a Bloom filter in as many cache lines; 2 log2 R of them and more, one after
//! the other. Past 64 (`probes=N`) the answer is "maybe", and the prediction counts it so. Build: one insertion for each
//! key and filtered level.
//!
//! Luo and others, "Rosetta: A Robust Space-Time Optimized Range Filter for Key-Value Stores", SIGMOD 2020. Ours: the
//! walk needs no stack ([`query`]); bits go to the levels where the [model] predicts the least rate for the sample,
//! bound on probes included ([`allocation`]), while `published` and `single` do as the research code; levels count
//! their distinct prefixes, not the keys; ranges are closed, so that the last key of the universe can be asked for.

mod allocation;
mod builder;
mod codec;
mod model;
mod predict;
mod query;
mod spec;
#[cfg(test)]
mod tests;

pub use predict::RosettaPrediction;
pub(crate) use query::Rosetta;
pub use spec::RosettaSpec;
