//! The choice between window and map, and points beside either.

use std::sync::Arc;

use lacuna_base::{AlignedBytes, Budget, BuildPlan, ByteColumn, ByteRange, Sample, SortedKeys};

use crate::GrafiteSpec;
use crate::frame::window_for;
use crate::integer_build::build_behind;
use crate::string_choice::StringChoice;

fn plan(sample: Sample<[u8]>) -> BuildPlan<[u8]> {
    BuildPlan::new(Budget::bits_per_key(16.0).expect("in range")).with_sample(Arc::new(sample)).with_seed(3)
}

/// Eight bytes tell these apart; a tail of one byte follows.
fn told_by_windows() -> ByteColumn {
    (0..6_000u64).map(|n| [&(n * n * 0x1_0000_0000).to_be_bytes()[..], b"t"].concat()).collect()
}

/// Eight bytes see one of a few series here.
fn series() -> ByteColumn {
    (0..6_000u32).map(|n| format!("host-{:02}/processor/{:07}", n / 400, n * 37).into_bytes()).collect()
}

/// One beyond each fifth key in `place`, and what begins so: a single integer of a window that reads `place`.
fn after_each(keys: &ByteColumn, place: usize) -> Sample<[u8]> {
    let mut sample = Sample::new();
    for key in keys.iter().step_by(5) {
        let mut lo = key.to_vec();
        lo[place] = lo[place].saturating_add(1);
        let hi = [&lo[..], b"z"].concat();
        sample.push(lo.as_slice(), hi.as_slice());
    }
    sample
}

#[test]
fn windows_stay_where_they_see_the_queries_and_maps_come_where_they_do_not() {
    let seen = told_by_windows();
    let sorted = SortedKeys::byte_strings(&seen).expect("ascending");
    assert!(!StringChoice::of(sorted, &plan(after_each(&seen, 7))).has_map());
    let unseen = series();
    let sorted = SortedKeys::byte_strings(&unseen).expect("ascending");
    let last = unseen.get(0).len() - 1;
    assert!(StringChoice::of(sorted, &plan(after_each(&unseen, last))).has_map());
}

#[test]
fn a_sample_outside_of_the_keys_or_of_keys_alone_leaves_the_choice_as_it_is_without_one() {
    let keys = series();
    let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
    let sections = |choice: StringChoice<'_>| (choice.has_map(), choice.section_bytes());
    let none = sections(StringChoice::of(sorted, &plan(Sample::new())));
    assert!(none.0, "a window sees no more than the series");
    let (mut outside, mut present) = (Sample::new(), Sample::new());
    (0..1_000).for_each(|n| outside.push(format!("zz-{n:05}").as_bytes(), format!("zz-{n:05}/9").as_bytes()));
    keys.iter().step_by(7).for_each(|key| present.push(key, key));
    for sample in [outside, present] {
        assert_eq!(sections(StringChoice::of(sorted, &plan(sample.clone()))), none);
        for spec in ["auto", "grafite"] {
            let sealed = |sample: Sample<[u8]>| {
                crate::spec::<[u8]>(spec).expect("a spec").build(sorted, &plan(sample)).expect("fits")
            };
            assert!(sealed(sample.clone()) == sealed(Sample::new()), "{spec}");
        }
    }
}

#[test]
fn points_beside_a_window_deny_absent_keys_and_no_key() {
    for keys in [told_by_windows(), series()] {
        let sorted = SortedKeys::byte_strings(&keys).expect("ascending");
        let choice = StringChoice::window(window_for(sorted, 256)).beside_points(8_000);
        let sealed = build_behind(&choice, &GrafiteSpec::new(), sorted, &plan(Sample::new())).expect("fits");
        assert_eq!(sealed.payload().last(), Some(&(16 + 8)));
        let filter = crate::open::<[u8], _>(AlignedBytes::copy_of(sealed.as_bytes())).expect("opens");
        let mut passed = 0;
        for key in keys.iter() {
            assert!(filter.may_contain(key), "misses {key:?}");
            let longer = [key, &b"x"[..]].concat();
            let range = ByteRange::new(key, &longer).expect("not inverted");
            assert!(filter.may_contain_range(range), "misses {key:?} in a range");
            passed += usize::from(filter.may_contain(longer.as_slice()));
        }
        assert!(passed < keys.len() / 50, "{passed} of {} absent keys pass", keys.len());
    }
}
