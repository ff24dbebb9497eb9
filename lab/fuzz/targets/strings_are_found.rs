//! Any byte strings, any family, any kind of bounds: a range that holds an added key is never denied.

#![no_main]

use std::ops::Bound;

use arbitrary::Arbitrary;
use lacuna_base::ByteRange;
use lacuna_fuzz::{plan_of, spec_of};
use lacuna_testkit::Oracle;
use libfuzzer_sys::fuzz_target;

type End = Bound<Vec<u8>>;

#[derive(Debug, Arbitrary)]
struct Input {
    spec: u8,
    bits: u8,
    seed: u64,
    keys: Vec<Vec<u8>>,
    ends: Vec<(End, End)>,
}

fuzz_target!(|input: Input| {
    let oracle = Oracle::<[u8]>::new(input.keys);
    let spec = lacuna_families::spec::<[u8]>(spec_of(input.spec)).expect("the family's own example");
    let Ok(sealed) = spec.build(oracle.sorted(), &plan_of(input.bits, input.seed)) else {
        return;
    };
    let filter = lacuna_families::open_verified::<[u8], _>(sealed.into_bytes()).expect("just sealed");
    for key in oracle.keys() {
        assert!(filter.may_contain(key), "{key:?} was added and is denied");
    }
    for (lo, hi) in &input.ends {
        let bounds = (lo.as_ref().map(Vec::as_slice), hi.as_ref().map(Vec::as_slice));
        let Some(range) = ByteRange::from_bounds(bounds.0, bounds.1) else {
            assert!(!filter.may_contain_bounds(bounds.0, bounds.1), "an empty pair of bounds holds nothing");
            continue;
        };
        assert!(filter.may_contain_range(range) || !oracle.holds_any(range), "{range:?} holds a key");
    }
});
