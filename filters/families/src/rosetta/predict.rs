//! The rate on a sample, from the design alone.

use lacuna_base::{Budget, BuildPlan, Error, KeyStatistics, PredictRate, Prediction, Result, SortedKeys};

use super::builder::Design;
use super::model::Cover;
use super::spec::RosettaSpec;
use crate::family::FilterFamily as _;
use crate::integer_sample::IntegerSample;
use crate::predict::modelled;

/// Share of a wait that each further node of a walk costs, which goes on before the answer is known; measured with
/// `designer_costs`.
const OVERLAPPED: f64 = 0.1;

/// The prediction for a filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RosettaPrediction {
    /// Share of the sample's empty queries that would be "maybe"; 0 without any.
    pub rate: f64,
    /// Prefixes that an empty query asks for, in the mean.
    pub probes_per_query: f64,
    /// Payload bits for each key.
    pub bits_per_key: f64,
}

pub(crate) fn predict_u64(
    spec: RosettaSpec,
    keys: SortedKeys<'_, u64>,
    plan: &BuildPlan<u64>,
) -> Result<RosettaPrediction> {
    predict(spec, &IntegerSample::of_integers(keys, plan))
}

pub(crate) fn predict_bytes(
    spec: RosettaSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<RosettaPrediction> {
    predict(spec, &IntegerSample::of_strings(keys, plan))
}

fn predict(spec: RosettaSpec, sample: &IntegerSample<'_>) -> Result<RosettaPrediction> {
    if sample.is_settled() {
        return Ok(RosettaPrediction {
            rate: sample.rate(0.0),
            probes_per_query: 0.0,
            bits_per_key: sample.bits_per_key(0),
        });
    }
    let design = Design::new(spec, &sample.integers, sample.max_bytes, &sample.ranges).map_err(|small| {
        let payload_bytes = small.smallest_bytes + sample.section_bytes;
        Error::budget_too_small(
            RosettaSpec::KIND.name(),
            Budget::smallest_for(payload_bytes, sample.key_count),
        )
    })?;
    let (mut positives, mut probes) = (0.0, 0.0);
    for query in &sample.inner {
        let expected = design.model.expected(&Cover::of(query.lo, query.hi));
        positives += expected.rate;
        probes += expected.probes;
    }
    Ok(RosettaPrediction {
        rate: sample.rate(positives),
        probes_per_query: probes / sample.empty_count.max(1) as f64,
        bits_per_key: sample.bits_per_key(design.header(0, 1).body_bytes()),
    })
}

impl RosettaPrediction {
    /// Each node is a bit of a Bloom filter somewhere else, and half of the absent ones end at the first.
    fn into_prediction(self, key_count: usize) -> Prediction {
        let nodes = self.probes_per_query;
        let fetches = nodes.min(1.0) + OVERLAPPED * (nodes - 1.0).max(0.0);
        modelled(self.rate, nodes * 2.0, fetches, self.bits_per_key, key_count)
    }
}

impl PredictRate<u64> for RosettaSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        let keys = statistics.keys();
        predict_u64(*self, keys, statistics.plan()).map(|prediction| prediction.into_prediction(keys.len()))
    }
}

impl PredictRate<[u8]> for RosettaSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        let keys = statistics.keys();
        predict_bytes(*self, keys, statistics.plan()).map(|prediction| prediction.into_prediction(keys.len()))
    }
}
