//! The ribbon filter's rate, from its shape and the blocks of the keys next to a query.
//!
//! In a block without a key a query of n keys is "maybe" with the same chance wherever it is; in a block with one key the
//! position is known, so that a query beside it is denied. Where several keys share a block, the spill decides, at the rate of
//! any block. In cells, a query that shares one with a key is "maybe". Two halves are hashed apart: their chances are multiplied.

use lacuna_base::{Prediction, RateBound};

use super::codec::{HALVES_HEADER_BYTES, SHORT_HEADER_BYTES};
use super::counts::BlockCounts;
use super::part::{Part, near_bytes};
use super::shape::{Choice, Shape, max_blocks};
use super::spec::RibbonSpec;
use crate::family::FilterFamily as _;
use crate::grafite::{GrafiteSpec, circle_within, predict_within};
use crate::integer_build::TooSmall;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::{EmptyQuery, IntegerStatistics};

impl PredictIntegers for RibbonSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        match predict_layers(*self, statistics) {
            Some(prediction) => Ok(prediction),
            None => predict_spilled(*self, statistics),
        }
    }
}

/// The prediction for a filter with layers; `None` where all keys of a part would be spilled.
pub(super) fn predict_layers(spec: RibbonSpec, statistics: &IntegerStatistics) -> Option<Prediction> {
    let max_bytes = statistics.max_bytes;
    let Some(percent) = spec.near_percent() else {
        return Some(Layered::of(spec, Part::whole(spec), statistics, max_bytes)?.predict());
    };
    let room = max_bytes.checked_sub(HALVES_HEADER_BYTES)?;
    let near = Layered::of(spec, Part::near(spec), statistics, near_bytes(room, percent))?;
    let far = Layered::of(spec, Part::far(spec), statistics, room.saturating_sub(near.payload_bytes()))?;
    // The far half is asked where the near one says "maybe".
    Some(Prediction {
        rate: statistics.rate(|query| near.rate(query) * far.rate(query)),
        probes: statistics.mean(|query| near.probes(query) + near.rate(query) * far.probes(query)),
        fetches: statistics.mean(|query| near.fetches(query) + near.rate(query) * far.fetches(query)),
        payload_bytes: HALVES_HEADER_BYTES + near.payload_bytes() + far.payload_bytes(),
        bound: near.shape.rate_bound(),
    })
}

/// The prediction for a filter that spills all keys. Of two halves it is that of the near one alone, which is what a budget that holds
/// no two halves gives; where one half of two is spilled, it is a rough one ([`likely_forms`](super::likely_forms) offers none).
fn predict_spilled(spec: RibbonSpec, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
    let room = statistics.max_bytes.saturating_sub(SHORT_HEADER_BYTES);
    let beside_header =
        |small: TooSmall| TooSmall { smallest_bytes: small.smallest_bytes + SHORT_HEADER_BYTES };
    let part = Part::whole(spec);
    if part.cell_log2 > 0 && spec.near_percent().is_none() {
        return predict_spilled_cells(spec.spill(), part.cell_log2, statistics, room).map_err(beside_header);
    }
    let spill = predict_within(spec.spill(), statistics, room).map_err(beside_header)?;
    let payload_bytes = spill.payload_bytes + SHORT_HEADER_BYTES;
    Ok(Prediction { payload_bytes, probes: spill.probes + dearer_probes(&spill), ..spill })
}

/// The same of cells: so few of them that Grafite over them is smaller than layers.
fn predict_spilled_cells(
    spec: GrafiteSpec,
    cell_log2: u32,
    statistics: &IntegerStatistics,
    room: usize,
) -> Result<Prediction, TooSmall> {
    let span = (statistics.largest >> cell_log2) - (statistics.smallest >> cell_log2);
    let cells = counts(statistics, cell_log2).keys();
    #[expect(clippy::cast_possible_truncation, reason = "at most the number of keys; casts saturate")]
    let count = cells.round() as u64;
    let (last, bytes) = circle_within(spec, span, count, room)?;
    let unit_rate = if last == span { 0.0 } else { cells / (last as f64 + 1.0) };
    let asked = statistics.mean(|_| 1.0);
    let spill = Prediction {
        rate: statistics.rate(|query| {
            let query = query.in_cells(cell_log2);
            if query.is_apart() { 1.0 - libm::exp(-query.range_len() * unit_rate) } else { 1.0 }
        }),
        probes: asked,
        fetches: asked,
        payload_bytes: bytes + SHORT_HEADER_BYTES,
        bound: RateBound::NONE,
    };
    Ok(Prediction { probes: asked + dearer_probes(&spill), ..spill })
}

