//! Which variants and numbers of hash functions may be the best: all of them, evaluated on a part of the queries.

use lacuna_base::internal::thinned;
use lacuna_base::{KeyStatistics, Prediction, RateBound};

use super::codec::Levels;
use super::design::{MAX_SAMPLED, end_level};
use super::levels::{LevelOrder, Room};
use super::lines::Lines;
use super::predict::expected_ones;
use super::predict_rate::{Asker, tree_share};
use super::spec::RencoderSpec;
use crate::costs::CostModel;
use crate::family::FilterFamily as _;
use crate::statistics::{EmptyQuery, IntegerStatistics, IntegerView};

/// Specs that are offered.
const OFFERED: usize = 2;
/// Queries that all of them are judged by.
const FEW: usize = 256;
/// Hash functions beyond which a filter of any usual budget has hardly a level left.
const MAX_HASHES: u32 = 10;

/// The specs that cost least, cheapest first.
pub(crate) fn likely_designs<K: IntegerView + ?Sized>(
    known: &KeyStatistics<'_, K>,
    model: &CostModel,
) -> Vec<RencoderSpec> {
    let statistics = known.view(K::integers);
    let base = RencoderSpec::new();
    let Some(lines) = Lines::within(statistics.max_bytes) else { return Vec::new() };
    let bits_per_key = lines.bits() / statistics.places;
    // Beyond this even a single level has more than half ones.
    #[expect(clippy::cast_possible_truncation, reason = "at most 128 bits a key")]
    let max = (bits_per_key.min(128.0) as u32 + 1).min(MAX_HASHES);
    let table =
        Table { statistics: &statistics, model, room: Room { lines, tree_levels: base.tree_levels() } };
    let has_sample = !known.plan().sample().is_empty();
    let orders = table.orders(base.quantile(), has_sample);
    let mut cheapest: Vec<(RencoderSpec, f64)> = Vec::new();
    for hash_count in 1..=max {
        for &(variant, order) in &orders {
            let spec = variant.with_hash_count(hash_count);
            let max_ns = cheapest.get(OFFERED - 1).map_or(f64::INFINITY, |&(_, cost)| cost);
            if let Some(cost) = table.cost_below(max_ns, spec, order, hash_count) {
                let place = cheapest.partition_point(|&(_, other)| other <= cost);
                cheapest.insert(place, (spec, cost));
                cheapest.truncate(OFFERED);
            }
        }
    }
    cheapest.into_iter().map(|(spec, _)| spec).collect()
}

struct Table<'a> {
    statistics: &'a IntegerStatistics,
    model: &'a CostModel,
    room: Room,
}

impl Table<'_> {
    fn some(&self, max: usize) -> impl Iterator<Item = &EmptyQuery> {
        let inside = &self.statistics.inside;
        thinned(inside.len(), max).map(|index| &inside[index])
    }

    /// The variants, each with the order in which it stores levels.
    fn orders(&self, quantile: f64, has_sample: bool) -> Vec<(RencoderSpec, LevelOrder)> {
        let telling = self.statistics.nodes.telling_level();
        let mut orders = vec![
            (RencoderSpec::new(), LevelOrder::Up(0)),
            (RencoderSpec::select_start(), LevelOrder::Up(telling)),
        ];
        if self.statistics.inside.iter().any(|query| query.lo == query.hi) {
            orders.push((RencoderSpec::point(), LevelOrder::Up(0)));
        }
        let sampled: Vec<EmptyQuery> = self.some(MAX_SAMPLED).copied().collect();
        if let Some(end) = end_level(&sampled, quantile).filter(|&end| has_sample && end < telling) {
            orders.push((RencoderSpec::select_end(), LevelOrder::DownThenUp(end)));
        }
        orders
    }

    /// The cost of a query, if it is below `max_ns`: judged by the needless reads first, and only as long as these leave
    /// room.
    fn cost_below(&self, max_ns: f64, spec: RencoderSpec, order: LevelOrder, hash_count: u32) -> Option<f64> {
        let counts = &self.statistics.nodes;
        let levels: Levels = order.until_half(counts, hash_count, self.room);
        let ones = expected_ones(counts, levels, hash_count, self.room);
        let asker = Asker::new(spec, levels, hash_count, ones, tree_share(counts, levels, self.room));
        let total = self.statistics.total.max(1) as f64;
        let count = self.statistics.inside.len().min(FEW);
        let share = self.statistics.inside.len() as f64 / count.max(1) as f64 / total;
        let certain = self.statistics.certain as f64 / total;
        let mut rate = 0.0;
        for query in self.some(FEW) {
            rate += asker.rate(query);
            if (rate * share + certain) * self.model.price_ns >= max_ns {
                return None;
            }
        }
        let prediction = Prediction {
            rate: rate * share + certain,
            probes: self.some(FEW).map(|query| asker.probes(query)).sum::<f64>() * share,
            fetches: self.some(FEW).map(|query| asker.fetches(query)).sum::<f64>() * share,
            payload_bytes: self.room.lines.body_bytes(),
            bound: RateBound::NONE,
        };
        Some(self.model.cost_ns(&RencoderSpec::COSTS, &prediction)).filter(|&cost| cost < max_ns)
    }
}
