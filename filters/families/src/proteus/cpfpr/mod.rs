//! CPFPR: the rate of a design of prefix filters, predicted from the keys and sampled queries without building it.
//!
//! **Problem.** A trie of l1 bits and a Bloom filter of l2 bits have thousands of designs, and which one is best
//! depends on how near the queries come to keys and how long they are. Building them all would take too long.
//!
//! **Idea.** Two numbers say what a query costs: the bits it shares with the nearest key, and the prefixes it touches. A
//! query that shares 30 bits with a key is denied by every trie deeper than 30 bits, is "maybe" to every filter of
//! prefixes of up to 30 bits, and in between is as likely a false positive as one of its n prefixes is one of the Bloom
//! filter: `1 - (1 - p)^n`. All queries with about the same n are counted together, so that a design costs a
//! handful of logarithms, not one for each query.
//!
//! **Guarantee.** None; tests hold predictions to within 2 points of what is measured in 95 % of all designs, and the
//! chosen design to within 5 % of the best.
//!
//! **Cost.** One pass over the keys (over many, a sample of neighbours), a sort of the sample, a search for each query,
//! and about ten additions a query. The designs share the rest.
//!
//! **Paper.** Knorr, Lemaire, Lim and others, "Proteus", SIGMOD 2022, sections 3 and 4.3.
//!
//! **Changed.** The formulas are derived anew where the printed ones slip, and a query with more prefixes than the filter
//! will ask for counts as "maybe" ([`docs/design/cpfpr.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/cpfpr.md)).

mod bins;
mod bloom_rate;
mod key_counts;
mod model;
mod note;
mod regions;
mod sample;
mod sample_size;

#[cfg(feature = "baselines")]
pub(crate) use bins::Bins;
pub(crate) use bloom_rate::{any_of, bloom_rate};
pub(crate) use key_counts::KeyCounts;
pub use model::Phase;
pub(crate) use model::{LOOKED_AT, Model, Observer, Task};
pub(crate) use regions::Regions;
pub(crate) use sample::{EmptyQueries, EmptyQuery};
pub use sample_size::sample_error_bound;
