//! The rate of several prefix Bloom filters: what their design expects of the queries, with the space that each has in the end.

use lacuna_base::{Budget, Error, KeyStatistics, PredictRate, Prediction, RateBound, Result};

use super::builder::smallest_bytes;
use super::design::{Level, Search, rates};
use super::facts::{Facts, Offered, Touched};
use super::spec::MultiPrefixBloomSpec;
use crate::bloom::waits_for;
use crate::family::FilterFamily as _;
use crate::proteus::cpfpr::{EmptyQueries, LOOKED_AT};
use crate::proteus::prefix_key::PrefixKeys;
use crate::proteus::space::{Room, with_known_integers, with_known_strings};

/// Bits that an absent prefix is asked for in a Bloom filter half of whose bits are ones.
const BITS_A_PREFIX: f64 = 2.0;

/// What a length costs before its first bit is looked at, in bits: the hash of the head, and the ends of the range.
const LENGTH_PROBES: f64 = 4.0;

/// A filter of a level, as it will be.
struct Expected<'f> {
    level: Level,
    offered: &'f Offered,
    /// Chance of a "maybe" for an absent prefix.
    rate: f64,
}

impl Expected<'_> {
    /// Prefixes that an average query of an entry asks for, and the probes of them.
    fn looks(&self, entry: usize) -> (f64, f64) {
        let (prefixes, bits) = match self.offered.touched[entry] {
            Touched::TooMany => (0.0, 0.0),
            Touched::Key => (1.0, f64::from(self.level.hash_count)),
            touched @ Touched::Absent(count) => {
                // Until one of them is a "maybe"; so rare that the difference is below the precision of a float.
                let asked =
                    if self.rate < 1e-9 { f64::from(count) } else { touched.passes(self.rate) / self.rate };
                (asked, asked * BITS_A_PREFIX)
            }
        };
        (prefixes, LENGTH_PROBES + bits)
    }
}

/// The filters of a design, in the order in which they are asked.
struct Filters<'f>(Vec<Expected<'f>>);

impl<'f> Filters<'f> {
    fn of(levels: &[Level], facts: &'f Facts, max_bytes: usize) -> Self {
        let offered = |level: &Level| {
            let mut offered = facts.offered.iter();
            offered.find(|offered| offered.bits == level.bits).expect("levels are of lengths offered")
        };
        let prefixes: Vec<f64> = levels.iter().map(|level| offered(level).prefixes).collect();
        let with_rates = levels.iter().zip(rates(levels, &prefixes, max_bytes));
        Self(with_rates.map(|(&level, rate)| Expected { level, offered: offered(&level), rate }).collect())
    }

    /// Share of "maybe" among queries of which the entries are `shares`; `look` is called for each filter with an entry and
    /// the share of queries that ask it.
    fn rate(&self, shares: &[f64], mut look: impl FnMut(&Expected<'_>, usize, f64)) -> f64 {
        let passed = shares.iter().enumerate().map(|(entry, &share)| {
            self.0.iter().fold(share, |asked, filter| {
                look(filter, entry, asked);
                asked * filter.offered.touched[entry].passes(filter.rate)
            })
        });
        passed.sum()
    }
}

/// The levels that `spec` has for `keys` and `queries`, and what is expected of them.
fn predict_among<S: PrefixKeys + ?Sized>(
    spec: &MultiPrefixBloomSpec,
    keys: &S,
    queries: &EmptyQueries<S::Key>,
    Room { max_bytes, beside_bytes }: Room,
    looked_at: usize,
) -> Result<(Vec<Level>, Prediction)> {
    let facts = spec.facts(keys, queries, looked_at);
    let chosen = |shares: &[f64]| spec.choose(&Search::new(&facts, shares, max_bytes));
    let given = spec.given(keys.longest_bits());
    let is_given = given.is_some();
    let levels = given.unwrap_or_else(|| chosen(&facts.shares));
    let smallest_bytes = smallest_bytes(levels.len());
    if smallest_bytes > max_bytes {
        let bits_per_key = Budget::smallest_for(smallest_bytes + beside_bytes, keys.len());
        return Err(Error::budget_too_small(MultiPrefixBloomSpec::KIND.name(), bits_per_key));
    }
    let (mut probes, mut fetches) = (0.0, 0.0);
    let seen = Filters::of(&levels, &facts, max_bytes).rate(&facts.shares, |filter, entry, asked| {
        let (prefixes, looks) = filter.looks(entry);
        probes += asked * looks;
        fetches += asked * waits_for(prefixes);
    });
    let flattered = if is_given { 0.0 } else { flattered(&chosen(&facts.halves[0]), &facts, max_bytes) };
    let rate = (seen + flattered).min(1.0);
    let payload_bytes = max_bytes + beside_bytes;
    Ok((levels, Prediction { rate, probes, fetches, payload_bytes, bound: RateBound::NONE }))
}

/// By how much a rate is too low because the queries that it is computed from are those that the levels were chosen for: what levels
/// that are chosen for one half miss in the other, by halves, since they are chosen for twice as many.
fn flattered(levels: &[Level], facts: &Facts, max_bytes: usize) -> f64 {
    let filters = Filters::of(levels, facts, max_bytes);
    let [seen, unseen] = [0, 1].map(|half| filters.rate(&facts.halves[half], |_, _, _| {}));
    ((unseen - seen) / 2.0).max(0.0)
}

/// The design for the queries of `known`, and what is expected of it; `None` without a query between two keys.
pub(crate) fn likely_design(known: &KeyStatistics<'_, [u8]>) -> Option<(MultiPrefixBloomSpec, Prediction)> {
    with_known_strings(known, |keys, queries, room| {
        if queries.inside.is_empty() {
            return None;
        }
        let spec = MultiPrefixBloomSpec::new();
        let looked_at = KeyStatistics::<[u8]>::MAX_PAIRS;
        let (levels, prediction) = predict_among(&spec, keys, queries, room, looked_at).ok()?;
        Some((spec.of_levels(&levels), prediction))
    })
}

impl PredictRate<u64> for MultiPrefixBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        with_known_integers(statistics, |keys, queries, room| {
            predict_among(self, keys, queries, room, LOOKED_AT).map(|(_, prediction)| prediction)
        })
    }
}

impl PredictRate<[u8]> for MultiPrefixBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        with_known_strings(statistics, |keys, queries, room| {
            predict_among(self, keys, queries, room, LOOKED_AT).map(|(_, prediction)| prediction)
        })
    }
}
