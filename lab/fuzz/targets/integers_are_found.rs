//! Any integers, any family, any budget: a key that was added is never denied, nor is a range around one.

#![no_main]

use arbitrary::Arbitrary;
use lacuna_fuzz::{between, plan_of, spec_of};
use lacuna_testkit::Oracle;
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    spec: u8,
    bits: u8,
    seed: u64,
    keys: Vec<u64>,
    ends: Vec<(u64, u64)>,
}

fuzz_target!(|input: Input| {
    let oracle = Oracle::<u64>::new(input.keys);
    let spec = lacuna_families::spec::<u64>(spec_of(input.spec)).expect("the family's own example");
    let Ok(sealed) = spec.build(oracle.sorted(), &plan_of(input.bits, input.seed)) else {
        return;
    };
    let filter = lacuna_families::open_verified::<u64, _>(sealed.into_bytes()).expect("just sealed");
    for &key in oracle.keys() {
        assert!(filter.may_contain(key), "{key} was added and is denied");
        assert!(filter.may_contain_range(between(key, key.saturating_add(input.seed))));
        assert!(filter.may_contain_range(between(key.saturating_sub(input.seed), key)));
    }
    for &(one, other) in &input.ends {
        let range = between(one, other);
        assert!(filter.may_contain_range(range) || !oracle.holds_any(range), "{range:?} holds a key");
    }
});
