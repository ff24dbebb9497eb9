//! Two prefix Bloom filters: short prefixes for long ranges, long ones for short ranges next to keys.
//!
//! A range is asked among the short prefixes; only where one of them may be there are the long ones below it asked. With
//! 8-bit keys, short prefixes of 3 bits and long ones of 6, the query `64..=103` touches the short prefixes 2 and 3; if
//! only 3 may be there, the long ones below it, 24 and 25, decide.
//!
//! Guarantee: no false negative. The rate on queries like the sample is predicted, not bounded. A query asks for at
//! most 64 prefixes (`probes`) of either length and says "maybe" if it would have to ask for more.
//!
//! Cost: one Bloom probe for each prefix asked. Building: one insertion for each distinct prefix of either length.
//!
//! Knorr, Lemaire, Lim and others, "Proteus: A Self-Designing Range Filter", SIGMOD 2022, section 3.1 (2PBF). Ours: the
//! bound on probes, which the model knows; the model multiplies the chances of ends and middle, where equation 4 prints
//! a difference ([`docs/design/cpfpr.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/cpfpr.md)). A design of long prefixes alone is allowed, with all bytes for them.

mod body;
mod model;
mod predict;
mod several;
mod single;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use body::TwoPrefixBloom;
pub use model::TwoPrefixRate;
pub(crate) use predict::likely_design;
pub use spec::TwoPrefixBloomSpec;
