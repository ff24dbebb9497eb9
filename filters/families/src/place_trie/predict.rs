//! The rate of a place trie on the queries that decide, and its size.

use lacuna_base::{Budget, Error, KeyStatistics, PredictRate, Prediction, RateBound, Result};

use super::design::{Expected, Facts, Size};
use super::space::PlaceSpace;
use super::spec::PlaceTrieSpec;
use crate::family::FilterFamily as _;

/// Probes of a block whose first leaf is compared, of a leaf that is followed being one; and of a place, whose bytes are walked.
const HEAD_PROBES: f64 = 4.0;
const PLACE_PROBES: f64 = 30.0;
/// Lines that a question waits for beyond the first two, for each power of two of blocks beyond some that stay in the caches.
const SEARCH_FETCHES: f64 = 0.4;
const CACHED_LOG2: f64 = 5.0;

/// What is expected of a filter, with its view: the percentage of its map, and bytes beside the body.
pub(super) struct Chosen {
    pub(super) map_percent: u32,
    pub(super) expected: Expected,
    beside_bytes: usize,
}

/// The best of the views and edges that `spec` leaves open, for a payload of `max_bytes`.
pub(super) fn choose<K: PlaceSpace + ?Sized>(
    spec: &PlaceTrieSpec,
    known: &KeyStatistics<'_, K>,
    max_bytes: usize,
) -> Option<Chosen> {
    let views = K::views(known.keys(), max_bytes, spec.map_percent());
    let chosen = views.iter().filter_map(|(map_percent, view)| {
        let beside_bytes = K::section_bytes(view);
        let room = max_bytes.checked_sub(beside_bytes)?;
        let facts = Facts::of::<K>(known, view);
        let expected = match spec.edge() {
            Some(edge) => facts.expected(edge, spec.tail(), room),
            None => facts.best(spec.tail(), room),
        };
        Some(Chosen { map_percent: *map_percent, expected: expected?, beside_bytes })
    });
    chosen.min_by(|a, b| a.expected.rate.total_cmp(&b.expected.rate))
}

impl Chosen {
    fn prediction(&self, asked: f64) -> Prediction {
        let Expected { rate, size: Size { body_bytes, block_leaves, blocks }, .. } = self.expected;
        let steps = libm::log2(blocks) + 1.0;
        let probes = steps * HEAD_PROBES + block_leaves / 2.0 + 2.0 * PLACE_PROBES;
        let fetches = 2.0 + SEARCH_FETCHES * (steps - CACHED_LOG2).max(0.0);
        Prediction {
            rate,
            probes: asked * probes,
            fetches: asked * fetches,
            payload_bytes: body_bytes + self.beside_bytes,
            bound: RateBound::NONE,
        }
    }
}

fn predict<K: PlaceSpace + ?Sized>(spec: &PlaceTrieSpec, known: &KeyStatistics<'_, K>) -> Result<Prediction> {
    let keys = known.keys();
    let max_bytes = known.plan().budget().payload_bytes(keys.len());
    if K::has_no_body(keys.len()) {
        let payload_bytes =
            K::views(keys, max_bytes, None).iter().map(|(_, view)| K::section_bytes(view)).sum();
        return Ok(Prediction {
            rate: 0.0,
            probes: 0.0,
            fetches: 0.0,
            payload_bytes,
            bound: RateBound::EXACT,
        });
    }
    let asked = if known.queries().is_empty() { 0.0 } else { 1.0 };
    let chosen = choose(spec, known, max_bytes).ok_or_else(|| {
        let bits_per_key = Budget::smallest_for(2 * max_bytes, keys.len());
        Error::budget_too_small(PlaceTrieSpec::KIND.name(), bits_per_key)
    })?;
    Ok(chosen.prediction(asked))
}

/// The design for the queries of `known`, and what is expected of it; `None` without a query between two keys.
pub(crate) fn likely_design(known: &KeyStatistics<'_, [u8]>) -> Option<(PlaceTrieSpec, Prediction)> {
    if !known.has_query_between_keys() {
        return None;
    }
    let max_bytes = known.plan().budget().payload_bytes(known.keys().len());
    let chosen = choose(&PlaceTrieSpec::new(), known, max_bytes)?;
    let spec = PlaceTrieSpec::new().with_edge(chosen.expected.edge);
    let spec = if chosen.map_percent > 0 { spec.with_map_percent(chosen.map_percent) } else { spec };
    Some((spec, chosen.prediction(1.0)))
}

impl PredictRate<u64> for PlaceTrieSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        predict(self, statistics)
    }
}

impl PredictRate<[u8]> for PlaceTrieSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        predict(self, statistics)
    }
}
