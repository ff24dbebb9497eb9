//! REncoder: all prefixes of all keys in one Bloom filter, eight of them in one cache line.
//!
//! TODO
mod bound;
mod builder;
mod codec;
mod design;
mod estimate;
mod insert;
mod levels;
mod lines;
mod predict;
mod query;
mod spec;
mod tree;
mod walk;
#[cfg(test)]
mod tests;

pub(crate) use query::Rencoder;
pub use spec::RencoderSpec;
