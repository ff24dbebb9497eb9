//! The rate on a sample, predicted from the keys next to each query instead of from a filter.
//!
//! An empty query is "maybe" only if an end of it has the position of the key next to it. So the prediction is exact
//! for the number of positions it assumes, which is the one that a few blocks were measured to allow.

use lacuna_base::{Budget, BuildPlan, Error, KeyStatistics, PredictRate, Prediction, Result, SortedKeys};

use super::fit::{Cut, Fit};
use super::spec::SnarfSpec;
use super::spline::Segment;
use crate::family::FilterFamily as _;
use crate::integer_sample::{InnerQuery, IntegerSample};
use crate::predict::modelled;

/// The prediction for a filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SnarfPrediction {
    /// Share of the sample's empty queries that would be "maybe"; 0 without any.
    pub rate: f64,
    /// Numbers of a block that an empty query reads, in the mean.
    pub probes_per_query: f64,
    /// Payload bits for each key, at most.
    pub bits_per_key: f64,
}

pub(crate) fn predict_u64(
    spec: SnarfSpec,
    keys: SortedKeys<'_, u64>,
    plan: &BuildPlan<u64>,
) -> Result<SnarfPrediction> {
    predict(spec, &IntegerSample::of_integers(keys, plan))
}

pub(crate) fn predict_bytes(
    spec: SnarfSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<SnarfPrediction> {
    predict(spec, &IntegerSample::of_strings(keys, plan))
}

pub(super) fn predict(spec: SnarfSpec, sample: &IntegerSample<'_>) -> Result<SnarfPrediction> {
    if sample.is_settled() {
        return Ok(SnarfPrediction {
            rate: sample.rate(0.0),
            probes_per_query: 0.0,
            bits_per_key: sample.bits_per_key(0),
        });
    }
    let cut = Cut { keys: &sample.integers, block_keys: spec.block_keys() };
    let fit = Fit::within(cut, sample.max_bytes).map_err(|small| {
        let payload_bytes = small.smallest_bytes + sample.section_bytes;
        Error::budget_too_small(SnarfSpec::KIND.name(), Budget::smallest_for(payload_bytes, sample.key_count))
    })?;
    let positives = sample.inner.iter().filter(|query| is_maybe(cut, fit, query)).count();
    let probes: usize = sample.inner.iter().map(|query| numbers_read(cut, query)).sum();
    Ok(SnarfPrediction {
        rate: sample.rate(positives as f64),
        probes_per_query: probes as f64 / sample.empty_count.max(1) as f64,
        bits_per_key: sample.bits_per_key(sample.max_bytes.min(fit.body_bytes(cut))),
    })
}

/// Whether an end of the query has the position of the key next to it.
fn is_maybe(cut: Cut<'_>, fit: Fit, query: &InnerQuery) -> bool {
    let before = query.next - 1;
    let (knot, inner, next_knot) = cut.block(before / cut.block_keys);
    let segment = Segment::new(knot, next_knot, fit.positions);
    let shares = |key: u64, end: u64| segment.position(key) == segment.position(end);
    let place = before % cut.block_keys;
    let behind_inner = place > 0 && shares(inner[place - 1], query.lo);
    behind_inner || inner.get(place).is_some_and(|&key| shares(key, query.hi))
}

/// Numbers of the block up to the first that is not before the query, itself included.
fn numbers_read(cut: Cut<'_>, query: &InnerQuery) -> usize {
    let before = query.next - 1;
    let inner = cut.block(before / cut.block_keys).1.len();
    (before % cut.block_keys + 1).min(inner)
}

/// Lines an inner query waits for: two of the search among knots that no cache holds, and the block.
const FETCHES: f64 = 3.0;

impl SnarfPrediction {
    pub(crate) fn into_prediction(self, key_count: usize) -> Prediction {
        let asked = self.probes_per_query.min(1.0);
        modelled(self.rate, self.probes_per_query, FETCHES * asked, self.bits_per_key, key_count)
    }
}

impl PredictRate<u64> for SnarfSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        let keys = statistics.keys();
        predict_u64(*self, keys, statistics.plan()).map(|prediction| prediction.into_prediction(keys.len()))
    }
}

impl PredictRate<[u8]> for SnarfSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        let keys = statistics.keys();
        predict_bytes(*self, keys, statistics.plan()).map(|prediction| prediction.into_prediction(keys.len()))
    }
}
