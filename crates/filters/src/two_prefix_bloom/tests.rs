//! What two prefix Bloom filters have of their own; the model is tested beside that of Proteus.

use lacuna_core::{Budget, BuildPlan, FilterSpec, SortedKeys, U64Range};

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