/// A question that the spill alone answers costs as much as Grafite's, which this family's constants do not know of: in probes.
fn dearer_probes(spill: &Prediction) -> f64 {
    let dearer_ns = GrafiteSpec::COSTS.integers_ns - RibbonSpec::COSTS.integers_ns;
    spill.fetches.min(1.0) * dearer_ns / RibbonSpec::COSTS.probe_ns
}

/// How the sampled keys fall into blocks of cells.
fn counts(statistics: &IntegerStatistics, cell_log2: u32) -> BlockCounts {
    let pairs = statistics.pairs.len().max(1) as f64;
    let weight = (statistics.places - 1.0).max(1.0) / pairs;
    if cell_log2 == 0 {
        return BlockCounts::of_pairs(statistics.pairs.iter().copied(), weight, statistics.places);
    }
    let cells = statistics.pairs.iter().map(|(key, next)| (key >> cell_log2, next >> cell_log2));
    let apart: Vec<(u64, u64)> = cells.filter(|(cell, next)| cell < next).collect();
    let count = 1.0 + apart.len() as f64 * weight;
    BlockCounts::of_pairs(apart.into_iter(), weight, count)
}

/// A part with layers.
struct Layered<'a> {
    part: Part,
    shape: Shape,
    counts: BlockCounts,
    statistics: &'a IntegerStatistics,
}

impl<'a> Layered<'a> {
    /// The part that would be built in `max_bytes`; `None` if all its keys would be spilled.
    fn of(spec: RibbonSpec, part: Part, statistics: &'a IntegerStatistics, max_bytes: usize) -> Option<Self> {
        let looked_at = if spec.is_unsampled() { &[][..] } else { &statistics.inside[..] };
        let lengths = part.lengths(looked_at.iter().map(|query| (query.lo, query.hi)));
        let counts = counts(statistics, part.cell_log2);
        let span = (statistics.largest >> part.cell_log2) - (statistics.smallest >> part.cell_log2);
        let choice = Choice { spec, counts: &counts, span, max_bytes, room: max_bytes, lengths: &lengths };
        let shape = choice.best()?;
        Some(Self { part, shape, counts, statistics })
    }

    /// The prediction for a filter of this part alone.
    fn predict(&self) -> Prediction {
        let statistics = self.statistics;
        let bound = if self.part.cell_log2 == 0 { self.shape.rate_bound() } else { RateBound::NONE };
        Prediction {
            rate: statistics.rate(|query| self.rate(query)),
            probes: statistics.mean(|query| self.probes(query)),
            fetches: statistics.mean(|query| self.fetches(query)),
            payload_bytes: self.payload_bytes(),
            bound,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a size in memory; casts saturate")]
    fn payload_bytes(&self) -> usize {
        self.shape.bytes.round() as usize
    }

    /// The chance of a "maybe".
    fn rate(&self, query: &EmptyQuery) -> f64 {
        let query = self.in_cells(query);
        match query.is_apart() && self.is_asked(&query) {
            true => 1.0 - libm::exp(-self.uncertain_len(&query) * self.shape.unit_rate),
            false => 1.0,
        }
    }

    fn probes(&self, query: &EmptyQuery) -> f64 {
        let query = self.in_cells(query);
        let probes = self.blocks(&query) as f64 + self.spilled_blocks(&query);
        if self.is_asked(&query) { probes } else { 0.0 }
    }

    fn fetches(&self, query: &EmptyQuery) -> f64 {
        let query = self.in_cells(query);
        if self.is_asked(&query) { 1.0 + self.spilled_blocks(&query).min(1.0) } else { 0.0 }
    }

    fn in_cells(&self, query: &EmptyQuery) -> EmptyQuery {
        query.in_cells(self.part.cell_log2)
    }

    /// Whether it has no more blocks than are asked.
    fn is_asked(&self, query: &EmptyQuery) -> bool {
        self.blocks(query) <= max_blocks(self.shape.planes, self.shape.block_log2)
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
