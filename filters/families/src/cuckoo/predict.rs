//! The rate of a cuckoo filter, from the number of keys and the lengths of the queries.

use lacuna_base::{Budget, Error, KeyStatistics, PredictRate, Prediction, Result};

use super::builder::shape_within;
use super::codec::{HEADER_BYTES, padding};
use super::shape::Shape;
use super::spec::CuckooSpec;
use super::table::buckets_for;
use crate::bloom::{PointFacts, predict_integers, predict_strings};
use crate::family::FilterFamily as _;

impl CuckooSpec {
    /// The chance of a "maybe" and the cost when one absent key among `key_count` is asked for.
    fn facts(self, key_count: usize, body_bytes: usize) -> Result<PointFacts> {
        let shape = shape_within(self, key_count, body_bytes).ok_or_else(|| {
            let min = Shape::new(Shape::MIN_BITS, buckets_for(key_count as u64));
            #[expect(
                clippy::cast_possible_truncation,
                reason = "about as many bytes as there are keys in memory"
            )]
            let bytes = HEADER_BYTES + min.bytes_of(min.base) as usize + padding(min);
            Error::budget_too_small(CuckooSpec::KIND.name(), Budget::smallest_for(bytes, key_count))
        })?;
        #[expect(clippy::cast_possible_truncation, reason = "at most the body")]
        let payload_bytes = HEADER_BYTES + shape.bytes_of(shape.base) as usize + padding(shape);
        Ok(PointFacts { rate: shape.rate(key_count as f64), probes: 2.0, payload_bytes })
    }
}

impl PredictRate<u64> for CuckooSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        let keys = statistics.keys().len().max(1);
        let facts = self.facts(keys, statistics.plan().budget().payload_bytes(keys))?;
        Ok(predict_integers(statistics, |_, _| facts))
    }
}

impl PredictRate<[u8]> for CuckooSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        let keys = statistics.keys().len().max(1);
        let beside = 3;
        let facts = self.facts(keys, statistics.plan().budget().payload_bytes(keys) - beside)?;
        Ok(predict_strings(statistics, |_, bytes| self.facts(keys, bytes).unwrap_or(facts)))
    }
}
