//! Bucketing: which buckets of keys are occupied, and nothing else.
//!
//! The simplest range filter goes by the gaps between keys: cut the span of the keys into equal buckets, remember which
//! of them hold a key, and call a range "maybe" if it touches one of those. With buckets of 10 keys, the keys 3, 8 and
//! 51 occupy buckets 0 and 5; the query `12..=44` touches buckets 1 to 4 and is denied.
//!
//! Large gaps are left out: the stretches between them, the *segments*, stand next to one another on the scale, with one
//! bucket between two that never holds a key. A table says where each segment starts. So the buckets of clustered keys are as
//! fine as if there were nothing but clusters.
//!
//! Guarantee: no false negative. When the buckets come down to single keys the rate is 0, and `rate_bound` says so; with
//! gaps left out, that takes no more bits than the keys' own neighbourhoods are wide. Otherwise there is no bound: the
//! rate does not grow with the length of the range, so that it is excellent for queries drawn evenly, but a query that starts in
//! the bucket of a key is always "maybe". Clustered keys share buckets, which the budget then makes smaller.
//!
//! Cost: one multiplication for each end, then one search that waits for one or two cache misses; with s segments, log2(s)
//! steps in their table more for each end. Build: two or three passes over the keys.
//!
//! Costa, Ferragina, Vinciguerra, "Grafite", SIGMOD 2024, where it is a baseline. Ours: a bucket is found by
//! multiplying with a 64-bit fraction instead of dividing; buckets are counted from the smallest key; their number is
//! the largest that fits the budget after keys that share one are counted once; and segments.

mod builder;
mod codec;
mod cuts;
mod predict;
mod query;
mod spec;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_oracle;
#[cfg(test)]
mod tests_segments;

pub(crate) use cuts::exact_bytes;
pub(crate) use predict::likely_cuts;
pub(crate) use query::Bucketing;
pub use spec::BucketingSpec;
