//! The baseline that `auto` may be asked to consider: two prefix Bloom filters.

use std::sync::Arc;

use lacuna_base::{BuildFromKeys, BuildPlan, KeySpace, KeyStatistics, Sample};

use super::candidates::CandidateSpec;
use super::modelled::Modelled;
use crate::statistics::IntegerView;
use crate::two_prefix_bloom::{TwoPrefixBloomSpec, likely_design};

/// The plan with the chosen queries as its sample.
fn thinned_plan<K: KeySpace + ?Sized>(known: &KeyStatistics<'_, K>) -> BuildPlan<K> {
    let mut sample = Sample::new();
    known.queries().iter().for_each(|query| sample.push(query.lo, query.hi));
    known.plan().clone().with_sample(Arc::new(sample))
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
