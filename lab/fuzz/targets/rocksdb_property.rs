//! A table's property from any bytes: a table is never skipped for what does not open, and nothing panics.

#![no_main]

use std::ops::Bound;

use arbitrary::Arbitrary;
use lacuna_rocksdb_property::{Direction, Property, Question, TableFacts, TableGuard};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    property: Vec<u8>,
    lo: Vec<u8>,
    hi: Vec<u8>,
    backward: bool,
}

fuzz_target!(|input: Input| {
    let guard = TableGuard::parse("grafite@14 codec=fixed_be:8").expect("a sound policy");
    let bounds = (Bound::Included(&input.lo[..]), Bound::Included(&input.hi[..]));
    let facts =
        TableFacts { comparator: TableFacts::BYTEWISE, property: Some(&input.property), identity: None };
    let direction = if input.backward { Direction::Reverse } else { Direction::Forward };
    let passes = Question::new(&guard, bounds, direction).may_contain(facts);
    let opens = Property::parse(&input.property)
        .is_ok_and(|property| lacuna_families::open::<u64, _>(property.sealed.to_vec()).is_ok());
    let inverted = input.lo > input.hi;
    assert!(passes || opens || inverted, "a table was skipped for bytes that do not open");
});
