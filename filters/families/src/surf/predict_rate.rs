//! SuRF's prediction from statistics: the trie's size from runs of keys, the rate from the keys next to each query.
//!
//! A key adds as many nodes to the trie as its path is longer than what it shares with the key before it, so runs of
//! neighbours from all over the set give the size of the whole. What the filter says to a query follows exactly from
//! the keys on either side; hash bits let a point through by chance.

use lacuna_base::{ByteRange, KeySpace, KeyStatistics, PredictRate, Prediction, RateBound, Result};
use lacuna_succinct::trie::{Branch, Shape, shared_len};

use super::budget::{Design, design_for};
use super::builder::{KEYS_WITHOUT_BODY, kept_window, place_of};
use super::key::{IntegerKey, PathKey, PathList, StringKey, Tails};
use super::predict::{End, branch_of, is_maybe};
use super::spec::SurfSpec;
use super::suffix::Suffixes;
use super::tail::TailRange;
use crate::frame::window_section_bytes;

/// The shape of the trie over all keys; derived once for all suffixes.
#[derive(Debug)]
struct KnownShape(Shape);

impl KnownShape {
    fn of(keys: &(impl PathList + ?Sized), runs: impl Iterator<Item = std::ops::Range<usize>>) -> Self {
        let mut shape = Shape::new();
        for run in runs {
            let mut before = run.start.checked_sub(1).and_then(|index| keys.shared_with_next(index));
            for index in run {
                let after = keys.shared_with_next(index);
                shape.add(Branch::unique(keys.key(index).path().len(), before, after));
                before = after;
            }
        }
        Self(if shape.leaves() == 0 { shape } else { shape.scaled(keys.len() as u64) })
    }
}

/// Upper levels that are small enough to stay in caches.
const CACHED_LEVELS: f64 = 3.0;

/// Sums over the queries.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    rate: f64,
    levels: f64,
    fetches: f64,
}

impl Sums {
    fn into_prediction(self, queries: usize, payload_bytes: usize) -> Prediction {
        let queries = queries.max(1) as f64;
        Prediction {
            rate: self.rate / queries,
            probes: self.levels / queries,
            fetches: self.fetches / queries,
            payload_bytes,
            bound: RateBound::NONE,
        }
    }

    /// Adds the rate of a query before the key at `place` that the trie is asked about.
    fn add_rate<L: PathList + ?Sized, K: PathKey>(
        &mut self,
        keys: &L,
        design: &Design,
        place: usize,
        (lo, hi): (&End<K>, Option<&End<K>>),
    ) {
        let is_point = design.levels.is_none() && hi.is_some_and(|hi| lo.0.path() == hi.0.path());
        let real = Suffixes { hash_bits: 0, ..design.suffixes };
        if design.body_bytes == 0 || is_maybe(keys, &Design { suffixes: real, ..*design }, place, lo, hi) {
            let hashes = if is_point { design.suffixes.hash_bits } else { 0 };
            self.rate += 1.0 / (1u128 << hashes) as f64;
        }
    }

    /// Adds the levels that it walks down.
    fn add_walk<L: PathList + ?Sized, K: PathKey>(
        &mut self,
        keys: &L,
        design: &Design,
        place: usize,
        (lo, hi): (&End<K>, Option<&End<K>>),
    ) {
        let walked = |index: usize, asked: &K| {
            let shared = shared_len(keys.key(index).path(), asked.path());
            branch_of(keys, index, design).depth.min(shared + 1)
        };
        let below = place.checked_sub(1).map_or(1, |index| walked(index, &lo.0));
        let above = if place < keys.len() { hi.map_or(1, |hi| walked(place, &hi.0)) } else { 1 };
        let levels = below.max(above) as f64;
        self.levels += levels;
        self.fetches += (levels - CACHED_LEVELS).max(1.0);
    }
}

/// The bytes that the predicted part of a trie may fill, so that the trie surely fits `max_bytes`: its size is predicted to a part in
/// some hundred where some keys stand for all, and a level too much would be cut off whole.
fn surely_fitting(max_bytes: usize, weight: f64) -> usize {
    if weight > 1.0 { max_bytes - max_bytes / 100 } else { max_bytes }
}

