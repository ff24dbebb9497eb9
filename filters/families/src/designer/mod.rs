//! The designer: chooses the family that costs least on these keys, for these queries, in this space.
//!
//! No family is best everywhere. Bucketing goes by gaps and is useless right after a key; Grafite keeps its bound
//! anywhere but needs more bits; a Bloom filter is best for single keys. Which of them a file should have depends on
//! its own keys and on what is asked. So: predict for each family and its parameters how often it would say "maybe" in
//! vain, what a question costs, how large it is; add up; build the cheapest. Two families for a price of 20,000 ns a
//! needless read: one asked in 60 ns and wrong for 1 % of the queries costs 60 + 200 ns a query, one asked in 110 ns
//! and wrong for 0.1 % costs 110 + 20 ns and is built.
//!
//! Guarantee: the chosen family's own. Same keys, plan and seed give the same choice on every machine: predictions are
//! arithmetic, and the price of a probe comes from a table of constants ([`crate::costs`]), never from a clock.
//! `auto:robust` admits only what keeps its rate for any queries chosen without the seed: Ribbon, Grafite, and structures
//! that know the keys exactly; under the plan's secret if there is one, over integers. Over byte strings their bounds hold for the integers that stand for them.
//!
//! Cost: a search among the keys for each of 2,000 queries or more, a look at 50,000 pairs of neighbours at most, one
//! pass over the gaps between integers, and a few additions for each query and candidate; families that cannot win any
//! more are not modelled. Building collects the keys first: 8 bytes each for integers, their bytes and 8 more for byte
//! strings.
//!
//! Knorr and others, "Proteus", SIGMOD 2022, for choosing a design by a model of keys and sampled queries. Ours: the
//! choice is among families, by cost instead of rate; see [`docs/design/designer.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/designer.md).

mod assumed;
mod bounds;
mod candidates;
mod deciding;
mod design;
mod mixed;
mod modelled;
mod search;
mod spec;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_exact;
#[cfg(test)]
mod tests_mixed;
#[cfg(test)]
mod tests_robust;
#[cfg(test)]
mod tests_secret;
#[cfg(feature = "baselines")]
mod two_prefixes;

pub(crate) use assumed::{assumed_integers, assumed_strings};
pub use candidates::DesignKey;
pub use deciding::{HARDLY, judged_by};
pub use design::{Candidate, Design, Measured};
pub use spec::{AutoSpec, design_of_before};
