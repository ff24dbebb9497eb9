//! The rates of both Bloom filters, from the number of keys and the lengths of the queries.
//!
//! A query of one key is a false positive if its bits are all set by others; one of n keys has n chances. Over integers
//! up to [`MAX_POINTS`] keys are asked one by one, over byte strings only single keys; anything else is "maybe".

use lacuna_base::{Budget, ByteRange, KeyStatistics, PredictRate, Prediction, RateBound, Result};

use super::MAX_POINTS;
use super::blocked;
use super::codec::{BLOCKED_HEADER_BYTES, HEADER_BYTES, LINE_BYTES};
use super::spec::{BlockedBloomSpec, BloomSpec};
use crate::estimate::power;
use crate::frame::{window_for, window_section_bytes};
use crate::statistics::{IntegerView, place_in};

/// Share of a wait that each further key of a range costs, measured with `designer_costs`.
const OVERLAPPED: f64 = 0.04;

/// Lines waited for while asking for `asked` keys, or for that many on average: the processor starts the next key before
/// it knows the last one.
pub(crate) fn waits_for(asked: f64) -> f64 {
    asked.min(1.0) + OVERLAPPED * (asked - 1.0).max(0.0)
}

/// The chance of a "maybe" and the cost when one absent key is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointFacts {
    /// Chance of a "maybe".
    pub(crate) rate: f64,
    /// Bits looked at.
    pub(crate) probes: f64,
    pub(crate) payload_bytes: usize,
}

impl PointFacts {
    /// A standard filter of `body_bytes` over `key_count` distinct keys.
    pub(crate) fn standard(spec: BloomSpec, key_count: f64, body_bytes: usize) -> Self {
        let bits = (body_bytes - HEADER_BYTES) as f64 * 8.0;
        let hash_count = spec.hash_count(bits / key_count);
        let ones = 1.0 - libm::exp(-key_count * f64::from(hash_count) / bits);
        let probes = (0..hash_count).map(|bit| power(ones, bit)).sum();
        Self { rate: power(ones, hash_count), probes, payload_bytes: body_bytes }
    }

    /// A blocked filter of at most `body_bytes`; one without room for two lines is written as a standard one.
    fn blocked(key_count: f64, body_bytes: usize) -> Self {
        let lines = body_bytes.saturating_sub(BLOCKED_HEADER_BYTES) / LINE_BYTES;
        if lines < 2 {
            return Self::standard(BloomSpec::new(), key_count, body_bytes);
        }
        let hash_count = blocked::hash_count((lines * LINE_BYTES * 8) as f64 / key_count);
        let rate = blocked::rate(key_count, lines as f64, hash_count);
        Self { rate, probes: 1.0, payload_bytes: BLOCKED_HEADER_BYTES + lines * LINE_BYTES }
    }

    /// Chance of a "maybe" for `points` absent keys asked one by one; too many are not asked.
    pub(crate) fn rate_of(self, points: u64) -> f64 {
        match u32::try_from(points) {
            Ok(points) if u64::from(points) <= MAX_POINTS => 1.0 - power(1.0 - self.rate, points),
            _ => 1.0,
        }
    }

    /// Keys asked until one of `points` absent ones is a "maybe"; none if they are too many.
    pub(crate) fn asked_of(self, points: u64) -> f64 {
        match points {
            points if points > MAX_POINTS => 0.0,
            // So rare that the difference is below the precision of a float.
            points if self.rate < 1e-9 => points as f64,
            points => self.rate_of(points) / self.rate,
        }
    }
}

pub(crate) fn predict_integers(
    known: &KeyStatistics<'_, u64>,
    facts: impl Fn(f64, usize) -> PointFacts,
) -> Prediction {
    let statistics = known.view(u64::integers);
    let facts = facts(known.keys().len().max(1) as f64, statistics.max_bytes);
    let points = |lo: u64, hi: u64| (hi - lo).saturating_add(1);
    let asked = statistics.mean(|query| facts.asked_of(points(query.lo, query.hi)));
    Prediction {
        rate: statistics.rate(|query| facts.rate_of(points(query.lo, query.hi))),
        probes: asked * facts.probes,
        fetches: statistics.mean(|query| waits_for(facts.asked_of(points(query.lo, query.hi)))),
        payload_bytes: facts.payload_bytes,
        bound: RateBound::NONE,
    }
}

pub(crate) fn predict_strings(
    known: &KeyStatistics<'_, [u8]>,
    facts: impl Fn(f64, usize) -> PointFacts,
) -> Prediction {
    let keys = known.keys();
    let max_bytes = known.plan().budget().payload_bytes(keys.len());
    let window = window_for(keys, (max_bytes - Budget::FIXED_BYTES) / 4);
    let ends = (
        keys.first().map_or(0, |key| place_in(window, key)),
        keys.last().map_or(0, |key| place_in(window, key)),
    );
    let section_bytes = window_section_bytes(window);
    let facts = facts(keys.len().max(1) as f64, max_bytes - section_bytes);
    let (mut points, mut ranges) = (0usize, 0usize);
    for query in known.queries() {
        let range = ByteRange::new(query.lo, query.hi).expect("samples hold no inverted query");
        let is_settled = window.cover(range).is_none_or(|cover| cover.lo() > ends.1 || cover.hi() < ends.0);
        points += usize::from(!is_settled && query.lo == query.hi);
        ranges += usize::from(!is_settled && query.lo != query.hi);
    }
    let total = known.queries().len().max(1) as f64;
    let asked = points as f64 / total;
    Prediction {
        rate: ranges as f64 / total + asked * facts.rate,
        probes: asked * facts.probes,
        fetches: asked,
        payload_bytes: facts.payload_bytes + section_bytes,
        bound: RateBound::NONE,
    }
}

impl PredictRate<u64> for BloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        Ok(predict_integers(statistics, |keys, bytes| PointFacts::standard(*self, keys, bytes)))
    }
}

impl PredictRate<[u8]> for BloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        Ok(predict_strings(statistics, |keys, bytes| PointFacts::standard(*self, keys, bytes)))
    }
}

impl PredictRate<u64> for BlockedBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        Ok(predict_integers(statistics, PointFacts::blocked))
    }
}

impl PredictRate<[u8]> for BlockedBloomSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        Ok(predict_strings(statistics, PointFacts::blocked))
    }
}
