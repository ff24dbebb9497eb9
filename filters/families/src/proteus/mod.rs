//! Proteus: a trie of short prefixes and a Bloom filter of longer ones, with the lengths that the queries ask for.
//!
//! Long ranges far from keys need short prefixes, because they touch few of them; short ranges next to keys need long
//! ones, which distinguish them from the keys. One Bloom filter has one length. So a trie holds all prefixes of l1
//! bits exactly: it denies in one walk whatever shares fewer bits with any key, however long. A query that shares more
//! can do so only below the first and the last prefix it touches, and there a Bloom filter of l2 bits is asked. With
//! keys of 24 bits, l1 = 16 and l2 = 20: the query `00F200..=010000` finds neither `00F2` nor `0100` in the trie and
//! nothing between; `020073..=02009C` finds `0200` and asks the Bloom filter for `02007`, `02008` and `02009`.
//!
//! Guarantee: no false negative. The rate on queries like the sample is predicted, not bounded: queries that share l2
//! bits with a key are "maybe". A query asks the Bloom filter for at most 64 prefixes (`probes`) and says "maybe" if
//! it touches more; `probes=max` asks for up to 2^24, which stands for the paper's "all".
//!
//! Cost: a walk of the trie, one step for each byte of l1, then one Bloom probe a prefix. Building: the model
//! ([`cpfpr`]), the trie of the distinct prefixes, one insertion into the Bloom filter for each distinct longer one.
//!
//! Knorr, Lemaire, Lim and others, "Proteus: A Self-Designing Range Filter", SIGMOD 2022. Ours: the bound on probes,
//! which the model knows; the estimate of the trie's size counts keys that are alone in their prefix; l1 and l2 count
//! from after the common prefix of byte strings, and prefixes of more than 64 bits are hashed as a head and a tail, so
//! that neighbours cost one short hash each ([`docs/design/proteus.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/proteus.md)).

mod builder;
mod codec;
pub(crate) mod cover;
pub mod cpfpr;
mod design;
pub(crate) mod filter;
mod predict_rate;
pub(crate) mod prefix_key;
pub(crate) mod query;
pub(crate) mod space;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use codec::Body as Proteus;
pub use design::{DesignRate, ProteusPrediction};
pub use space::PrefixSpace;
pub use spec::ProteusSpec;
