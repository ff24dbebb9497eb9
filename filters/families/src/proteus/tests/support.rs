//! Keys, queries and counts that the tests share.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, DynFilter, FilterSpec, Sample, SortedKeys, U64Range};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions, Rng, is_empty};

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

/// Normal-Split as in the paper: a deviation of a hundredth of the space; half of the queries 2 to 2^7 keys up to 2^10
/// after a key, half 2 to 2^20 anywhere in the space.
pub(crate) fn normal_split(count: &str, half: usize, seed: u64) -> (Vec<u64>, Vec<(u64, u64)>) {
    let (keys, _) = workload(&format!("normal:{count}"), &["uniform:1:1"], seed);
    let middle = 1u64 << 63;
    let narrow = |key: u64| match key.checked_sub(middle) {
        Some(above) => middle + above / 25 * 16,
        None => middle - (middle - key) / 25 * 16,
    };
    let keys = Keys::from_u64s(keys.into_iter().map(narrow).collect());
    let correlated = QuerySource::parse(&format!("correlated:{half}:2-128:1k")).expect("known");
    let correlated = correlated.workload(keys.clone(), seed + 1).expect("keys leave room").queries;
    let (Keys::U64(keys), Queries::U64(mut queries)) = (keys, correlated) else { panic!("integers") };
    let mut rng = Rng::new(seed);
    while queries.len() < 2 * half {
        let lo = rng.between(0, u64::MAX - (1 << 20));
        let hi = lo + rng.between(1, (1 << 20) - 1);
        if is_empty(&keys, lo, hi) {
            queries.push((lo, hi));
        }
    }
    (keys, queries)
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
