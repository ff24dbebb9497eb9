//! Sets that the budget stores whole are stored whole, and the choice says so.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, DynFilter, RateBound, Sample, SortedKeys, U64Range};
use lacuna_workload::{Keys, QuerySource, real_sets};

use super::AutoSpec;

const SEED: u64 = 19;

fn node_ids() -> Vec<u64> {
    let set = real_sets().into_iter().find(|set| set.name() == "osm_node_ids").expect("one of the eight");
    println!("{}", set.note());
    match set.load().expect("a file, or a twin") {
        Keys::U64(keys) => keys,
        Keys::Bytes(_) => unreachable!("ids are integers"),
    }
}

fn sample_of(keys: &[u64], queries: &str) -> Sample<u64> {
    let source = QuerySource::parse(queries).expect("a kind of queries");
    let workload = source.workload(Keys::U64(keys.to_vec()), SEED).expect("drawn");
    let mut sample = Sample::new();
    let lacuna_workload::Queries::U64(ranges) = &workload.queries else { unreachable!("of integers") };
    ranges.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    sample
}

fn plan(bits: f64, sample: Sample<u64>) -> BuildPlan<u64> {
    let budget = Budget::bits_per_key(bits).expect("in range");
    BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(SEED)
}

fn open(auto: AutoSpec, keys: &[u64], plan: &BuildPlan<u64>) -> Box<DynFilter<u64>> {
    let design = auto.design(SortedKeys::integers(keys).expect("ascending"), plan).expect("fits");
    crate::open(design.build().expect("fits")).expect("just sealed")
}

/// Between any two keys of a thousand runs.
fn denies_every_gap(filter: &DynFilter<u64>, keys: &[u64]) -> bool {
    let gap = |pair: &[u64]| U64Range::new(pair[0] + 1, pair[1].checked_sub(1)?);
    keys.windows(2).step_by(7).filter_map(gap).all(|gap| !filter.may_contain_range(gap))
}

#[test]
fn node_ids_are_stored_exactly() {
    let keys = node_ids();
    for bits in [12.0, 14.0] {
        // Few gaps of the twin are as wide.
        for queries in ["", "heldout:300:32-32"] {
            let sample = if queries.is_empty() { Sample::new() } else { sample_of(&keys, queries) };
            let filter = open(AutoSpec::new(), &keys, &plan(bits, sample));
            let is_exact = filter.rate_bound(u64::MAX) == 0.0 && denies_every_gap(&*filter, &keys);
            assert!(is_exact, "{bits} bits, sample `{queries}`, seed {SEED}");
        }
        let robust = open(AutoSpec::robust(), &keys, &plan(bits, Sample::new()));
        assert!(robust.rate_bound(u64::MAX) == 0.0, "{bits} bits, robust");
        assert!(keys.iter().step_by(11).all(|&key| robust.may_contain(key)), "{bits} bits, robust");
    }
}

/// Every set of ten places, in runs and far apart: what is chosen within 40 bits is asked about every range of places.
#[test]
fn choices_that_say_exact_are_exact() {
    let places: [u64; 10] = [0, 1, 2, 5, 6, 1 << 20, (1 << 20) + 3, 1 << 50, u64::MAX - 1, u64::MAX];
    let mut exact = 0;
    for set in 1_u32..1 << places.len() {
        let keys: Vec<u64> =
            (0..places.len()).filter(|bit| set >> bit & 1 == 1).map(|bit| places[bit]).collect();
        let filter = open(AutoSpec::new(), &keys, &plan(40.0, Sample::new()));
        let is_exact = filter.rate_bound(u64::MAX) == 0.0;
        exact += u32::from(is_exact);
        for (index, &lo) in places.iter().enumerate() {
            for &hi in &places[index..] {
                let holds = keys.iter().any(|key| (lo..=hi).contains(key));
                let maybe = filter.may_contain_range(U64Range::new(lo, hi).expect("in order"));
                assert!(maybe >= holds && (!is_exact || maybe == holds), "{keys:?}: {lo}..={hi}");
            }
        }
    }
    assert!(exact > 700, "{exact} of 1,023 sets are stored exactly");
}

/// A filter that is right about nearly all queries of the sample is not yet right about others.
#[test]
fn a_little_time_is_paid_for_exactness() {
    let keys = node_ids();
    let candidates = |price| {
        let plan = plan(14.0, Sample::new());
        let auto = AutoSpec::new().with_price_ns(price);
        let design = auto.design(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
        design.candidates().to_vec()
    };
    let dear = candidates(20_000);
    let cheapest = dear.iter().map(|candidate| candidate.cost_ns).fold(f64::INFINITY, f64::min);
    assert_eq!(dear[0].prediction.bound, RateBound::EXACT, "{dear:?}");
    assert!(dear[0].cost_ns <= cheapest + 30.0, "{dear:?}");
    let free = candidates(0);
    assert!(
        free.is_sorted_by(|a, b| a.cost_ns <= b.cost_ns),
        "nothing is paid where reads are free: {free:?}"
    );
}
