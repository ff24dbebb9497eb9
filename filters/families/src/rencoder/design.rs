//! From keys and plan to a design: which levels, how many hash functions.
//!
//! More hash functions leave room for fewer levels. Levels are cheaper to ask and help queries far from all keys; hash
//! functions also help next to a key, where the upper levels are set anyway (theorem 4). The base takes the number that
//! is best for the worse of two workloads made from the keys themselves: ranges of 2 to 32 keys anywhere, and 32 after
//! a key. `REncoderSE` takes the best for the sample, `REncoderPO` the best for points, which it asks on one level alone.
//! Among numbers that are nearly as good the smallest wins: each hash function is a cache line to fetch.

use super::codec::{Levels, MAX_HASHES};
use super::levels::{LevelOrder, NodeCounts, Room};
use super::made::MadeQueries;
use super::predict::{RateModel, expected_ones};
use super::spec::{RencoderSpec, Variant};
use crate::statistics::EmptyQuery;

/// Sampled queries that are looked at.
pub(crate) const MAX_SAMPLED: usize = 512;
/// A design this many times as wrong as the best is good enough if it is cheaper.
const NEARLY: f64 = 1.1;
/// The level of the last bit of the exponent in the key of a float: below it are 52 bits of mantissa.
const EXPONENT_LEVEL: u32 = 52;
/// Shares of ones tried for the end of the exponent's levels.
const EXPONENT_SHARES: [f64; 6] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.45];

/// The design to build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Design {
    pub(crate) order: LevelOrder,
    pub(crate) levels: Levels,
    pub(crate) hash_count: u32,
}

/// The data a design is chosen on.
pub(crate) struct Designer<'a> {
    pub(crate) spec: RencoderSpec,
    pub(crate) key_count: f64,
    pub(crate) counts: &'a NodeCounts,
    pub(crate) room: Room,
    pub(crate) made: &'a dyn MadeQueries,
}

/// Queries a design is made for; it is judged by the worst of the groups.
type Workloads = Vec<Vec<EmptyQuery>>;

