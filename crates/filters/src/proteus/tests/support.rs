//! Keys, queries and counts that the tests share.

use std::sync::Arc;

use lacuna_core::{Budget, BuildPlan, DynFilter, FilterSpec, Sample, SortedKeys, U64Range};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions};

/// Keys and empty queries of a workload such as `normal:50k`, `split:...`.
pub(crate) fn workload(keys: &str, queries: &[&str], seed: u64) -> (Vec<u64>, Vec<(u64, u64)>) {
    let source = KeySource::parse(keys).expect("a generated set");
    let loaded = source.load(&ReadOptions::default(), seed, &mut |_| {}).expect("generated");
    let mut asked = Vec::new();
    for queries in queries {
        let source = QuerySource::parse(queries).expect("a generated workload");
        let workload = source.workload(loaded.clone(), seed + 1).expect("keys leave room");
        let Queries::U64(ranges) = workload.queries else { panic!("integers were asked for") };
        asked.extend(ranges);
    }
    let Keys::U64(keys) = loaded else { panic!("integers were asked for") };
    (keys, asked)
}

/// A plan with every `step`-th query as its sample.
pub(crate) fn plan(bits_per_key: f64, queries: &[(u64, u64)], step: usize) -> BuildPlan<u64> {
    let mut sample = Sample::new();
    queries.iter().step_by(step).for_each(|&(lo, hi)| sample.push(lo, hi));
    BuildPlan::new(Budget::bits_per_key(bits_per_key).expect("in range")).with_sample(Arc::new(sample))
}

/// A filter of this spec.
pub(crate) fn build(spec: &impl FilterSpec<u64>, keys: &[u64], plan: &BuildPlan<u64>) -> Box<DynFilter<u64>> {
    let keys = SortedKeys::integers(keys).expect("ascending");
    crate::open::<u64, _>(spec.build(keys, plan).expect("fits")).expect("just sealed")
}

/// Share of the queries that are "maybe".
pub(crate) fn rate(filter: &DynFilter<u64>, queries: &[(u64, u64)]) -> f64 {
    let ranges: Vec<U64Range> =
        queries.iter().map(|&(lo, hi)| U64Range::new(lo, hi).expect("in order")).collect();
    let mut answers = vec![false; ranges.len()];
    filter.may_contain_ranges(&ranges, &mut answers);
    answers.iter().filter(|&&answer| answer).count() as f64 / ranges.len() as f64
}
