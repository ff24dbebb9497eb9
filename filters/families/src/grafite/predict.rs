//! Grafite's rate, from the size of its circle and the clumping of the keys.
//!
//! Each block of keys stands at a random place of the circle, so a query of n keys meets a key of another block with the
//! chance that the stretches of n values after all those keys cover its place. Stretches that overlap count once: keys
//! closer together than the query is long make Grafite better than its bound. Keys of the query's own block keep their
//! distance, and never disturb it.

use lacuna_base::{Prediction, RateBound};
use lacuna_succinct::elias_fano::encoded_len;

use super::builder::MAX_LAST;
use super::spec::GrafiteSpec;
use crate::integer_build::TooSmall;
use crate::largest::largest_within;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::{EmptyQuery, IntegerStatistics};

impl PredictIntegers for GrafiteSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        predict_within(*self, statistics, statistics.max_bytes)
    }
}

/// The last value of the largest circle for `count` places with this span in `max_bytes`, and its bytes; the span itself where all fits.
pub(crate) fn circle_within(
    spec: GrafiteSpec,
    span: u64,
    count: u64,
    max_bytes: usize,
) -> Result<(u64, usize), TooSmall> {
    let body_bytes = |last: u64| {
        spec.header_bytes() + encoded_len(count.min(last.saturating_add(1)), last, spec.geometry())
    };
    let last = largest_within(span, |last| body_bytes(last) <= max_bytes)
        .ok_or_else(|| TooSmall { smallest_bytes: body_bytes(0) })?;
    Ok((last, body_bytes(last)))
}

/// The prediction for a body of at most `max_bytes`.
pub(crate) fn predict_within(
    spec: GrafiteSpec,
    statistics: &IntegerStatistics,
    max_bytes: usize,
) -> Result<Prediction, TooSmall> {
    let (span, count) = (statistics.span(), statistics.place_count());
    let (last, payload_bytes) = circle_within(spec, span, count, max_bytes)?;
    let asked = statistics.mean(|_| 1.0);
    let exact = Prediction {
        rate: statistics.rate(|_| 0.0),
        probes: asked,
        fetches: asked,
        payload_bytes,
        bound: RateBound::EXACT,
    };
    if last == span {
        return Ok(exact);
    }
    let last = last.min(MAX_LAST);
    let block_log2 = (last + 1).ilog2().min(spec.max_block_log2());
    let blocks = Blocks { log2: block_log2, last, statistics };
    let rate = statistics.rate(|query| blocks.rate(query));
    let unit_rate = count as f64 / (last as f64 + 1.0);
    let bound = RateBound { unit_rate, max_len: (1_u64 << block_log2) as f64 };
    Ok(Prediction { rate, probes: statistics.mean(|query| blocks.parts(query)), bound, ..exact })
}

struct Blocks<'a> {
    log2: u32,
    last: u64,
    statistics: &'a IntegerStatistics,
}

impl Blocks<'_> {
    fn rate(&self, query: &EmptyQuery) -> f64 {
        let (first, last) = (query.lo >> self.log2, query.hi >> self.log2);
        if last - first > 1 {
            return 1.0;
        }
        let len = query.range_len();
        let covered = self.statistics.gaps.covered(len) + len;
        let own =
            self.statistics.share_between(first << self.log2, (last << self.log2) | ((1 << self.log2) - 1));
        1.0 - libm::exp(-covered * (1.0 - own) / (self.last as f64 + 1.0))
    }

    /// Searches: one for each block, and one more around the end of the circle.
    fn parts(&self, query: &EmptyQuery) -> f64 {
        let blocks = if query.lo >> self.log2 == query.hi >> self.log2 { 1.0 } else { 2.0 };
        blocks + (query.range_len() / (self.last as f64 + 1.0)).min(1.0)
    }
}

predicts_integers!(GrafiteSpec);
