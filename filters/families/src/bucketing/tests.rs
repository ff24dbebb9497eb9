//! What is Bucketing's own; the conformance suite proves the rest.

use lacuna_base::{Budget, BuildPlan, FilterSpec, Sealed, SortedKeys, U64Range};
use lacuna_testkit::effort;
use lacuna_workload::Rng;

use super::BucketingSpec;
use super::codec::Scale;

/// Seed of keys and queries.
const SEED: u64 = 11;

fn bucketing(keys: &[u64], bits_per_key: f64) -> Sealed {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range"));
    BucketingSpec::new().build(SortedKeys::<u64>::try_new(keys).expect("ascending"), &plan).expect("fits")
}

/// The example of the module page: keys 3, 8 and 51, buckets of about 10.
#[test]
fn a_range_between_occupied_buckets_is_denied() {
    let scale = Scale::new(48, 4);
    let buckets: Vec<u64> = [3, 8, 51].map(|key| scale.bucket(key - 3)).to_vec();
    assert_eq!(buckets, [0, 0, 4]);
    assert_eq!((scale.bucket(12 - 3), scale.bucket(41 - 3)), (0, 3));
}

#[test]
fn the_scale_is_monotone_up_to_its_last_bucket() {
    for (span, last) in
        [(1, 0), (2, 1), (1_000, 7), (u64::MAX, 1), (u64::MAX, 1 << 40), (u64::MAX, u64::MAX - 1)]
    {
        let scale = Scale::new(span, last);
        let mut before = 0;
        for step in 0..=1_000u64 {
            let distance =
                lacuna_base::hash::reduce(u64::MAX / 1_000 * step, span) + u64::from(step == 1_000);
            let bucket = scale.bucket(distance);
            assert!(before <= bucket && bucket <= last, "span {span}, last {last}, distance {distance}");
            before = bucket;
        }
    }
}

#[test]
fn shared_buckets_buy_finer_ones() {
    // 100 clusters of 1,000 keys within 2^20: coarse buckets hold whole clusters, so far more buckets fit.
    let keys: Vec<u64> = (0..100_000u64).map(|i| ((i / 1_000) << 50) + (i % 1_000) * 1_024).collect();
    let sealed = bucketing(&keys, 10.0);
    let filter = crate::open::<u64, _>(sealed).expect("just sealed");
    let gap = U64Range::new((3 << 50) + (1 << 24), (4 << 50) - (1 << 24)).expect("not inverted");
    assert!(!filter.may_contain_range(gap));
    assert!(filter.size_in_bytes() as f64 > 0.9 * 100_000.0 * 10.0 / 8.0, "the budget is used");
}

#[test]
fn single_keys_are_told_apart_when_they_fit() {
    let keys: Vec<u64> = (0..1_000).map(|i| i * 3).collect();
    let filter = crate::open::<u64, _>(bucketing(&keys, 10.0)).expect("just sealed");
    assert!((0..2_998).all(|key| filter.may_contain(key) == (key % 3 == 0)));
}

#[test]
fn exact_sets_state_a_bound_of_zero() {
    let keys: Vec<u64> = (0..1_000).map(|i| i * 3).collect();
    let bound = |bits| crate::open::<u64, _>(bucketing(&keys, bits)).expect("just sealed").rate_bound(1_000);
    assert_eq!((bound(10.0), bound(1.0)), (0.0, 1.0));
}

/// Runs of near keys far apart: some 24 bits a key over the whole span, but few within the runs.
fn runs() -> Vec<u64> {
    (0..40_000_u64).map(|i| (i / 20) * (1 << 27) + (i % 20) * (1 + i / 20 % 3)).collect()
}

#[test]
fn runs_of_dense_keys_are_stored_exactly() {
    let keys = runs();
    let sealed = bucketing(&keys, 12.0);
    assert!(sealed.payload().len() as f64 * 8.0 <= 12.0 * keys.len() as f64 + 512.0);
    let filter = crate::open::<u64, _>(sealed).expect("just sealed");
    assert_eq!(filter.rate_bound(1 << 40), 0.0);
    for pair in keys.windows(2) {
        assert!(filter.may_contain(pair[0]) && filter.may_contain(pair[1]));
        if let Some(between) = U64Range::new(pair[0] + 1, pair[1] - 1) {
            assert!(!filter.may_contain_range(between), "{between:?}");
        }
    }
}

/// "Maybe" among `count` ranges of `len` keys without a key that start where `draw` says, as (maybes, asked).
fn maybes(keys: &[u64], count: u64, len: u64, mut draw: impl FnMut() -> u64) -> (f64, f64) {
    let filter = crate::open::<u64, _>(bucketing(keys, 14.0)).expect("just sealed");
    let (mut asked, mut maybes) = (0.0, 0.0);
    for _ in 0..count {
        let lo = draw();
        let next = keys.partition_point(|&key| key < lo);
        if next > 0 && next < keys.len() && keys[next] - lo >= len {
            let range = U64Range::new(lo, lo + len - 1).expect("not inverted");
            asked += 1.0;
            maybes += f64::from(u8::from(filter.may_contain_range(range)));
        }
    }
    (maybes, asked)
}

/// At most `rate`, and four deviations of what is counted.
fn hold_rate(rate: f64, (maybes, asked): (f64, f64), case: &str) {
    println!("{case}: {maybes} of {asked}");
    let expected = rate * asked;
    assert!(maybes <= expected + 4.0 * expected.sqrt(), "{case}, seed {SEED}: {maybes} of {asked}");
}

/// 14 bits are 2^11.86 buckets a key and 2.14 bits for their order.
#[test]
fn the_rate_between_uniform_keys_does_not_grow_with_the_range() {
    let (count, queries) = effort::short_or_long((100_000, 100_000), (10_000_000, 1_000_000));
    let mut rng = Rng::new(SEED);
    let mut keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    keys.sort_unstable();
    keys.dedup();
    for len in [1, 32, 1_024, 1 << 20] {
        hold_rate(2.9e-4, maybes(&keys, queries, len, || rng.next_u64()), &format!("{len} keys"));
    }
}

/// Queries where keys are, in the gaps between them: without segments, most of them share a bucket with a key.
#[test]
fn queries_inside_clusters_are_denied() {
    let (clusters, count, queries) =
        effort::short_or_long((100, 100_000, 100_000), (1_000, 10_000_000, 1_000_000));
    let mut rng = Rng::new(SEED);
    let starts: Vec<u64> = (0..clusters).map(|_| rng.next_u64() >> 1).collect();
    let mut draw = || starts[rng.index(clusters)] + rng.below(1 << 34);
    let mut keys: Vec<u64> = (0..count).map(|_| draw()).collect();
    keys.sort_unstable();
    keys.dedup();
    hold_rate(3.2e-4, maybes(&keys, queries, 1_024, draw), "clusters");
}
