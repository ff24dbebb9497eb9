//! The families that the designer chooses among: one line each.

use std::fmt::Debug;

use lacuna_base::{
    BuildFromKeys, BuildPlan, KeyStatistics, PredictRate, Prediction, Result, Sample, Sealed, SortedKeys,
};

use super::assumed::{assumed_integers, assumed_strings};
use super::modelled;
use super::search::DesignRules;
#[cfg(feature = "baselines")]
use super::two_prefixes;
use crate::bloom::{BlockedBloomSpec, BloomSpec};
use crate::bucketing::BucketingSpec;
use crate::costs::ProbeCosts;
use crate::family::{FamilyKey, FilterFamily};
use crate::grafite::GrafiteSpec;
use crate::kind::Kind;
use crate::multi_prefix_bloom::MultiPrefixBloomSpec;
use crate::place_trie::PlaceTrieSpec;
use crate::prefix_bloom::{PrefixBloomSpec, likely_lengths};
use crate::proteus::{PrefixSpace, ProteusSpec};
use crate::rencoder::{RencoderSpec, likely_designs};
use crate::ribbon::RibbonSpec;
use crate::snarf::SnarfSpec;
use crate::statistics::IntegerView;
use crate::surf::{SurfSpec, TrieView, likely_suffixes, min_trie_rate};
#[cfg(feature = "baselines")]
use crate::two_prefix_bloom::TwoPrefixBloomSpec;

