//! The two key spaces: integers, and byte strings after their common prefix.

use std::cell::OnceCell;

use lacuna_base::{
    Budget, BuildPlan, ByteRange, Error, KeySpace, KeyStatistics, Position, Result, Sample, Sealed,
    SortedKeys, Window,
};

use super::cpfpr::{EmptyQueries, Model, Observer, Phase};
use super::design::{DesignRate, ProteusPrediction};
use super::prefix_key::{PrefixKeys, StringTail, StringTails};
use super::spec::ProteusSpec;
use crate::designer::assumed_strings;
use crate::frame::{push_window_section, window_for, window_section_bytes};
use crate::integer_build::{IntegerSpec, TooSmall, envelope};
use crate::surf::TailRange;

/// Queries as keys of one kind, each list made when it is asked for.
pub(crate) struct Asked<'a, K> {
    pub(crate) sampled: &'a dyn Fn() -> Vec<(K, K)>,
    /// Those that are assumed where no sampled one lies between two keys.
    pub(crate) assumed: &'a dyn Fn() -> Vec<(K, K)>,
}

/// A spec of a family of prefixes, over integers and over byte strings alike.
pub(crate) trait PrefixSpec: IntegerSpec {
    /// Writes the body for `keys` into at most `max_bytes`.
    fn write_prefixes<S: PrefixKeys + ?Sized>(
        &self,
        keys: &S,
        asked: &Asked<'_, S::Key>,
        seed: u64,
        max_bytes: usize,
    ) -> Result<Vec<u8>, TooSmall>;
}

/// Builds over byte strings; a prefix may reach every bit of them.
pub(crate) fn build_bytes<S: PrefixSpec>(
    spec: &S,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<Sealed> {
    let window = kept_window(keys, plan.budget());
    let mut payload = match keys.len() {
        0 => Vec::new(),
        _ => write_within(spec, keys, plan, plan.budget())
            .map_err(|needed_bytes| too_small(spec, keys, plan, needed_bytes))?,
    };
    push_window_section(&mut payload, window);
    let ends = (place_of(keys.first(), window), place_of(keys.last(), window));
    Ok(Sealed::assemble(&envelope::<[u8]>(S::KIND, S::VERSION, plan, keys.len(), ends), &payload))
}

/// The body within `budget`, or the bytes of the payload that would hold it.
fn write_within(
    spec: &impl PrefixSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
    budget: Budget,
) -> Result<Vec<u8>, usize> {
    let window = kept_window(keys, budget);
    let section_bytes = window_section_bytes(window);
    let tails = StringTails { keys, prefix_len: window.prefix().len() };
    let max_bytes = budget.payload_bytes(keys.len()) - section_bytes;
    let assumed = OnceCell::new();
    let asked = Asked {
        sampled: &|| string_queries(plan.sample(), window.prefix()),
        assumed: &|| string_queries(assumed.get_or_init(|| assumed_strings(keys)), window.prefix()),
    };
    let written = spec.write_prefixes(&tails, &asked, plan.seed(), max_bytes);
    written.map_err(|small| small.smallest_bytes + section_bytes)
}

/// Names the smallest budget that works. A larger one keeps more of the common prefix, so it has to be tried.
fn too_small<S: PrefixSpec>(
    spec: &S,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
    mut needed_bytes: usize,
) -> Error {
    loop {
        let bits_per_key = Budget::smallest_for(needed_bytes, keys.len());
        let Ok(budget) = Budget::bits_per_key(bits_per_key) else {
            return Error::budget_too_small(S::KIND.name(), Budget::MAX_BITS_PER_KEY);
        };
        match write_within(spec, keys, plan, budget) {
            Ok(_) => return Error::budget_too_small(S::KIND.name(), bits_per_key),
            Err(more) => needed_bytes = more.max(needed_bytes + 1),
        }
    }
}

/// The window that is stored beside the body.
fn kept_window<'a>(keys: SortedKeys<'a, [u8]>, budget: Budget) -> Window<'a> {
    window_for(keys, (budget.payload_bytes(keys.len()) - Budget::FIXED_BYTES) / 4)
}

