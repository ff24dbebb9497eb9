//! What is Bucketing's own; the conformance suite proves the rest.

use lacuna_base::{Budget, BuildPlan, FilterSpec, Sealed, SortedKeys, U64Range};

use super::BucketingSpec;
use super::codec::Scale;

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
