//! Which prefix lengths may be the best: all of them, judged by queries in bins.
//!
//! A query is "maybe" from the length on that it shares with a key, and asks for as many prefixes as it is long in theirs.
//! So queries that agree in both, up to a power of two, are judged together, and 63 lengths cost little more than one.

use lacuna_base::{KeyStatistics, Prediction, RateBound};

use super::codec::HEADER_BYTES;
use super::spec::{DEFAULT_SPAN_LOG2, PrefixBloomSpec};
use crate::bloom::{BloomSpec, MAX_POINTS, PointFacts, waits_for};
use crate::costs::CostModel;
use crate::family::FilterFamily as _;
use crate::statistics::{IntegerStatistics, IntegerView};

/// Lengths that are offered.
const OFFERED: usize = 3;

/// Queries that part from all keys on one level and have about the same length.
#[derive(Debug, Clone, Copy)]
struct Bin {
    level: u32,
    count: f64,
    /// Sum of the keys asked for beyond the first.
    more: f64,
}

/// The bins that hold a query.
struct Bins(Vec<Bin>);

impl Bins {
    fn of(statistics: &IntegerStatistics) -> Self {
        // For each telling level and each number of bits of the length, the bin, if there is one.
        let mut places = [[u16::MAX; 65]; 65];
        let mut bins: Vec<Bin> = Vec::new();
        for query in &statistics.inside {
            let (level, more) = (query.telling_level(), query.hi - query.lo);
            let place = &mut places[level as usize][(64 - more.leading_zeros()) as usize];
            if *place == u16::MAX {
                *place = u16::try_from(bins.len()).expect("65 * 65 bins");
                bins.push(Bin { level, count: 0.0, more: 0.0 });
            }
            let bin = &mut bins[usize::from(*place)];
            bin.count += 1.0;
            bin.more += more as f64;
        }
        Self(bins)
    }

    /// Prediction for prefixes that leave out `dropped` bits, near enough to choose by.
    fn predict(&self, dropped: u32, statistics: &IntegerStatistics) -> Prediction {
        let prefixes = statistics.nodes.nodes(dropped) as f64;
        let facts = PointFacts::standard(BloomSpec::new(), prefixes, statistics.max_bytes - HEADER_BYTES);
        let width = (1u128 << dropped) as f64;
        let (mut rate, mut asked, mut waits) = (0.0, 0.0, 0.0);
        for bin in &self.0 {
            let points = 1.0 + bin.more / bin.count / width;
            let is_asked = points <= MAX_POINTS as f64;
            let is_certain = bin.level < dropped || !is_asked;
            rate += bin.count * if is_certain { 1.0 } else { 1.0 - libm::exp(-points * facts.rate) };
            asked += if is_asked { bin.count * points } else { 0.0 };
            waits += if is_asked { bin.count * waits_for(points) } else { 0.0 };
        }
        let total = statistics.total.max(1) as f64;
        Prediction {
            rate: (rate + statistics.certain as f64) / total,
            probes: asked / total * facts.probes,
            fetches: waits / total,
            payload_bytes: statistics.max_bytes,
            bound: RateBound::NONE,
        }
    }
}

/// The lengths that cost least, cheapest first; the whole key is left to the Bloom filter.
pub(crate) fn likely_lengths<K: IntegerView + ?Sized>(
    known: &KeyStatistics<'_, K>,
    model: &CostModel,
) -> Vec<PrefixBloomSpec> {
    let statistics = known.view(K::integers);
    let bins = Bins::of(&statistics);
    let cost = |dropped| model.cost_ns(&PrefixBloomSpec::COSTS, &bins.predict(dropped, &statistics));
    let mut costs: Vec<(u32, f64)> =
        (1..statistics.key_bits).map(|dropped| (dropped, cost(dropped))).collect();
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let best = costs.iter().take(OFFERED);
    best.map(|(dropped, _)| PrefixBloomSpec::new().with_prefix_bits(statistics.key_bits - dropped)).collect()
}

/// Bits left out by the length with the lowest rate, as building chooses it; the default without a query.
pub(super) fn likeliest_dropped_bits(statistics: &IntegerStatistics) -> u32 {
    let bins = Bins::of(statistics);
    let rate = |dropped: &u32| bins.predict(*dropped, statistics).rate;
    let best = (0..statistics.key_bits).min_by(|a, b| rate(a).total_cmp(&rate(b)));
    best.filter(|_| !statistics.inside.is_empty()).unwrap_or(DEFAULT_SPAN_LOG2)
}
