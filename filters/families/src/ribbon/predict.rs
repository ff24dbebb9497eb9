//! The ribbon filter's rate, from its shape and the blocks of the keys next to a query.
//!
//! In a block without a key a query of n keys is "maybe" with the same chance wherever it is; in a block with one key the
//! position is known, so that a query beside it is denied. Where several keys share a block, the spill decides, at the rate of
//! any block.

use lacuna_base::{KeyStatistics, Prediction};

use super::codec::SHORT_HEADER_BYTES;
use super::counts::BlockCounts;
use super::shape::{Choice, Shape, max_blocks};
use super::spec::RibbonSpec;
use crate::family::FilterFamily as _;
use crate::grafite::{GrafiteSpec, predict_within};
use crate::integer_build::TooSmall;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::{EmptyQuery, IntegerStatistics, IntegerView};

impl PredictIntegers for RibbonSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        let counts = counts(statistics);
        match shape(*self, statistics, &counts) {
            Some(shape) => Ok(Layered { shape, counts: &counts, statistics }.predict()),
            None => {
                let room = statistics.max_bytes.saturating_sub(SHORT_HEADER_BYTES);
                let spill = predict_within(self.spill(), statistics, room).map_err(|small| TooSmall {
                    smallest_bytes: small.smallest_bytes + SHORT_HEADER_BYTES,
                })?;
                let payload_bytes = spill.payload_bytes + SHORT_HEADER_BYTES;
                Ok(Prediction { payload_bytes, probes: spill.probes + dearer_probes(&spill), ..spill })
            }
        }
    }
}

/// A question that the spill alone answers costs as much as Grafite's, which this family's constants do not know of: in probes.
fn dearer_probes(spill: &Prediction) -> f64 {
    let dearer_ns = GrafiteSpec::COSTS.integers_ns - RibbonSpec::COSTS.integers_ns;
    spill.fetches.min(1.0) * dearer_ns / RibbonSpec::COSTS.probe_ns
}

/// `spec`, if it may be the best: not where all keys would be spilled, which is Grafite with a longer way to it.
pub(crate) fn likely_layers<K: IntegerView + ?Sized>(
    known: &KeyStatistics<'_, K>,
    spec: RibbonSpec,
) -> Vec<RibbonSpec> {
    let statistics = known.view(K::integers);
    let is_layered = !statistics.is_settled && shape(spec, &statistics, &counts(&statistics)).is_some();
    if is_layered { vec![spec] } else { Vec::new() }
}

fn counts(statistics: &IntegerStatistics) -> BlockCounts {
    let pairs = statistics.pairs.len().max(1) as f64;
    let weight = (statistics.places - 1.0).max(1.0) / pairs;
    BlockCounts::of_pairs(statistics.pairs.iter().copied(), weight, statistics.places)
}

/// The shape that would be built; `None` if all keys would be spilled.
fn shape(spec: RibbonSpec, statistics: &IntegerStatistics, counts: &BlockCounts) -> Option<Shape> {
    let looked_at = if spec.is_unsampled() { &[][..] } else { &statistics.inside[..] };
    let lengths: Vec<f64> = looked_at.iter().map(|query| query.range_len()).collect();
    let (span, max_bytes) = (statistics.span(), statistics.max_bytes);
    Choice { spec, counts, span, max_bytes, room: max_bytes, lengths: &lengths }.best()
}

/// A filter with layers.
struct Layered<'a> {
    shape: Shape,
    counts: &'a BlockCounts,
    statistics: &'a IntegerStatistics,
}

impl Layered<'_> {
    fn predict(&self) -> Prediction {
        let max_blocks = max_blocks(self.shape.planes, self.shape.block_log2);
        let is_asked = |query: &EmptyQuery| self.blocks(query) <= max_blocks;
        let rate = |query: &EmptyQuery| match is_asked(query) {
            true => 1.0 - libm::exp(-self.uncertain_len(query) * self.shape.unit_rate),
            false => 1.0,
        };
        let if_asked = |query: &EmptyQuery, probes: f64| if is_asked(query) { probes } else { 0.0 };
        let statistics = self.statistics;
        #[expect(clippy::cast_possible_truncation, reason = "a size in memory; casts saturate")]
        let payload_bytes = self.shape.bytes.round() as usize;
        Prediction {
            rate: statistics.rate(rate),
            probes: statistics
                .mean(|query| if_asked(query, self.blocks(query) as f64 + self.spilled_blocks(query))),
            fetches: statistics.mean(|query| if_asked(query, 1.0 + self.spilled_blocks(query).min(1.0))),
            payload_bytes,
            bound: self.shape.rate_bound(),
        }
    }

    fn blocks(&self, query: &EmptyQuery) -> u64 {
        (query.hi >> self.shape.block_log2) - (query.lo >> self.shape.block_log2) + 1
    }

    /// Keys asked for that may be a "maybe": those outside of the blocks of the keys next to the query, and those inside
    /// if the key is not the only one in its block.
    fn uncertain_len(&self, query: &EmptyQuery) -> f64 {
        let outside = len_in_empty_blocks(query, self.shape.block_log2);
        outside + (query.range_len() - outside) * self.spilled_share(query)
    }

    /// Blocks of the query that ask the spill.
    fn spilled_blocks(&self, query: &EmptyQuery) -> f64 {
        let is_near = len_in_empty_blocks(query, self.shape.block_log2) < query.range_len();
        if is_near { self.spilled_share(query) } else { 0.0 }
    }

    /// The chance that a block with a key next to the query is spilled.
    fn spilled_share(&self, query: &EmptyQuery) -> f64 {
        let block = |key: u64| key >> self.shape.block_log2;
        let is_shared = query.below.zip(query.above).is_some_and(|(key, next)| block(key) == block(next));
        if is_shared { 1.0 } else { self.counts.spilled(self.shape.block_log2) / self.counts.keys() }
    }
}

/// Keys that are asked for outside of the blocks of the keys next to the query.
fn len_in_empty_blocks(query: &EmptyQuery, block_log2: u32) -> f64 {
    let block_len = 1_u64 << block_log2;
    let (mut lo, mut hi) = (query.lo, query.hi);
    let is_near = |key: Option<u64>, end: u64| key.is_some_and(|key| key >> block_log2 == end >> block_log2);
    if is_near(query.below, lo) {
        lo = (lo | (block_len - 1)).saturating_add(1);
    }
    if is_near(query.above, hi) {
        hi = (hi & !(block_len - 1)).saturating_sub(1);
    }
    if lo <= hi { (hi - lo) as f64 + 1.0 } else { 0.0 }
}

predicts_integers!(RibbonSpec);
