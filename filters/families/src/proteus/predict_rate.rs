//! The prediction that all families give, from the model's own.

use lacuna_base::{KeyStatistics, PredictRate, Prediction, Result};

use super::design::ProteusPrediction;
use super::space::PrefixSpace;
use super::spec::ProteusSpec;
use crate::bloom::waits_for;
use crate::predict::modelled;

/// Upper levels of the trie that are small enough to stay in caches.
const CACHED_LEVELS: f64 = 2.0;
/// Lines that a walk waits for in each of the others; for one in all at least.
const LEVEL_FETCHES: f64 = 0.6;
/// A level of the trie, in bits of a Bloom filter looked at; measured with `designer_costs`.
const LEVEL_PROBES: f64 = 1.5;
/// Bits that an absent prefix is asked for in a Bloom filter half of whose bits are ones.
const BITS_A_PREFIX: f64 = 2.0;

impl ProteusPrediction {
    pub(crate) fn into_prediction(self, key_count: usize) -> Prediction {
        let design = self.design;
        let rate = if self.sampled == 0 { 0.0 } else { design.rate };
        let levels = f64::from(design.trie_bits.div_ceil(8));
        let walk =
            if design.trie_bits > 0 { ((levels - CACHED_LEVELS) * LEVEL_FETCHES).max(1.0) } else { 0.0 };
        let probes = levels * LEVEL_PROBES + design.prefixes * BITS_A_PREFIX;
        modelled(rate, probes, walk + waits_for(design.prefixes), self.bits_per_key, key_count)
    }
}

impl<K: PrefixSpace + ?Sized> PredictRate<K> for ProteusSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, K>) -> Result<Prediction> {
        let keys = statistics.keys();
        Ok(self.predict::<K>(keys, statistics.plan()).into_prediction(keys.len()))
    }
}
