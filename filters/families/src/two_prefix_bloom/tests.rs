//! What two prefix Bloom filters have of their own; the model is tested beside that of Proteus.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, ByteColumn, FilterSpec, Sample, SortedKeys, U64Range};

use super::TwoPrefixBloomSpec;

/// The example of the module page, with the 8-bit keys in the high byte.
#[test]
fn the_long_prefixes_decide_below_a_short_one() {
    let keys = [17u64, 98, 200].map(|key| key << 56);
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(100.0).expect("in range"));
    let spec = TwoPrefixBloomSpec::new().with_lengths(3, 6);
    let sealed = spec.build(SortedKeys::<u64>::try_new(&keys).expect("ascending"), &plan).expect("fits");
    let filter = crate::open::<u64, _>(sealed).expect("just sealed");
    let ask =
        |lo: u64, hi: u64| filter.may_contain_range(U64Range::new(lo << 56, hi << 56).expect("not inverted"));
    assert!(!ask(64, 90), "no key has the short prefix 2");
    assert!(!ask(104, 120), "98 has the short prefix 3, but none of these long ones");
    assert!(ask(64, 98) && ask(96, 99));
}

/// The common prefix of strings takes what two filters would need at the least; then the long prefixes have the rest.
#[test]
fn little_room_is_for_long_prefixes_alone() {
    let name = |number: u32| format!("a common prefix/{number:04}");
    let keys: ByteColumn = [1_000, 2_000, 3_000, 4_000].map(name).into_iter().collect();
    let mut sample = Sample::<[u8]>::new();
    for number in 0..50 {
        sample.push(name(1_100 + number).as_bytes(), name(1_101 + number).as_bytes());
    }
    let plan = BuildPlan::<[u8]>::new(Budget::bits_per_key(0.5).expect("in range"));
    let plan = plan.with_sample(Arc::new(sample));
    let keys = SortedKeys::byte_strings(&keys).expect("ascending");
    let sealed = TwoPrefixBloomSpec::new().build(keys, &plan).expect("fits");
    let filter = crate::open::<[u8], _>(sealed).expect("just sealed");
    assert!([1_000, 2_000, 3_000, 4_000].iter().all(|&key| filter.may_contain(name(key).as_bytes())));
}

/// Without a sample too, a length that is given is the one that is built.
#[test]
fn a_given_short_length_is_kept() {
    let keys: Vec<u64> = (0..1_000).map(|key| key << 30).collect();
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(20.0).expect("in range"));
    let spec = crate::spec::<u64>("two_prefix_bloom:short=61").expect("known");
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    assert_eq!(sealed.payload()[0], 3, "61 of 64 bits are kept");
    assert!(sealed.payload()[1] < 3);
}

/// Bytes of a first filter that no query asks are not what any builder writes.
#[test]
fn a_first_filter_without_prefixes_is_corrupt() {
    use crate::integer::IntegerBody as _;
    let keys: Vec<u64> = (0..1_000).map(|key| key << 30).collect();
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(20.0).expect("in range"));
    let spec = TwoPrefixBloomSpec::new().with_lengths(40, 60);
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    let (envelope, _) = lacuna_base::Envelope::open(sealed.as_bytes()).expect("just sealed");
    let mut body = sealed.payload().to_vec();
    assert!(super::TwoPrefixBloom::open(&body, &envelope).is_ok());
    body[0] = 64;
    assert!(super::TwoPrefixBloom::open(&body, &envelope).is_err());
}
