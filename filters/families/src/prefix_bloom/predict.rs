//! The rate of a prefix Bloom filter, from the number of distinct prefixes and the queries' neighbours.
//!
//! A query whose end shares its prefix with a key is "maybe"; any other asks for its prefixes one by one.

use lacuna_base::{Prediction, RateBound};

use super::codec::HEADER_BYTES;
use super::lengths::likeliest_dropped_bits;
use super::spec::PrefixBloomSpec;
use crate::bloom::{BloomSpec, PointFacts, waits_for};
use crate::integer_build::TooSmall;
use crate::predict::{PredictIntegers, predicts_integers};
use crate::statistics::{EmptyQuery, IntegerStatistics};

impl PredictIntegers for PrefixBloomSpec {
    fn predict_body(&self, statistics: &IntegerStatistics) -> Result<Prediction, TooSmall> {
        let dropped = match self.prefix_bits() {
            Some(bits) => statistics.key_bits.saturating_sub(bits),
            None => likeliest_dropped_bits(statistics),
        };
        let prefixes = statistics.nodes.nodes(dropped) as f64;
        let facts = PointFacts::standard(BloomSpec::new(), prefixes, statistics.max_bytes - HEADER_BYTES);
        let points = |query: &EmptyQuery| ((query.hi >> dropped) - (query.lo >> dropped)).saturating_add(1);
        let is_crowded = |query: &EmptyQuery| query.is_crowded(|key| key >> dropped);
        let asked = statistics.mean(|query| facts.asked_of(points(query)));
        Ok(Prediction {
            rate: statistics.rate(|query| if is_crowded(query) { 1.0 } else { facts.rate_of(points(query)) }),
            probes: asked * facts.probes,
            fetches: statistics.mean(|query| waits_for(facts.asked_of(points(query)))),
            payload_bytes: statistics.max_bytes,
            bound: RateBound::NONE,
        })
    }
}

predicts_integers!(PrefixBloomSpec);