/// A key space whose keys make a trie.
pub(crate) trait TrieView: KeySpace {
    /// The design that would be written for `spec`.
    fn trie_design(spec: SurfSpec, known: &KeyStatistics<'_, Self>) -> Result<Design>;
    /// The prediction for `design`; if `ranges_alone`, for ranges only, and without the walk.
    fn sums(design: &Design, known: &KeyStatistics<'_, Self>, ranges_alone: bool) -> Sums;
}

impl TrieView for u64 {
    fn trie_design(spec: SurfSpec, known: &KeyStatistics<'_, Self>) -> Result<Design> {
        let shape = known.view(|known| KnownShape::of(known.keys().column(), known.runs()));
        let max_bytes =
            surely_fitting(known.plan().budget().payload_bytes(known.keys().len()), known.weight());
        design_for(spec, &shape.0, known.plan().seed(), max_bytes, 0)
    }

    fn sums(design: &Design, known: &KeyStatistics<'_, Self>, ranges_alone: bool) -> Sums {
        let keys = known.keys().column();
        let mut sums = Sums::default();
        let asked = known.queries().iter().filter(|query| query.place > 0 && query.place < keys.len());
        for query in asked.filter(|query| !ranges_alone || query.lo < query.hi) {
            let (lo, hi) = ((IntegerKey::new(query.lo), false), (IntegerKey::new(query.hi), false));
            sums.add_rate(keys, design, query.place, (&lo, Some(&hi)));
            if !ranges_alone {
                sums.add_walk(keys, design, query.place, (&lo, Some(&hi)));
            }
        }
        sums
    }
}

impl TrieView for [u8] {
    fn trie_design(spec: SurfSpec, known: &KeyStatistics<'_, Self>) -> Result<Design> {
        let (keys, plan) = (known.keys(), known.plan());
        let window = kept_window(keys, plan.budget());
        let tails = Tails { keys, prefix_len: window.prefix().len() };
        let shape = known.view(|known| KnownShape::of(&tails, known.runs()));
        let section_bytes = window_section_bytes(window);
        let max_bytes = plan.budget().payload_bytes(keys.len()) - section_bytes;
        let max_bytes = surely_fitting(max_bytes, known.weight());
        design_for(spec, &shape.0, plan.seed(), max_bytes, section_bytes)
    }

    fn sums(design: &Design, known: &KeyStatistics<'_, Self>, ranges_alone: bool) -> Sums {
        let keys = known.keys();
        let window = kept_window(keys, known.plan().budget());
        let tails = Tails { keys, prefix_len: window.prefix().len() };
        let (smallest, largest) = (place_of(keys.first(), window), place_of(keys.last(), window));
        let mut sums = Sums::default();
        for query in known.queries().iter().filter(|query| !ranges_alone || query.lo < query.hi) {
            let range = ByteRange::new(query.lo, query.hi).expect("samples hold no inverted query");
            let cover = window.cover(range);
            let is_settled = cover.is_none_or(|cover| cover.lo() > largest || cover.hi() < smallest);
            let Some(TailRange { lo, hi }) = TailRange::of(range, window.prefix()).filter(|_| !is_settled)
            else {
                continue;
            };
            let (lo, hi) = ((StringKey(lo.0), lo.1), hi.map(|hi| (StringKey(hi.0), hi.1)));
            sums.add_rate(&tails, design, query.place, (&lo, hi.as_ref()));
            if !ranges_alone {
                sums.add_walk(&tails, design, query.place, (&lo, hi.as_ref()));
            }
        }
        sums
    }
}

/// The suffixes that may be the best: all real, all hash where points are asked, half of each, none.
pub(crate) fn likely_suffixes<K: TrieView + ?Sized>(known: &KeyStatistics<'_, K>) -> Vec<SurfSpec> {
    let real = SurfSpec::new();
    let Ok(design) = K::trie_design(real, known) else { return vec![real.with_cut()] };
    let spare = design.suffixes.real_bits;
    let asks_points = known.queries().iter().any(|query| query.lo == query.hi);
    let mut specs = vec![real, SurfSpec::base()];
    if asks_points && spare > 0 && design.levels.is_none() {
        specs.push(SurfSpec::new().with_hash_bits(spare));
        specs.push(SurfSpec::new().with_hash_bits(spare - spare / 2).with_real_bits(spare / 2));
    }
    specs
}

/// A rate that no suffixes go below: that of as many real bits as the whole budget has, for ranges alone, because hash bits
/// help points. Costs a fraction of a prediction: the trie's size is not asked for.
pub(crate) fn min_trie_rate<K: TrieView + ?Sized>(known: &KeyStatistics<'_, K>) -> f64 {
    let keys = known.keys().len();
    if keys <= KEYS_WITHOUT_BODY {
        return 0.0;
    }
    let bits = known.plan().budget().payload_bytes(keys) * 8 / keys;
    let real_bits = u32::try_from(bits).unwrap_or(u32::MAX).min(SurfSpec::MAX_BITS);
    let suffixes = Suffixes { real_bits, ..Suffixes::default() };
    let sums = K::sums(&Design { suffixes, levels: None, body_bytes: 1 }, known, true);
    sums.rate / known.queries().len().max(1) as f64
}

impl PredictRate<u64> for SurfSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        let queries = statistics.queries().len();
        if statistics.keys().len() <= KEYS_WITHOUT_BODY {
            return Ok(Sums::default().into_prediction(queries, 0));
        }
        let design = u64::trie_design(*self, statistics)?;
        Ok(u64::sums(&design, statistics, false).into_prediction(queries, design.body_bytes))
    }
}

impl PredictRate<[u8]> for SurfSpec {
    fn predict(&self, statistics: &KeyStatistics<'_, [u8]>) -> Result<Prediction> {
        let design = <[u8]>::trie_design(*self, statistics)?;
        let section_bytes = window_section_bytes(kept_window(statistics.keys(), statistics.plan().budget()));
        let sums = <[u8]>::sums(&design, statistics, false);
        Ok(sums.into_prediction(statistics.queries().len(), design.body_bytes + section_bytes))
    }
}
