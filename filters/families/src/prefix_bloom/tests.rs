//! What is the prefix Bloom filter's own; the conformance suite proves the rest.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, FilterSpec, Sample, SortedKeys, U64Range};

use super::PrefixBloomSpec;

/// The example of the module page, with the 8-bit keys in the high byte.
#[test]
fn a_range_without_a_keys_prefix_is_denied() {
    let keys = [17u64, 22, 200].map(|key| key << 56);
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(40.0).expect("in range"));
    let spec = PrefixBloomSpec::new().with_prefix_bits(5);
    let sealed = spec.build(SortedKeys::<u64>::try_new(&keys).expect("ascending"), &plan).expect("fits");
    let filter = crate::open::<u64, _>(sealed).expect("just sealed");
    let ask =
        |lo: u64, hi: u64| filter.may_contain_range(U64Range::new(lo << 56, hi << 56).expect("not inverted"));
    assert!(!ask(24, 31));
    assert!(ask(18, 19), "shares a prefix with 17");
}

#[test]
fn the_sample_sets_the_length() {
    let keys: Vec<u64> = (0..1_000u64).map(|i| i << 32).collect();
    let mut sample = Sample::<u64>::new();
    for place in 1..400u64 {
        // A thousand keys, half a million after a key: 2^10 of them span the range, 2^19 distinguish it from the key.
        let start = (place << 32) + 500_000 + place * 7;
        sample.push(start, start + 999);
    }
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0).expect("in range"));
    let keys = SortedKeys::<u64>::try_new(&keys).expect("ascending");
    let build = |spec: PrefixBloomSpec, plan: &BuildPlan<u64>| spec.build(keys, plan).expect("fits");
    let sampled = build(PrefixBloomSpec::new(), &plan.clone().with_sample(Arc::new(sample)));
    let dropped = u64::from_le_bytes(*sampled.payload().first_chunk().expect("a header"));
    assert!((10..=18).contains(&dropped), "{dropped} low bits left out");
    assert_ne!(sampled, build(PrefixBloomSpec::new(), &plan));
}
