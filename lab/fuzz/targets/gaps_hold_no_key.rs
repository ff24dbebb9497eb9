//! Gaps learned beside the keys of a file, in a set too small for all of them: none ever covers a key.

#![no_main]

use arbitrary::Arbitrary;
use lacuna_base::{ByteGapSet, ByteRange, GapSet, U64Range};
use lacuna_testkit::Oracle;
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    memory: u16,
    keys: Vec<u64>,
    learned: Vec<u64>,
    asked: Vec<(u64, u64)>,
}

fuzz_target!(|input: Input| {
    let oracle = Oracle::<u64>::new(input.keys);
    let integers = GapSet::within(usize::from(input.memory));
    let strings = ByteGapSet::within(usize::from(input.memory));
    for &place in &input.learned {
        let above = oracle.keys().partition_point(|&key| key < place);
        if oracle.contains(place) {
            continue;
        }
        let ends =
            (above.checked_sub(1).map(|below| oracle.keys()[below]), oracle.keys().get(above).copied());
        integers.learn_between(ends.0, ends.1);
        let ends = (ends.0.map(u64::to_be_bytes), ends.1.map(u64::to_be_bytes));
        strings.learn_between(ends.0.as_ref().map(|end| &end[..]), ends.1.as_ref().map(|end| &end[..]));
    }
    for &(one, other) in &input.asked {
        let (lo, hi) = (one.min(other), one.max(other));
        let range = U64Range::new(lo, hi).expect("put in order");
        let holds = oracle.holds_any(range);
        assert!(!(integers.is_known_empty(range) && holds), "{range:?} holds a key");
        let (lo, hi) = (lo.to_be_bytes(), hi.to_be_bytes());
        let range = ByteRange::new(&lo, &hi).expect("put in order");
        assert!(!(strings.is_known_empty(range) && holds), "{range:?} holds a key");
    }
});