fn place_of(key: Option<&[u8]>, window: Window<'_>) -> u64 {
    match key.map(|key| window.position(key)) {
        Some(Position::At(place)) => place,
        _ => 0,
    }
}

/// The sampled queries after the common prefix, without those that do not touch it.
fn string_queries<'a>(sample: &'a Sample<[u8]>, prefix: &[u8]) -> Vec<(StringTail<'a>, StringTail<'a>)> {
    sample.iter().filter_map(|(lo, hi)| tails_of(lo, hi, prefix)).collect()
}

/// The part of a query after the common prefix.
fn tails_of<'a>(lo: &'a [u8], hi: &'a [u8], prefix: &[u8]) -> Option<(StringTail<'a>, StringTail<'a>)> {
    let range = TailRange::of(ByteRange::new(lo, hi)?, prefix)?;
    Some((StringTail(range.lo.0), StringTail(range.hi?.0)))
}

/// A key space in which a Proteus can be predicted: `u64` or `[u8]`.
pub trait PrefixSpace: KeySpace {
    /// The prediction for `spec`.
    #[doc(hidden)]
    fn predict(
        spec: &ProteusSpec,
        keys: SortedKeys<'_, Self>,
        plan: &BuildPlan<Self>,
        ended: &mut dyn FnMut(Phase),
    ) -> ProteusPrediction;
    /// As `predict` for the queries of `known`, whose places are known.
    #[doc(hidden)]
    fn predict_known(spec: &ProteusSpec, known: &KeyStatistics<'_, Self>) -> ProteusPrediction;
    /// All designs of `spec`.
    #[doc(hidden)]
    fn designs(spec: &ProteusSpec, keys: SortedKeys<'_, Self>, plan: &BuildPlan<Self>) -> Vec<DesignRate>;
}

/// The space of a filter: the most bytes of its body, and those beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) max_bytes: usize,
    pub(crate) beside_bytes: usize,
}

/// Hands the keys and queries of `known` to `work`.
pub(crate) fn with_known_integers<R>(
    known: &KeyStatistics<'_, u64>,
    work: impl FnOnce(&[u64], &EmptyQueries<u64>, Room) -> R,
) -> R {
    let keys = known.keys().column();
    let queries = known.queries().iter().map(|query| (query.lo, query.hi, query.place));
    let queries = EmptyQueries::placed(queries, known.queries().len(), keys);
    let max_bytes = known.plan().budget().payload_bytes(keys.len());
    work(keys, &queries, Room { max_bytes, beside_bytes: 0 })
}

/// As [`with_known_integers`], after the common prefix.
pub(crate) fn with_known_strings<R>(
    known: &KeyStatistics<'_, [u8]>,
    work: impl FnOnce(&StringTails<'_>, &EmptyQueries<StringTail<'_>>, Room) -> R,
) -> R {
    let (keys, budget) = (known.keys(), known.plan().budget());
    let window = kept_window(keys, budget);
    let tails = StringTails { keys, prefix_len: window.prefix().len() };
    let queries = known.queries().iter().filter_map(|query| {
        let (lo, hi) = tails_of(query.lo, query.hi, window.prefix())?;
        Some((lo, hi, query.place))
    });
    let queries = EmptyQueries::placed(queries, known.queries().len(), &tails);
    let beside_bytes = window_section_bytes(window);
    let max_bytes = budget.payload_bytes(keys.len()) - beside_bytes;
    work(&tails, &queries, Room { max_bytes, beside_bytes })
}

fn predict_among<S: PrefixKeys + ?Sized>(
    spec: &ProteusSpec,
    keys: &S,
    queries: &EmptyQueries<S::Key>,
    max_bytes: usize,
    beside_bytes: usize,
    ended: Observer<'_>,
) -> ProteusPrediction {
    ended(Phase::CountQueryPrefixes);
    let design = spec.choose(keys, queries, max_bytes, ended);
    let payload_bytes = design.body_bytes + super::codec::HEADER_BYTES + beside_bytes;
    let bits_per_key = payload_bytes as f64 * 8.0 / keys.len().max(1) as f64;
    ProteusPrediction { design, bits_per_key, sampled: queries.count }
}

fn designs_among<S: PrefixKeys + ?Sized>(
    spec: &ProteusSpec,
    keys: &S,
    queries: Vec<(S::Key, S::Key)>,
    max_bytes: usize,
) -> Vec<DesignRate> {
    Model::of(keys, &EmptyQueries::of(queries, keys), spec.task(max_bytes)).designs().collect()
}

impl PrefixSpace for u64 {
    fn predict(
        spec: &ProteusSpec,
        keys: SortedKeys<'_, Self>,
        plan: &BuildPlan<Self>,
        ended: &mut dyn FnMut(Phase),
    ) -> ProteusPrediction {
        let max_bytes = plan.budget().payload_bytes(keys.len());
        let queries = EmptyQueries::of(plan.sample().iter().collect(), keys.column());
        predict_among(spec, keys.column(), &queries, max_bytes, 0, ended)
    }
    fn predict_known(spec: &ProteusSpec, known: &KeyStatistics<'_, Self>) -> ProteusPrediction {
        with_known_integers(known, |keys, queries, Room { max_bytes, beside_bytes }| {
            predict_among(spec, keys, queries, max_bytes, beside_bytes, &mut |_| {})
        })
    }
    fn designs(spec: &ProteusSpec, keys: SortedKeys<'_, Self>, plan: &BuildPlan<Self>) -> Vec<DesignRate> {
        let max_bytes = plan.budget().payload_bytes(keys.len());
        designs_among(spec, keys.column(), plan.sample().iter().collect(), max_bytes)
    }
}

impl PrefixSpace for [u8] {
    fn predict(
        spec: &ProteusSpec,
        keys: SortedKeys<'_, Self>,
        plan: &BuildPlan<Self>,
        ended: &mut dyn FnMut(Phase),
    ) -> ProteusPrediction {
        let window = kept_window(keys, plan.budget());
        let section_bytes = window_section_bytes(window);
        let tails = StringTails { keys, prefix_len: window.prefix().len() };
        let max_bytes = plan.budget().payload_bytes(keys.len()) - section_bytes;
        let queries = EmptyQueries::of(string_queries(plan.sample(), window.prefix()), &tails);
        predict_among(spec, &tails, &queries, max_bytes, section_bytes, ended)
    }
    fn predict_known(spec: &ProteusSpec, known: &KeyStatistics<'_, Self>) -> ProteusPrediction {
        with_known_strings(known, |keys, queries, Room { max_bytes, beside_bytes }| {
            predict_among(spec, keys, queries, max_bytes, beside_bytes, &mut |_| {})
        })
    }
    fn designs(spec: &ProteusSpec, keys: SortedKeys<'_, Self>, plan: &BuildPlan<Self>) -> Vec<DesignRate> {
        let window = kept_window(keys, plan.budget());
        let tails = StringTails { keys, prefix_len: window.prefix().len() };
        let max_bytes = plan.budget().payload_bytes(keys.len()) - window_section_bytes(window);
        designs_among(spec, &tails, string_queries(plan.sample(), window.prefix()), max_bytes)
    }
}

impl ProteusSpec {
    /// The prediction for building over `keys`, without building: the design, its rate on the sample's empty queries,
    /// the prefixes they ask for, and the size. A rate of a given design is predicted as that of a chosen one.
    pub fn predict<K: PrefixSpace + ?Sized>(
        &self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
    ) -> ProteusPrediction {
        K::predict(self, keys, plan, &mut |_| {})
    }

    /// As [`predict`](Self::predict), calling `ended` after each [`Phase`]; a phase may come in several parts.
    pub fn predict_in_phases<K: PrefixSpace + ?Sized>(
        &self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
        ended: &mut dyn FnMut(Phase),
    ) -> ProteusPrediction {
        K::predict(self, keys, plan, ended)
    }

    /// Every design that the budget holds, with its expected rate: those with the lengths that this spec leaves open.
    pub fn designs<K: PrefixSpace + ?Sized>(
        &self,
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
    ) -> Vec<DesignRate> {
        K::designs(self, keys, plan)
    }
}