impl Designer<'_> {
    /// The design for the spec's variant.
    pub(crate) fn design(&self, sample: &dyn Fn() -> Vec<EmptyQuery>) -> Design {
        match self.spec.variant() {
            Variant::Base => self.base(),
            Variant::Point => self.point(),
            Variant::SelectStart => self.select_start(),
            Variant::SelectEnd => self.select_end(&sample()),
            Variant::TwoStage => self.two_stage(),
        }
    }

    fn base(&self) -> Design {
        self.best_up(0, || vec![self.made.anywhere(), self.made.behind_keys()])
    }

    fn select_start(&self) -> Design {
        self.best_up(self.counts.telling_level(), || vec![self.made.anywhere()])
    }

    /// Points are asked on the lowest level only, so hash functions are all that helps them: often one level is left.
    fn point(&self) -> Design {
        let judged = self.designs(&[LevelOrder::Up(0)]).map(|design| (design, self.model(design).path[1]));
        nearly_best(judged.collect()).0
    }

    /// The paper's end level, or the levels of the base or of SS where those do better on the sample.
    fn select_end(&self, sample: &[EmptyQuery]) -> Design {
        let Some(end) = end_level(sample, self.spec.quantile()) else { return self.base() };
        let telling = self.counts.telling_level();
        let workloads = vec![sample.to_vec()];
        if end < telling {
            let orders = [LevelOrder::DownThenUp(end), LevelOrder::Up(0), LevelOrder::Up(telling)];
            return self.best(&orders, &workloads).0;
        }
        let start = self.select_start();
        let (best, rate) = self.best(&[LevelOrder::Up(telling), LevelOrder::Up(0)], &workloads);
        // SS was chosen on other queries, so it has twice the tolerance.
        if self.rate(start, &workloads) <= rate * NEARLY { start } else { best }
    }

    /// Section 3.5: exponent levels up to some share of ones, then mantissa levels down to half.
    fn two_stage(&self) -> Design {
        let given = self.spec.exponent_share();
        let shares = given.map_or(EXPONENT_SHARES.to_vec(), |share| vec![share]);
        let hash_count = self.spec.hash_count().unwrap_or(1);
        let orders: Vec<LevelOrder> = shares
            .into_iter()
            .map(|share| {
                let up = LevelOrder::Up(EXPONENT_LEVEL);
                let exponent = up.until(self.counts, hash_count, self.room, share);
                LevelOrder::DownThenUp(exponent.low + exponent.count - 1)
            })
            .collect();
        self.best(&orders, &vec![self.made.anywhere(), self.made.behind_keys()]).0
    }

    /// The best design among `orders` and numbers of hash functions, and its rate.
    fn best(&self, orders: &[LevelOrder], workloads: &Workloads) -> (Design, f64) {
        let judged = self.designs(orders).map(|design| (design, self.rate(design, workloads)));
        nearly_best(judged.collect())
    }

    /// As [`best`](Self::best) with the one order `Up(level)`; queries are made only if there is a choice.
    fn best_up(&self, level: u32, workloads: impl FnOnce() -> Workloads) -> Design {
        match self.spec.hash_count() {
            Some(hash_count) => self.given(LevelOrder::Up(level), hash_count),
            None => self.best(&[LevelOrder::Up(level)], &workloads()).0,
        }
    }

    fn given(&self, order: LevelOrder, hash_count: u32) -> Design {
        Design { order, levels: self.levels(order, hash_count), hash_count }
    }

    /// Each number of hash functions with each of `orders`.
    fn designs(&self, orders: &[LevelOrder]) -> impl Iterator<Item = Design> {
        self.hash_counts()
            .flat_map(move |hash_count| orders.iter().map(move |&order| self.given(order, hash_count)))
    }

    /// As many levels as the spec says, else until half of the bits are ones.
    fn levels(&self, order: LevelOrder, hash_count: u32) -> Levels {
        match self.spec.stored_levels() {
            Some(count) => order.at_most(count),
            None => order.until_half(self.counts, hash_count, self.room),
        }
    }

    fn hash_counts(&self) -> impl Iterator<Item = u32> {
        let (min, max) = self.spec.hash_count().map_or((1, MAX_HASHES), |count| (count, count));
        let bits_per_key = self.room.lines.bits() / self.key_count;
        // Beyond this even a single level has more than half ones.
        #[expect(clippy::cast_possible_truncation, reason = "at most 128 bits a key")]
        let useful = (bits_per_key.min(128.0) as u32 + 1).max(min);
        min..=max.min(useful)
    }

    /// Rate of `design` on the worst of the workloads.
    fn rate(&self, design: Design, workloads: &Workloads) -> f64 {
        let model = self.model(design);
        workloads.iter().map(|queries| model.mean_rate(queries)).fold(0.0, f64::max)
    }

    fn model(&self, design: Design) -> RateModel {
        let ones = expected_ones(self.counts, design.levels, design.hash_count, self.room);
        RateModel::new(design.levels, design.hash_count, self.room.tree_levels, ones)
    }
}

/// The first design that is nearly as good as the best, and its rate.
fn nearly_best(judged: Vec<(Design, f64)>) -> (Design, f64) {
    let best = judged.iter().map(|(_, rate)| *rate).fold(1.0, f64::min);
    judged.into_iter().find(|(_, rate)| *rate <= best * NEARLY).expect("one of them is the best")
}

/// The level from which on downwards `quantile` of the queries differ from all keys; `None` without queries.
pub(crate) fn end_level(queries: &[EmptyQuery], quantile: f64) -> Option<u32> {
    let mut levels: Vec<u32> = queries.iter().map(|query| query.telling_level()).collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    #[expect(clippy::cast_possible_truncation, reason = "at most the number of queries")]
    let rank = (levels.len() as f64 * quantile).ceil() as usize;
    levels.get(rank.max(1) - 1).copied()
}
