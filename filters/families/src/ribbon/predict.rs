//! The ribbon filter's rate, from its shape and the blocks of the keys next to a query.
//!
//! In a block without a key a query of n keys is "maybe" with the same chance wherever it is; in a block with a key the
//! position is known, so that a query beside it is denied.

use lacuna_base::Prediction;

use super::codec::SHORT_HEADER_BYTES;
use super::counts::BlockCounts;
use super::shape::{Choice, Shape, max_blocks};
use super::spec::RibbonSpec;
use crate::grafite::{GrafiteSpec, predict_within};
use crate::integer_build::TooSmall;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::{EmptyQuery, IntegerStatistics};

impl PredictIntegers for RibbonSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        let pairs = statistics.pairs.len().max(1) as f64;
        let weight = (statistics.places - 1.0).max(1.0) / pairs;
        let counts = BlockCounts::of_pairs(statistics.pairs.iter().copied(), weight, statistics.places);
        let lengths: Vec<f64> = statistics.inside.iter().map(|query| query.range_len()).collect();
        let (span, max_bytes) = (statistics.span(), statistics.max_bytes);
        let choice = Choice { spec: *self, counts: &counts, span, max_bytes, lengths: &lengths };
        match choice.best() {
            Some(shape) => Ok(predict_layers(shape, statistics)),
            None => {
                let room = max_bytes.saturating_sub(SHORT_HEADER_BYTES);
                let spill = predict_within(GrafiteSpec::new(), statistics, room).map_err(|small| {
                    TooSmall { smallest_bytes: small.smallest_bytes + SHORT_HEADER_BYTES }
                })?;
                Ok(Prediction { payload_bytes: spill.payload_bytes + SHORT_HEADER_BYTES, ..spill })
            }
        }
    }
}

fn predict_layers(shape: Shape, statistics: &IntegerStatistics) -> Prediction {
    let blocks = |query: &EmptyQuery| (query.hi >> shape.block_log2) - (query.lo >> shape.block_log2) + 1;
    let max_blocks = max_blocks(shape.planes, shape.block_log2);
    let rate = |query: &EmptyQuery| {
        let uncertain = match blocks(query) {
            blocks if blocks > max_blocks => return 1.0,
            _ => len_in_empty_blocks(query, shape.block_log2),
        };
        1.0 - libm::exp(-uncertain * shape.unit_rate)
    };
    let probes = |query: &EmptyQuery| match blocks(query) {
        blocks if blocks > max_blocks => 0.0,
        blocks => blocks as f64,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a size in memory; casts saturate")]
    let payload_bytes = shape.bytes.round() as usize;
    Prediction {
        rate: statistics.rate(rate),
        probes: statistics.mean(probes),
        fetches: statistics.mean(|query| probes(query).min(1.0)),
        payload_bytes,
        is_robust: true,
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
