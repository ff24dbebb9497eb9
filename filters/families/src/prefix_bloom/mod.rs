//! Prefix Bloom filter: a Bloom filter of the leading bits of each key.
//!
//! A range of keys is a short range of prefixes. With 8-bit keys and prefixes of 5 bits, the keys 17 and 22 have the
//! single prefix 2 (`00010`); the query `24..=31` has prefix 3, which was never inserted, so it is denied.
//!
//! Guarantee: no false negative. The rate of a range is the Bloom rate times the prefixes it touches, up to
//! 64; a range in the prefix of a key is "maybe", and so is a longer one.
//!
//! Cost: one Bloom probe for each prefix. Build: one insertion for each distinct prefix.
//!
//! Knorr, Lemaire, Lim, Luo, Idreos and others, "Proteus: A Self-Designing Range Filter", SIGMOD 2022 (1PBF). Ours: the
//! length follows from the sampled queries unless the spec gives it, as the model of the paper predicts
//! (`proteus::cpfpr`); over byte strings the bits are counted in the window after the keys' common prefix.

mod builder;
mod codec;
mod lengths;
mod predict;
mod query;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use lengths::likely_lengths;
pub(crate) use query::PrefixBloom;
pub use spec::PrefixBloomSpec;
