//! Several prefix Bloom filters: the leading bits of each key in several lengths, chosen for the sampled queries.
//!
//! A range next to a key differs from it in prefixes that are longer than what the two share, and touches few of
//! them only if they are not much longer than what its own ends share. Keys that people write share much with some
//! neighbours and little with others, so no single length suits all queries. Several do: a range is denied if one length
//! has none of the prefixes that it touches. With keys of bytes `alpha/one`, `alpha/two` and `beta` and prefixes of 1, 6 and 9
//! bytes, the query `alpha/tom` to `alpha/toz` has prefixes of both shorter lengths, and `alpha/tom`, ... `alpha/toz` are
//! not stored; `delta` to `gamma` has the prefixes `d` to `g`, which are not stored.
//!
//! Guarantee: no false negative. The rate on queries like the sample is predicted, not bounded: a query that shares
//! the longest prefixes with a key is "maybe". A length of which a query touches more than 64 prefixes (`probes`) is not asked.
//!
//! Cost: one Bloom probe for each prefix of each length, until a length denies; those that deny most queries are asked first.
//! Build: the design ([`design`]), then an insertion for each distinct prefix of each length.
//!
//! Knorr, Lemaire, Lim, Luo, Idreos and others, "Proteus: A Self-Designing Range Filter", SIGMOD 2022, has one and two
//! lengths (1PBF, 2PBF) and their model; ours has up to eight, over whole byte strings as over integers, and finds them one by one
//! ([`docs/design/multi_prefix_bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/multi_prefix_bloom.md)).

mod builder;
mod codec;
mod design;
mod facts;
mod predict;
mod query;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use codec::Body as MultiPrefixBloom;
pub(crate) use predict::likely_design;
pub use spec::MultiPrefixBloomSpec;
