//! Filters built for a contest, and the ways to ask them.

use std::sync::Arc;

use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, DynFilter, DynSpec, Result, Sample, Sealed, SortedKeys, U64Range,
};
use lacuna_bench::harness::{MemoryFloor, Rounds, TaskId, batched, dependent, independent, predicted};

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

    pub(super) fn name(&self) -> String {
        self.spec.name()
    }

    /// From the sorted slice to sealed bytes, the check of the order included.
    pub(super) fn build(&self, keys: &[u64]) -> Result<Sealed> {
        self.spec.build(SortedKeys::integers(keys)?, &self.plan)
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
    let one = |range| filter.may_contain_range(range);
    let many = |ranges: &[U64Range], answers: &mut [bool]| filter.may_contain_ranges(ranges, answers);
    let steps = pool.len();
    Asked {
        dependent: rounds.add_serial(format!("{name} single"), steps, move || dependent(pool, 1, one)),
        predicted: rounds.add(format!("{name} predicted"), steps, move || predicted(pool, 1, one)),
        independent: rounds.add(format!("{name} independent"), steps, move || independent(pool, 1, one)),
        batched: rounds.add(format!("{name} batched"), steps, move || batched(pool, 1, many)),
    }
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
