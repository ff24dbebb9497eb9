//! Families that have a model of their own: it chooses the parameters and gives the prediction at once.
//!
//! Their models look at every sampled query; here they are given those that all predictions are made for.

use lacuna_base::{
    BuildFromKeys, BuildPlan, KeySpace, KeyStatistics, Prediction, Result, Sealed, SortedKeys,
};

use super::candidates::CandidateSpec;
use crate::integer_sample::IntegerSample;
use crate::multi_prefix_bloom;
use crate::place_trie;
use crate::proteus::PrefixSpace;
use crate::{ProteusSpec, SnarfSpec};

/// A spec whose prediction is known.
#[derive(Debug)]
pub(super) struct Modelled<S> {
    pub(super) spec: S,
    pub(super) prediction: Prediction,
}

impl<K: KeySpace + ?Sized, S: BuildFromKeys<K>> CandidateSpec<K> for Modelled<S> {
    fn text(&self) -> String {
        self.spec.spec_name()
    }
    fn predict(&self, _known: &KeyStatistics<'_, K>) -> Result<Prediction> {
        Ok(self.prediction)
    }
    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed> {
        self.spec.build_from(keys, plan)
    }
}

/// Proteus with the lengths that its model chooses; none without a query.
pub(super) fn proteus<K: PrefixSpace + ?Sized>(known: &KeyStatistics<'_, K>) -> Vec<Box<dyn CandidateSpec<K>>>
where
    ProteusSpec: BuildFromKeys<K>,
{
    let few = ProteusSpec::new().looking_at(KeyStatistics::<K>::MAX_PAIRS);
    let prediction = K::predict_known(&few, known);
    if prediction.sampled == 0 {
        return Vec::new();
    }
    let design = prediction.design;
    let spec = ProteusSpec::new().with_trie_bits(design.trie_bits).with_bloom_bits(design.bloom_bits);
    vec![Box::new(Modelled { spec, prediction: prediction.into_prediction(known.keys().len()) })]
}

/// Several prefix Bloom filters with the lengths that their model chooses; none without a query. For byte strings: integers of few
/// bits are seen by one length as well.
pub(super) fn multi_prefix_bloom(known: &KeyStatistics<'_, [u8]>) -> Vec<Box<dyn CandidateSpec<[u8]>>> {
    let modelled =
        multi_prefix_bloom::likely_design(known).map(|(spec, prediction)| Modelled { spec, prediction });
    modelled.into_iter().map(|modelled| Box::new(modelled) as Box<dyn CandidateSpec<[u8]>>).collect()
}

/// A place trie with the map and the edges that its model chooses; none without a query, or where it does not fit. For byte strings,
/// whose neighbours share bits of any number.
pub(super) fn place_trie(known: &KeyStatistics<'_, [u8]>) -> Vec<Box<dyn CandidateSpec<[u8]>>> {
    let modelled = place_trie::likely_design(known).map(|(spec, prediction)| Modelled { spec, prediction });
    modelled.into_iter().map(|modelled| Box::new(modelled) as Box<dyn CandidateSpec<[u8]>>).collect()
}

/// SNARF where it fits, for integers: over byte strings its model would look at every key.
pub(super) fn snarf(known: &KeyStatistics<'_, u64>) -> Vec<Box<dyn CandidateSpec<u64>>> {
    let (spec, count) = (SnarfSpec::new(), known.keys().len());
    match spec.predict_sample(&IntegerSample::placed(known)) {
        Ok(prediction) => vec![Box::new(Modelled { spec, prediction: prediction.into_prediction(count) })],
        Err(_too_small) => Vec::new(),
    }
}
