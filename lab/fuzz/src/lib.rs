//! What the targets share: specs to choose from, and every question that a filter answers.

use lacuna_base::{Budget, BuildPlan, DynFilter, KeySpace, U64Range};
use lacuna_families::FAMILIES;

/// Forms of a family that its example is not.
const FORMS: [&str; 3] =
    ["ribbon:cell=3", "ribbon:cell=9,near=50", "ribbon:block=1,planes=3,window=2,layer=1,cell=2,near=50"];

/// The spec that `choice` names: each family by its bare name and with everything set, then further forms.
pub fn spec_of(choice: u8) -> &'static str {
    if let Some(form) = FORMS.get(usize::from(choice).wrapping_sub(2 * FAMILIES.len())) {
        return form;
    }
    let family = &FAMILIES[usize::from(choice / 2) % FAMILIES.len()];
    if choice.is_multiple_of(2) { family.kind.name() } else { family.example }
}

/// A plan of 1 to 40 bits a key.
pub fn plan_of<K: KeySpace + ?Sized>(bits: u8, seed: u64) -> BuildPlan<K> {
    let budget = Budget::bits_per_key(f64::from(1 + bits % 40)).expect("between 1 and 40 bits a key");
    BuildPlan::new(budget).with_seed(seed)
}

/// The closed range between two integers, in either order.
pub fn between(one: u64, other: u64) -> U64Range {
    U64Range::new(one.min(other), one.max(other)).expect("put in order")
}

/// Asks a filter over integers for a point, a range and a batch; whatever it says, it must come back.
pub fn ask_integers(filter: &DynFilter<u64>, ends: &[(u64, u64)]) {
    let ranges: Vec<U64Range> = ends.iter().map(|&(one, other)| between(one, other)).collect();
    let mut answers = vec![false; ranges.len()];
    filter.may_contain_ranges(&ranges, &mut answers);
    for (&range, &batched) in ranges.iter().zip(&answers) {
        assert_eq!(filter.may_contain_range(range), batched, "single and batched differ at {range:?}");
        let _ = filter.may_contain(range.lo());
    }
}
