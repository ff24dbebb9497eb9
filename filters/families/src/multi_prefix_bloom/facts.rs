//! The sampled queries as the design sees them: for each length that may be of use, how many prefixes a query touches.
//!
//! Queries that touch as many prefixes in all lengths are one entry, so that a design costs a few thousand multiplications. A
//! length is of use to a query from the first bit on in which the query differs from all keys; between the lengths at which this
//! begins for some query, longer prefixes only touch more. So no other lengths are offered.

use std::collections::BTreeMap;

use lacuna_base::internal::thinned;

use crate::proteus::cpfpr::{EmptyQueries, EmptyQuery, KeyCounts, Regions, any_of};
use crate::proteus::prefix_key::{PrefixKey, PrefixKeys};

/// Most queries that a design is made for.
const MAX_QUERIES: usize = 2_000;
/// Most lengths that are offered, so that as many queries begin to differ from all keys between one and the next.
const MAX_OFFERED: usize = 48;

/// What a query touches in one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touched {
    /// The prefix of a key: "maybe".
    Key,
    /// More than are asked for: "maybe".
    TooMany,
    /// This number of prefixes, of no key.
    Absent(u32),
}

impl Touched {
    /// The chance of a "maybe" of a filter that errs with the chance `rate`.
    pub(super) fn passes(self, rate: f64) -> f64 {
        match self {
            Self::Key | Self::TooMany => 1.0,
            Self::Absent(1) => rate,
            Self::Absent(count) => any_of(rate, f64::from(count)),
        }
    }
}

/// A length that is offered.
#[derive(Debug)]
pub(super) struct Offered {
    pub(super) bits: u32,
    /// Distinct prefixes among the keys.
    pub(super) prefixes: f64,
    /// What the queries of each entry touch.
    pub(super) touched: Vec<Touched>,
}

/// The facts.
#[derive(Debug)]
pub(super) struct Facts {
    /// The lengths, ascending.
    pub(super) offered: Vec<Offered>,
    /// Share of all queries that each entry stands for.
    pub(super) shares: Vec<f64>,
    /// The same for every other query alone, and for the others.
    pub(super) halves: [Vec<f64>; 2],
}

impl Facts {
    /// The facts about `queries` for `lengths`, ascending, or for those that may be of use.
    pub(super) fn of<S: PrefixKeys + ?Sized>(
        keys: &S,
        queries: &EmptyQueries<S::Key>,
        lengths: Option<Vec<u32>>,
        probes: u64,
        looked_at: usize,
    ) -> Self {
        let longest = keys.longest_bits();
        let inside: Vec<&EmptyQuery<S::Key>> =
            thinned(queries.inside.len(), MAX_QUERIES).map(|index| &queries.inside[index]).collect();
        let lengths = lengths.unwrap_or_else(|| useful_lengths::<S>(&inside, longest));
        let counts = KeyCounts::of(keys, longest, looked_at);
        // For each entry how many of every other query, and of the others.
        let mut entries: BTreeMap<Vec<Touched>, [u32; 2]> = BTreeMap::new();
        for (number, query) in inside.iter().enumerate() {
            entries.entry(touched(query, &lengths, probes)).or_default()[number % 2] += 1;
        }
        let all_inside = queries.inside.len() as f64 / queries.count.max(1) as f64;
        let points = inside.iter().filter(|query| query.lo == query.hi).count();
        let unseen = (points > 0).then(|| unseen_point(&lengths));
        let touched: Vec<&Vec<Touched>> = entries.keys().chain(&unseen).collect();
        let offered = lengths.iter().enumerate().map(|(place, &bits)| Offered {
            bits,
            prefixes: counts.distinct(bits).max(1) as f64,
            touched: touched.iter().map(|touched| touched[place]).collect(),
        });
        let shares = |of: &dyn Fn(&[u32; 2]) -> u32| -> Vec<f64> {
            let total = entries.values().map(of).sum::<u32>().max(1);
            let share = |count: f64| count / f64::from(total) * all_inside;
            let unseen = unseen.iter().map(|_| share(points as f64 / inside.len() as f64));
            entries.values().map(|counts| share(f64::from(of(counts)))).chain(unseen).collect()
        };
        Self {
            offered: offered.collect(),
            shares: shares(&|counts| counts[0] + counts[1]),
            halves: [shares(&|counts| counts[0]), shares(&|counts| counts[1])],
        }
    }
}

/// A point that only whole keys tell from a key: of n points of which none is like that, one of those to come may be.
fn unseen_point(lengths: &[u32]) -> Vec<Touched> {
    let mut touched = vec![Touched::Key; lengths.len()];
    touched.iter_mut().next_back().into_iter().for_each(|longest| *longest = Touched::Absent(1));
    touched
}

/// The lengths from which on a query differs from all keys, spread evenly over the queries, and that of the longest key.
fn useful_lengths<S: PrefixKeys + ?Sized>(queries: &[&EmptyQuery<S::Key>], longest: u32) -> Vec<u32> {
    let step = S::Key::STEP;
    let apart = queries.iter().map(|query| query.nearest()).filter(|&nearest| nearest < longest);
    let mut lengths: Vec<u32> =
        apart.map(|nearest| (nearest / step + 1).saturating_mul(step).min(longest)).collect();
    lengths.sort_unstable();
    let last = lengths.len().saturating_sub(1);
    let spread = |lengths: &[u32]| -> Vec<u32> {
        (0..MAX_OFFERED - 1).map(|number| lengths[last * number / (MAX_OFFERED - 2)]).collect()
    };
    let distinct = lengths.chunk_by(|a, b| a == b).count();
    if distinct >= MAX_OFFERED {
        lengths = spread(&lengths);
    }
    lengths.push(longest);
    lengths.dedup();
    lengths
}

/// What the query touches in each of `lengths`, which ascend.
fn touched<K: PrefixKey>(query: &EmptyQuery<K>, lengths: &[u32], probes: u64) -> Vec<Touched> {
    let longest = lengths.last().copied().unwrap_or(0);
    let mut regions = Regions::between(query.lo, query.hi, query.shared.min(longest));
    let touched = |&bits: &u32| {
        let count = if bits <= query.shared { 1 } else { regions.of(bits) };
        match u32::try_from(count) {
            _ if bits <= query.nearest() => Touched::Key,
            Ok(count) if u64::from(count) <= probes => Touched::Absent(count),
            _ => Touched::TooMany,
        }
    };
    lengths.iter().map(touched).collect()
}
