//! The rate on a sample, predicted from the keys next to each query instead of from a filter.
//!
//! A query that holds no key is "maybe" only because of the key before it or the key after it: the intervals that the
//! kept bits leave for all other keys lie beyond those two. So two comparisons predict the answer.

use std::cmp::Ordering;

use lacuna_base::{BuildPlan, Result, SortedKeys};
use lacuna_succinct::trie::{Branch, shared_len};

use super::budget::Design;
use super::builder::{KEYS_WITHOUT_BODY, design_bytes, design_u64, kept_window, place_of};
use super::key::{IntegerKey, PathKey, PathList, StringKey, Tails};
use super::spec::SurfSpec;
use super::tail::TailRange;

/// The prediction for a filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfPrediction {
    /// Payload bits for each key.
    pub bits_per_key: f64,
    /// Queries of the sample that hold no key.
    pub empty_count: usize,
    /// Those among them that the filter would answer with "maybe".
    pub positive_count: usize,
}

impl SurfPrediction {
    /// Share of the sample's empty queries that would be "maybe"; 0 without any.
    pub fn rate(&self) -> f64 {
        self.positive_count as f64 / self.empty_count.max(1) as f64
    }
}

/// An end of a query, relative to the common prefix, with its "excluded".
pub(crate) type End<K> = (K, bool);

/// Whether the filter says "maybe" to a query without keys, which lies before the key at `place`.
pub(crate) fn is_maybe<L: PathList + ?Sized, K: PathKey>(
    keys: &L,
    design: &Design,
    place: usize,
    lo: &End<K>,
    hi: Option<&End<K>>,
) -> bool {
    let is_point = hi.is_some_and(|hi| !lo.1 && !hi.1 && lo.0.path() == hi.0.path());
    let before = place.checked_sub(1).map(|index| {
        meets(keys, design, index, &lo.0, is_point).is_some_and(|order| order != Ordering::Less)
    });
    let behind = (place < keys.len()).then(|| {
        let Some(hi) = hi else { return true };
        let branch = branch_of(keys, place, design);
        let is_free = hi.1 && hi.0.path().len() == branch.depth;
        !is_free
            && meets(keys, design, place, &hi.0, is_point).is_some_and(|order| order != Ordering::Greater)
    });
    before.unwrap_or(false) || behind.unwrap_or(false)
}

/// How the kept part of the key at `index` compares with `asked`; `None` if their paths part, or a mark decides
/// exactly.
fn meets<L: PathList + ?Sized, K: PathKey>(
    keys: &L,
    design: &Design,
    index: usize,
    asked: &K,
    is_point: bool,
) -> Option<Ordering> {
    let (branch, key) = (branch_of(keys, index, design), keys.key(index));
    if branch.is_prefix || shared_len(key.path(), asked.path()) < branch.depth {
        return None;
    }
    let (stored, suffixes) = (design.suffixes.of(&key, branch.depth), design.suffixes);
    if is_point && design.levels.is_none() {
        return if stored == suffixes.of(asked, branch.depth) { Some(Ordering::Equal) } else { None };
    }
    Some(suffixes.compare(stored, asked, branch.depth))
}

/// The path of the key at `index`, without regard to keys that share it.
pub(crate) fn branch_of<L: PathList + ?Sized>(keys: &L, index: usize, design: &Design) -> Branch {
    let before = index.checked_sub(1).and_then(|index| keys.shared_with_next(index));
    let after = keys.shared_with_next(index);
    let branch = Branch::unique(keys.key(index).path().len(), before, after);
    let max = design.levels.unwrap_or(usize::MAX);
    let is_merged = before.max(after).is_some_and(|shared| shared >= max);
    match is_merged {
        true => Branch { depth: max, is_prefix: false, ..branch },
        false => Branch { depth: branch.depth.min(max), ..branch },
    }
}

pub(crate) fn predict_u64(
    spec: SurfSpec,
    keys: SortedKeys<'_, u64>,
    plan: &BuildPlan<u64>,
) -> Result<SurfPrediction> {
    let exact = Design { suffixes: Default::default(), levels: None, body_bytes: 0 };
    let is_exact = keys.len() <= KEYS_WITHOUT_BODY;
    let design = if is_exact { exact } else { design_u64(spec, keys, plan)? };
    let (mut empty_count, mut positive_count) = (0, 0);
    for (lo, hi) in plan.sample().iter() {
        let place = keys.column().partition_point(|&key| key < lo);
        if keys.column().get(place).is_some_and(|&key| key <= hi) {
            continue;
        }
        empty_count += 1;
        let is_inside = place > 0 && place < keys.len() && !is_exact;
        let (lo, hi) = ((IntegerKey::new(lo), false), (IntegerKey::new(hi), false));
        let is_maybe =
            is_inside && (design.body_bytes == 0 || is_maybe(keys.column(), &design, place, &lo, Some(&hi)));
        positive_count += usize::from(is_maybe);
    }
    Ok(prediction(design.body_bytes, keys.len(), empty_count, positive_count))
}

pub(crate) fn predict_bytes(
    spec: SurfSpec,
    keys: SortedKeys<'_, [u8]>,
    plan: &BuildPlan<[u8]>,
) -> Result<SurfPrediction> {
    let design = design_bytes(spec, keys, plan)?;
    let window = kept_window(keys, plan.budget());
    let prefix = window.prefix();
    let tails = Tails { keys, prefix_len: prefix.len() };
    let (smallest, largest) = (place_of(keys.first(), window), place_of(keys.last(), window));
    let (mut empty_count, mut positive_count) = (0, 0);
    for range in plan.sample().ranges() {
        let place = first_inside(keys, range);
        if place < keys.len() && range.contains(keys.get(place)) {
            continue;
        }
        empty_count += 1;
        let cover = window.cover(range);
        let is_outside = cover.is_none_or(|cover| cover.lo() > largest || cover.hi() < smallest);
        let Some(TailRange { lo, hi }) = TailRange::of(range, prefix) else { continue };
        let (lo, hi) = ((StringKey(lo.0), lo.1), hi.map(|hi| (StringKey(hi.0), hi.1)));
        let is_maybe = design.body_bytes == 0 || is_maybe(&tails, &design, place, &lo, hi.as_ref());
        positive_count += usize::from(!is_outside && is_maybe && !keys.is_empty());
    }
    let section_bytes = crate::frame::window_section_bytes(window);
    Ok(prediction(design.body_bytes + section_bytes, keys.len(), empty_count, positive_count))
}

/// Position of the first key that is not before `range`.
fn first_inside(keys: SortedKeys<'_, [u8]>, range: lacuna_base::ByteRange<'_>) -> usize {
    let (mut start, mut end) = (0, keys.len());
    while start < end {
        let middle = start.midpoint(end);
        let key = keys.get(middle);
        let is_before = if range.lo_excluded() { key <= range.lo() } else { key < range.lo() };
        if is_before { start = middle + 1 } else { end = middle }
    }
    start
}

fn prediction(
    payload_bytes: usize,
    key_count: usize,
    empty_count: usize,
    positive_count: usize,
) -> SurfPrediction {
    SurfPrediction {
        bits_per_key: payload_bytes as f64 * 8.0 / key_count.max(1) as f64,
        empty_count,
        positive_count,
    }
}