/// A key space that filters can be designed over: `u64` or `[u8]`.
#[expect(private_bounds, reason = "its two implementations are all there are")]
pub trait DesignKey: FamilyKey + IntegerView + TrieView + PrefixSpace {
    #[doc(hidden)]
    fn assumed(keys: SortedKeys<'_, Self>) -> Sample<Self>;
    #[doc(hidden)]
    fn candidate_families() -> CandidateFamilies<Self>;
}

/// The table over one key space.
#[doc(hidden)]
#[derive(Debug)]
pub struct CandidateFamilies<K: lacuna_base::KeySpace + ?Sized>(pub(super) Vec<CandidateFamily<K>>);

/// A spec that can be predicted and built.
pub(crate) trait CandidateSpec<K: lacuna_base::KeySpace + ?Sized>: Debug {
    fn text(&self) -> String;
    fn predict(&self, known: &KeyStatistics<'_, K>) -> Result<Prediction>;
    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed>;
}

impl<K: lacuna_base::KeySpace + ?Sized, S: BuildFromKeys<K> + PredictRate<K>> CandidateSpec<K> for S {
    fn text(&self) -> String {
        self.spec_name()
    }
    fn predict(&self, known: &KeyStatistics<'_, K>) -> Result<Prediction> {
        PredictRate::predict(self, known)
    }
    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed> {
        self.build_from(keys, plan)
    }
}

/// Specs of a family that may be the best; the family leaves out those that it knows to be worse than another of its
/// own.
pub(crate) type Specs<K> = fn(&KeyStatistics<'_, K>, &DesignRules) -> Vec<Box<dyn CandidateSpec<K>>>;

/// A family among the candidates.
#[derive(Debug)]
pub(crate) struct CandidateFamily<K: lacuna_base::KeySpace + ?Sized> {
    pub(crate) kind: Kind,
    pub(crate) costs: ProbeCosts,
    /// Whether a spec of it may keep its rate for any queries.
    pub(crate) may_be_robust: bool,
    /// Whether the keys next to a query decide, not a hash, about specs that state no bound.
    pub(crate) goes_by_neighbours: bool,
    /// A rate that no spec of it goes below, far cheaper to compute than a prediction.
    pub(crate) min_rate: fn(&KeyStatistics<'_, K>) -> f64,
    pub(crate) specs: Specs<K>,
}

/// No lower bound is known.
fn any_rate<K: lacuna_base::KeySpace + ?Sized>(_: &KeyStatistics<'_, K>) -> f64 {
    0.0
}

/// One spec, whatever the keys.
macro_rules! one {
    ($spec:expr) => {
        |_, _| vec![Box::new($spec)]
    };
}

impl<K: FamilyKey + ?Sized> CandidateFamily<K> {
    fn of<F: FilterFamily>(specs: Specs<K>) -> Self {
        let (may_be_robust, goes_by_neighbours) = (false, false);
        Self { kind: F::KIND, costs: F::COSTS, may_be_robust, goes_by_neighbours, min_rate: any_rate, specs }
    }

    fn may_be_robust(self) -> Self {
        Self { may_be_robust: true, ..self }
    }

    fn by_neighbours(self) -> Self {
        Self { goes_by_neighbours: true, ..self }
    }

    fn with_min_rate(self, min_rate: fn(&KeyStatistics<'_, K>) -> f64) -> Self {
        Self { min_rate, ..self }
    }
}

/// The table over either key space. Cheap predictions come first, so that the costly ones can be left out.
macro_rules! candidate_families {
    () => {
        Vec::from([
            CandidateFamily::of::<GrafiteSpec>(|_, rules| vec![Box::new(rules.grafite())]).may_be_robust(),
            CandidateFamily::of::<BucketingSpec>(|known, rules| boxed(rules.bucketing(known)))
                .may_be_robust()
                .by_neighbours(),
            CandidateFamily::of::<RibbonSpec>(|known, rules| boxed(rules.ribbon(known)))
                .may_be_robust()
                .by_neighbours(),
            CandidateFamily::of::<BlockedBloomSpec>(one!(BlockedBloomSpec::new())),
            CandidateFamily::of::<BloomSpec>(one!(BloomSpec::new())),
            CandidateFamily::of::<PrefixBloomSpec>(|known, rules| boxed(likely_lengths(known, &rules.model)))
                .by_neighbours(),
            CandidateFamily::of::<SurfSpec>(|known, _| boxed(likely_suffixes(known)))
                .by_neighbours()
                .with_min_rate(min_trie_rate),
            CandidateFamily::of::<RencoderSpec>(|known, rules| boxed(likely_designs(known, &rules.model)))
                .by_neighbours(),
            CandidateFamily::of::<ProteusSpec>(|known, _| modelled::proteus(known)).by_neighbours(),
            #[cfg(feature = "baselines")]
            CandidateFamily::of::<TwoPrefixBloomSpec>(|known, rules| match rules.with_two_prefixes {
                true => two_prefixes::two_prefixes(known),
                false => Vec::new(),
            })
            .by_neighbours(),
        ])
    };
}

fn boxed<K: lacuna_base::KeySpace + ?Sized, S: CandidateSpec<K> + 'static>(
    specs: Vec<S>,
) -> Vec<Box<dyn CandidateSpec<K>>> {
    specs.into_iter().map(|spec| Box::new(spec) as Box<dyn CandidateSpec<K>>).collect()
}

impl DesignKey for u64 {
    fn assumed(keys: SortedKeys<'_, Self>) -> Sample<Self> {
        assumed_integers(keys)
    }
    fn candidate_families() -> CandidateFamilies<Self> {
        let mut table = candidate_families!();
        table.push(CandidateFamily::of::<SnarfSpec>(|known, _| modelled::snarf(known)).by_neighbours());
        CandidateFamilies(table)
    }
}

impl DesignKey for [u8] {
    fn assumed(keys: SortedKeys<'_, Self>) -> Sample<Self> {
        assumed_strings(keys)
    }
    fn candidate_families() -> CandidateFamilies<Self> {
        let mut table = candidate_families!();
        table.push(
            CandidateFamily::of::<MultiPrefixBloomSpec>(|known, _| modelled::multi_prefix_bloom(known))
                .by_neighbours(),
        );
        table.push(
            CandidateFamily::of::<PlaceTrieSpec>(|known, _| modelled::place_trie(known)).by_neighbours(),
        );
        CandidateFamilies(table)
    }
}
