//! What the tests of REncoder share: keys, filters, empty ranges.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, DynFilter, Sample, Sealed, SortedKeys, U64Range};
use lacuna_workload::{KeySource, Keys, ReadOptions, Rng};

pub(super) fn keys_of(source: &str, seed: u64) -> Vec<u64> {
    let source = KeySource::parse(source).expect("well formed");
    match source.load(&ReadOptions::default(), seed, &mut |_| {}).expect("generated") {
        Keys::U64(keys) => keys,
        Keys::Bytes(_) => unreachable!("generators give integers"),
    }
}

pub(super) fn seal(spec: &str, keys: &[u64], bits_per_key: f64, sample: &[(u64, u64)]) -> Sealed {
    let mut sampled = Sample::new();
    sample.iter().for_each(|&(lo, hi)| sampled.push(lo, hi));
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range"));
    let plan = plan.with_seed(5).with_sample(Arc::new(sampled));
    let keys = SortedKeys::<u64>::try_new(keys).expect("ascending");
    crate::spec::<u64>(spec).expect("known").build(keys, &plan).expect("fits")
}

pub(super) fn build(spec: &str, keys: &[u64], bits_per_key: f64) -> Box<DynFilter<u64>> {
    crate::open(seal(spec, keys, bits_per_key, &[])).expect("just sealed")
}

/// Empty ranges of 2 to 32 keys that start at `start`.
pub(super) fn empty_ranges(
    keys: &[u64],
    count: usize,
    seed: u64,
    start: impl Fn(&mut Rng) -> u64,
) -> Vec<(u64, u64)> {
    let mut rng = Rng::new(seed);
    let mut ranges = Vec::new();
    while ranges.len() < count {
        let lo = start(&mut rng);
        let hi = lo.saturating_add(rng.between(1, 31));
        let next = keys.partition_point(|&key| key < lo);
        if keys.get(next).is_none_or(|&key| key > hi) {
            ranges.push((lo, hi));
        }
    }
    ranges
}

pub(super) fn positives(filter: &DynFilter<u64>, ranges: &[(u64, u64)]) -> f64 {
    let ranges: Vec<U64Range> =
        ranges.iter().map(|&(lo, hi)| U64Range::new(lo, hi).expect("not inverted")).collect();
    let mut answers = vec![false; ranges.len()];
    filter.may_contain_ranges(&ranges, &mut answers);
    answers.iter().filter(|answer| **answer).count() as f64
}
