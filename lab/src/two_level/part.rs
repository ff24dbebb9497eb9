//! A part of the store: keys with a filter before them, and searching among the keys.

use std::ops::Range;

use lacuna_base::internal::KeyColumn;
use lacuna_base::{Budget, BuildPlan, DynFilter, KeyRange, Result, SortedKeys};

use super::OFF;
use super::arena::{ArenaBuilder, ArenaSlice};
use super::store::StorePlan;
use lacuna_bench::BenchKey;

/// Keys, and the filter in front of them.
#[derive(Debug)]
pub(super) struct Part<K: BenchKey + ?Sized> {
    pub(super) keys: K::OwnedColumn,
    pub(super) filter: Option<Box<DynFilter<K>>>,
    /// The filter's bytes, to be opened for more than yes and no.
    pub(super) filter_bytes: Option<ArenaSlice>,
}

impl<K: BenchKey + ?Sized> Part<K> {
    pub(super) fn new(keys: K::OwnedColumn) -> Self {
        Self { keys, filter: None, filter_bytes: None }
    }
}

/// What a query found: how many keys, and the sum of their places in the set, so that a wrong key shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) keys: u64,
    pub(super) place_sum: u64,
}

/// The result of a plain scan of the sorted keys.
pub(super) fn truth<K: BenchKey + ?Sized>(keys: &K::OwnedColumn, range: KeyRange<'_, K>) -> Found {
    let places = places_in::<K>(K::column(keys), range);
    Found { keys: places.len() as u64, place_sum: places.map(|place| place as u64).sum() }
}

pub(super) fn add_filters<K: BenchKey + ?Sized>(parts: &mut [Part<K>], plan: &StorePlan<'_>) -> Result<()> {
    if plan.spec == OFF {
        return Ok(());
    }
    let spec = K::spec(plan.spec)?;
    let build_plan = BuildPlan::new(Budget::bits_per_key(plan.bits_per_key)?).with_seed(plan.seed);
    let mut arena = ArenaBuilder::default();
    for part in parts.iter() {
        arena.push(spec.build(SortedKeys::try_new(K::column(&part.keys))?, &build_plan)?);
    }
    for (part, bytes) in parts.iter_mut().zip(arena.finish()) {
        part.filter = Some(lacuna_families::open::<K, _>(bytes.clone())?);
        part.filter_bytes = Some(bytes);
    }
    Ok(())
}

/// How many leading keys of an ascending column satisfy `before`.
pub(super) fn count_where<K: BenchKey + ?Sized>(
    keys: &K::Column,
    before: impl Fn(K::Ref<'_>) -> bool,
) -> usize {
    let (mut start, mut end) = (0, keys.key_count());
    while start < end {
        let middle = start.midpoint(end);
        if before(keys.key(middle)) { start = middle + 1 } else { end = middle }
    }
    start
}

/// The places of the keys in `range`; keys equal to an excluded end stay out.
pub(super) fn places_in<K: BenchKey + ?Sized>(keys: &K::Column, range: KeyRange<'_, K>) -> Range<usize> {
    let (lo, hi) = K::ends(range);
    let mut first = count_where::<K>(keys, |key| K::shorten(key) < K::shorten(lo));
    let mut end =
        hi.map_or(keys.key_count(), |hi| count_where::<K>(keys, |key| K::shorten(key) <= K::shorten(hi)));
    if first < end && !K::contains(range, keys.key(first)) {
        first += 1;
    }
    if first < end && !K::contains(range, keys.key(end - 1)) {
        end -= 1;
    }
    first..end.max(first)
}

pub(super) fn overlaps<K: BenchKey + ?Sized>(keys: &K::OwnedColumn, range: KeyRange<'_, K>) -> bool {
    let keys = K::column(keys);
    let Some(last) = keys.key_count().checked_sub(1) else { return false };
    let (lo, hi) = K::ends(range);
    K::shorten(lo) <= K::shorten(keys.key(last))
        && hi.is_none_or(|hi| K::shorten(keys.key(0)) <= K::shorten(hi))
}
