//! The families that the designer chooses among: one line each.

use std::fmt::Debug;

use lacuna_base::{
    BuildFromKeys, BuildPlan, KeyStatistics, PredictRate, Prediction, Result, Sample, Sealed, SortedKeys,
};

use super::assumed::{assumed_integers, assumed_strings};
use super::modelled;
use super::search::Judge;
use crate::bloom::{BlockedBloomSpec, BloomSpec};
use crate::bucketing::BucketingSpec;
use crate::grafite::GrafiteSpec;
use crate::kind::{Kind, OpenFilter};
use crate::prefix_bloom::likely_lengths;
use crate::proteus::PrefixSpace;
use crate::rencoder::likely_designs;
use crate::statistics::IntegerView;
use crate::surf::{TrieView, likely_suffixes, min_trie_rate};

/// A key space that filters can be designed over: `u64` or `[u8]`.
#[expect(private_bounds, reason = "its two implementations are all there are")]
pub trait DesignKey: OpenFilter + IntegerView + TrieView + PrefixSpace {
    #[doc(hidden)]
    fn assumed(keys: SortedKeys<'_, Self>) -> Sample<Self>;
    #[doc(hidden)]
    fn entrants() -> Entrants<Self>;
}

/// The table over one key space.
#[doc(hidden)]
#[derive(Debug)]
pub struct Entrants<K: lacuna_base::KeySpace + ?Sized>(pub(super) Vec<Entrant<K>>);

/// A spec that can be predicted and built.
pub(crate) trait Contender<K: lacuna_base::KeySpace + ?Sized>: Debug {
    fn text(&self) -> String;
    fn predict(&self, known: &KeyStatistics<'_, K>) -> Result<Prediction>;
    fn build(&self, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<Sealed>;
}

impl<K: lacuna_base::KeySpace + ?Sized, S: BuildFromKeys<K> + PredictRate<K>> Contender<K> for S {
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

/// Specs of a family that may be the best; the family leaves out what it can tell to be worse than another of its own.
pub(crate) type Specs<K> = fn(&KeyStatistics<'_, K>, &Judge) -> Vec<Box<dyn Contender<K>>>;

/// A family in the contest.
#[derive(Debug)]
pub(crate) struct Entrant<K: lacuna_base::KeySpace + ?Sized> {
    pub(crate) kind: Kind,
    /// Whether a spec of it may keep its rate for any queries.
    pub(crate) may_be_robust: bool,
    /// Whether the keys next to a query decide, not a hash.
    pub(crate) goes_by_neighbours: bool,
    /// A rate that no spec of it goes below, far cheaper to tell than a prediction.
    pub(crate) min_rate: fn(&KeyStatistics<'_, K>) -> f64,
    pub(crate) specs: Specs<K>,
}

/// Nothing is told.
fn any_rate<K: lacuna_base::KeySpace + ?Sized>(_: &KeyStatistics<'_, K>) -> f64 {
    0.0
}

/// One spec, whatever the keys.
macro_rules! one {
    ($spec:expr) => {
        |_, _| vec![Box::new($spec)]
    };
}

/// The table. Cheap predictions come first, so that the costly ones can be left out.
macro_rules! entrants {
    () => {
        Entrants(vec![
            Entrant {
                kind: Kind::Grafite,
                may_be_robust: true,
                goes_by_neighbours: false,
                min_rate: any_rate,
                specs: one!(GrafiteSpec::new()),
            },
            Entrant {
                kind: Kind::Bucketing,
                may_be_robust: true,
                goes_by_neighbours: true,
                min_rate: any_rate,
                specs: one!(BucketingSpec::new()),
            },
            Entrant {
                kind: Kind::BlockedBloom,
                may_be_robust: false,
                goes_by_neighbours: false,
                min_rate: any_rate,
                specs: one!(BlockedBloomSpec::new()),
            },
            Entrant {
                kind: Kind::Bloom,
                may_be_robust: false,
                goes_by_neighbours: false,
                min_rate: any_rate,
                specs: one!(BloomSpec::new()),
            },
            Entrant {
                kind: Kind::PrefixBloom,
                may_be_robust: false,
                goes_by_neighbours: true,
                min_rate: any_rate,
                specs: |known, judge| boxed(likely_lengths(known, judge)),
            },
            Entrant {
                kind: Kind::Surf,
                may_be_robust: false,
                goes_by_neighbours: true,
                min_rate: min_trie_rate,
                specs: |known, _| boxed(likely_suffixes(known)),
            },
            Entrant {
                kind: Kind::Rencoder,
                may_be_robust: false,
                goes_by_neighbours: true,
                min_rate: any_rate,
                specs: |known, judge| boxed(likely_designs(known, judge)),
            },
            Entrant {
                kind: Kind::Proteus,
                may_be_robust: false,
                goes_by_neighbours: true,
                min_rate: any_rate,
                specs: |known, _| modelled::proteus(known),
            },
            Entrant {
                kind: Kind::TwoPrefixBloom,
                may_be_robust: false,
                goes_by_neighbours: true,
                min_rate: any_rate,
                specs: |known, judge| match judge.with_two_prefixes {
                    true => modelled::two_prefixes(known),
                    false => Vec::new(),
                },
            },
        ])
    };
}

fn boxed<K: lacuna_base::KeySpace + ?Sized, S: Contender<K> + 'static>(
    specs: Vec<S>,
) -> Vec<Box<dyn Contender<K>>> {
    specs.into_iter().map(|spec| Box::new(spec) as Box<dyn Contender<K>>).collect()
}

impl DesignKey for u64 {
    fn assumed(keys: SortedKeys<'_, Self>) -> Sample<Self> {
        assumed_integers(keys)
    }
    fn entrants() -> Entrants<Self> {
        let Entrants(mut table) = entrants!();
        table.push(Entrant {
            kind: Kind::Snarf,
            may_be_robust: false,
            goes_by_neighbours: true,
            min_rate: any_rate,
            specs: |known, _| modelled::snarf(known),
        });
        Entrants(table)
    }
}

impl DesignKey for [u8] {
    fn assumed(keys: SortedKeys<'_, Self>) -> Sample<Self> {
        assumed_strings(keys)
    }
    fn entrants() -> Entrants<Self> {
        entrants!()
    }
}
