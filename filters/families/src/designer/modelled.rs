//! Families that have a model of their own: it chooses the parameters and tells the prediction in one go.
//!
//! Their models look at every sampled query; here they are given those that all predictions are made for.

use std::sync::Arc;

use lacuna_base::{
    BuildFromKeys, BuildPlan, KeySpace, KeyStatistics, Prediction, Result, Sample, Sealed, SortedKeys,
};

use super::candidates::CandidateSpec;
use crate::integer_sample::IntegerSample;
use crate::proteus::PrefixSpace;
use crate::statistics::IntegerView;
use crate::two_prefix_bloom::likely_design;
use crate::{ProteusSpec, SnarfSpec, TwoPrefixBloomSpec};

/// A spec whose prediction is known.
#[derive(Debug)]
struct Modelled<S> {
    spec: S,
    prediction: Prediction,
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

/// The plan with the chosen queries as its sample.
fn thinned_plan<K: KeySpace + ?Sized>(known: &KeyStatistics<'_, K>) -> BuildPlan<K> {
    let mut sample = Sample::new();
    known.queries().iter().for_each(|query| sample.push(query.lo, query.hi));
    known.plan().clone().with_sample(Arc::new(sample))
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

/// Two prefix Bloom filters with the lengths and the share that their model chooses; none without a query.
pub(super) fn two_prefixes<K: IntegerView + ?Sized>(
    known: &KeyStatistics<'_, K>,
) -> Vec<Box<dyn CandidateSpec<K>>>
where
    TwoPrefixBloomSpec: BuildFromKeys<K>,
{
    let designed = K::integer_sample(known.keys(), &thinned_plan(known));
    let modelled = likely_design(&designed).map(|(spec, prediction)| Modelled { spec, prediction });
    modelled.into_iter().map(|modelled| Box::new(modelled) as Box<dyn CandidateSpec<K>>).collect()
}

/// SNARF where it fits, for integers: over byte strings its model would look at every key.
pub(super) fn snarf(known: &KeyStatistics<'_, u64>) -> Vec<Box<dyn CandidateSpec<u64>>> {
    let (spec, count) = (SnarfSpec::new(), known.keys().len());
    match spec.predict_sample(&IntegerSample::placed(known)) {
        Ok(prediction) => vec![Box::new(Modelled { spec, prediction: prediction.into_prediction(count) })],
        Err(_too_small) => Vec::new(),
    }
}
