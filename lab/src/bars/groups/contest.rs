//! Filters built for a contest, and the ways to ask them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, DynFilter, DynSpec, Result, Sample, Sealed, SortedKeys, U64Range,
};
use lacuna_bench::harness::{MemoryFloor, Rounds, TaskId, batched, dependent, independent, predicted};

use crate::bars::bar::Bar;

/// A spec with its plan.
#[derive(Debug)]
pub(super) struct PlannedFilter {
    spec: Box<dyn DynSpec<u64>>,
    plan: BuildPlan<u64>,
}

impl PlannedFilter {
    pub(super) fn try_new(spec: &str, bits_per_key: f64, seed: u64) -> Result<Self> {
        let plan = BuildPlan::new(Budget::bits_per_key(bits_per_key)?).with_seed(seed);
        Ok(Self { spec: lacuna_families::spec(spec)?, plan })
    }

    /// Gives the builder `ranges` as the sample of queries.
    #[must_use]
    pub(super) fn with_sample(mut self, ranges: &[(u64, u64)]) -> Self {
        let mut sample = Sample::new();
        ranges.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
        self.plan = self.plan.with_sample(Arc::new(sample));
        self
    }

    /// Lets a build take `threads` threads.
    #[must_use]
    pub(super) fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.plan = self.plan.with_threads(threads);
        self
    }

    pub(super) fn name(&self) -> String {
        self.spec.name()
    }

    /// From the sorted slice to sealed bytes, the check of the order included.
    pub(super) fn build(&self, keys: &[u64]) -> Result<Sealed> {
        self.build_from(SortedKeys::integers(keys)?)
    }

    /// From keys whose order was checked to sealed bytes.
    pub(super) fn build_from(&self, keys: SortedKeys<'_, u64>) -> Result<Sealed> {
        self.spec.build(keys, &self.plan)
    }

    pub(super) fn open(&self, keys: &[u64]) -> Result<Box<DynFilter<u64>>> {
        lacuna_families::open::<u64, AlignedBytes>(self.build(keys)?.into_bytes())
    }

    /// Adds the build to `rounds`, per key.
    pub(super) fn add_build<'a>(&'a self, rounds: &mut Rounds<'a>, keys: &'a [u64]) -> TaskId {
        rounds.add(self.name(), keys.len(), || self.build(keys).expect("it was built once before"))
    }
}

/// The ways to ask one filter one pool of ranges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) dependent: TaskId,
    pub(super) predicted: TaskId,
    pub(super) independent: TaskId,
    pub(super) batched: TaskId,
}

/// Adds all ways to `rounds`; each asks every range of `pool` once.
pub(super) fn add_questions<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    filter: &'a DynFilter<u64>,
    pool: &'a [U64Range],
) -> Asked {
    let one = |range: U64Range| filter.may_contain_range(range);
    add_asked(rounds, name, filter, pool, one)
}

/// As [`add_questions`] for ranges of one key each, asked as users ask for a key.
pub(super) fn add_points<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    filter: &'a DynFilter<u64>,
    pool: &'a [U64Range],
) -> Asked {
    let one = |point: U64Range| filter.may_contain(point.lo());
    add_asked(rounds, name, filter, pool, one)
}

fn add_asked<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    filter: &'a DynFilter<u64>,
    pool: &'a [U64Range],
    one: impl Fn(U64Range) -> bool + Copy + 'a,
) -> Asked {
    let many = |ranges: &[U64Range], answers: &mut [bool]| filter.may_contain_ranges(ranges, answers);
    let [dependent, predicted, independent] = add_one_by_one(rounds, name, pool, one);
    let batched = rounds.add(format!("{name} batched"), pool.len(), move || batched(pool, 1, many));
    Asked { dependent, predicted, independent, batched }
}

/// Adds the ways to ask one question at a time: single, predicted, independent.
pub(super) fn add_one_by_one<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    pool: &'a [U64Range],
    one: impl Fn(U64Range) -> bool + Copy + 'a,
) -> [TaskId; 3] {
    [
        rounds.add_serial(format!("{name} single"), pool.len(), move || dependent(pool, 1, one)),
        rounds.add(format!("{name} predicted"), pool.len(), move || predicted(pool, 1, one)),
        rounds.add(format!("{name} independent"), pool.len(), move || independent(pool, 1, one)),
    ]
}

/// Runs of [`in_runs`].
const RUNS: usize = 3;

/// Measures the same bars several times, with the number of the run, and takes the middle one of each.
pub(super) fn in_runs(measure: impl FnMut(usize) -> Result<Vec<Bar>>) -> Result<Vec<Bar>> {
    let runs = (1..=RUNS).map(measure).collect::<Result<Vec<_>>>()?;
    let of = |bar: usize| runs.iter().map(|bars| bars[bar].clone()).collect::<Vec<_>>();
    Ok((0..runs[0].len()).map(|bar| Bar::middle_of(of(bar))).collect())
}

/// How many of `ranges` are "maybe".
pub(super) fn maybes(filter: &DynFilter<u64>, ranges: &[U64Range]) -> u64 {
    batched(ranges, 1, |ranges, answers| filter.may_contain_ranges(ranges, answers)) as u64
}

/// Adds the memory floor of a filter of `bytes`.
pub(super) fn add_floor<'a>(rounds: &mut Rounds<'a>, floor: &'a MemoryFloor, bytes: usize) -> TaskId {
    rounds.add("memory floor", floor.steps(), move || floor.read(bytes))
}

/// Ranges between pairs of ends.
pub(super) fn ranges(ends: &[(u64, u64)]) -> Vec<U64Range> {
    ends.iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi)).collect()
}

/// The first key value of each range, alone.
pub(super) fn points(ends: &[(u64, u64)]) -> Vec<U64Range> {
    ends.iter().map(|&(lo, _)| U64Range::point(lo)).collect()
}

/// Questions of one filter that each wait for the answer before.
pub(super) fn add_single<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    filter: &'a DynFilter<u64>,
    pool: &'a [U64Range],
) -> TaskId {
    rounds.add_serial(name, pool.len(), move || dependent(pool, 1, |range| filter.may_contain_range(range)))
}
