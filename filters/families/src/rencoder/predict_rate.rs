//! REncoder's prediction: the levels its builder would choose, and the model's rate on the sample.

use lacuna_base::internal::thinned;
use lacuna_base::{Prediction, RateBound};

use super::builder::SMALLEST_BYTES;
use super::codec::{Levels, Ones};
use super::design::{Designer, MAX_SAMPLED};
use super::levels::{NodeCounts, Room};
use super::lines::{Lines, shifted};
use super::made::SomePairs;
use super::predict::{MAX_NODES, RateModel, expected_ones};
use super::spec::{RencoderSpec, Variant};
use crate::integer_build::TooSmall;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::{EmptyQuery, IntegerStatistics};

impl PredictIntegers for RencoderSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        let lines = Lines::within(statistics.max_bytes).ok_or(TooSmall { smallest_bytes: SMALLEST_BYTES })?;
        let room = Room { lines, tree_levels: self.tree_levels() };
        let (counts, made) = (&statistics.nodes, SomePairs(&statistics.pairs));
        let designer = Designer { spec: *self, key_count: statistics.places, counts, room, made: &made };
        let design = designer.design(&|| {
            thinned(statistics.inside.len(), MAX_SAMPLED).map(|index| statistics.inside[index]).collect()
        });
        let ones = expected_ones(counts, design.levels, design.hash_count, room);
        let crowd = tree_share(counts, design.levels, room);
        let asker = Asker::new(*self, design.levels, design.hash_count, ones, crowd);
        let probes = statistics.mean(|query| asker.probes(query));
        Ok(Prediction {
            rate: statistics.rate(|query| asker.rate(query)),
            probes,
            fetches: statistics.mean(|query| asker.fetches(query)),
            payload_bytes: lines.body_bytes(),
            bound: RateBound::NONE,
        })
    }
}

/// Share of a line that the lowest mini-tree over some key sets alone, on average.
pub(crate) fn tree_share(counts: &NodeCounts, levels: Levels, room: Room) -> f64 {
    let lowest = Levels { count: levels.count.min(room.tree_levels), ..levels };
    let trees = counts.nodes(levels.low + room.tree_levels) as f64;
    (counts.tree_bits(lowest, room) / trees / room.lines.line_bits()).min(1.0)
}

/// How many times more a walk looks at than the lines it fetches: the blocks of each mini-tree, one by one.
const WALKED: f64 = 2.0;

/// The lines that a query would read.
pub(crate) struct Asker {
    model: RateModel,
    /// For queries in a mini-tree with a key.
    near: RateModel,
    /// Of the lowest mini-trees alone, under one hash function.
    bottom: RateModel,
    levels: Levels,
    tree_levels: u32,
    hash_count: u32,
    max_probes: f64,
    asks_points_apart: bool,
}

impl Asker {
    /// The lines of mini-trees that keys stand in are fuller than others by `crowd`.
    pub(crate) fn new(spec: RencoderSpec, levels: Levels, hash_count: u32, ones: Ones, crowd: f64) -> Self {
        let tree_levels = spec.tree_levels();
        let near = Ones { mean: 1.0 - (1.0 - ones.mean) * (1.0 - crowd), ..ones };
        let lowest = Levels { count: levels.count.min(tree_levels), ..levels };
        Self {
            model: RateModel::new(levels, hash_count, tree_levels, ones),
            near: RateModel::new(levels, hash_count, tree_levels, near),
            bottom: RateModel::new(lowest, 1, tree_levels, ones),
            levels,
            tree_levels,
            hash_count,
            max_probes: f64::from(spec.max_probes()),
            asks_points_apart: spec.variant() == Variant::Point,
        }
    }

    /// Chance of a "maybe".
    pub(crate) fn rate(&self, query: &EmptyQuery) -> f64 {
        if self.asks_points_apart && query.lo == query.hi {
            let is_shared = query.is_crowded(|key| key >> self.levels.low);
            return if is_shared { 1.0 } else { self.model.path[1] };
        }
        let top = self.levels.low + self.levels.count - 1;
        let nodes = shifted(query.hi, top) - shifted(query.lo, top);
        if self.trees(query) > self.max_probes || nodes >= MAX_NODES {
            return if self.trees(query) > self.max_probes { 1.0 } else { self.model.far_rate(nodes as f64) };
        }
        let tree = self.levels.low + self.tree_levels;
        let model = if query.is_crowded(|key| shifted(key, tree)) { &self.near } else { &self.model };
        model.rate(*query)
    }

    /// Mini-trees looked into, as far as the ones above them are alive.
    fn trees(&self, query: &EmptyQuery) -> f64 {
        let under = |step: u32| {
            let reach = shifted(query.hi, self.levels.low + step) - shifted(query.lo, self.levels.low + step);
            reach as f64 + 1.0
        };
        let lowest = under(self.tree_levels);
        if lowest <= 2.0 {
            return lowest;
        }
        let groups = self.levels.count.div_ceil(self.tree_levels);
        let alive = |group: u32| {
            let step = (group + 1) * self.tree_levels;
            let above = self.levels.count.saturating_sub(step) as usize;
            // The mini-trees next to keys are alive whatever the hashes say.
            (under(step) * self.model.path[above]).max(under(step).min(2.0))
        };
        (0..groups).map(alive).sum()
    }

    /// Mini-trees waited for.
    pub(crate) fn fetches(&self, query: &EmptyQuery) -> f64 {
        self.trees(query).min(self.max_probes)
    }

    /// Lines looked at: the next hash function's only where the ones before left a leaf.
    pub(crate) fn probes(&self, query: &EmptyQuery) -> f64 {
        let survival = if self.asks_points_apart && query.lo == query.hi {
            self.bottom.path[1]
        } else {
            self.bottom.rate(*query)
        };
        let (mut chance, mut functions) = (1.0, 0.0);
        for _ in 0..self.hash_count {
            functions += chance;
            chance *= survival;
        }
        let groups = f64::from(self.levels.count.div_ceil(self.tree_levels));
        let climbs =
            if self.asks_points_apart && query.lo == query.hi { 0.0 } else { chance * (groups - 1.0) };
        let trees = self.fetches(query);
        trees * functions * if trees > 2.0 { WALKED } else { 1.0 } + climbs
    }
}

predicts_integers!(RencoderSpec);
