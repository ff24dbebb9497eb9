//! Learned gaps after a filter's "maybe".

use std::ops::Bound::Included;

use lacuna_guard::{GapOptions, Neighbours};
use lacuna_rocksdb_property::{Direction, TableFacts, TableGuard, TableIdentity};

use crate::{property, question, table};

/// A filter that lets every range pass.
const BLIND: &str = "bucketing@1 codec=fixed_be:8";

fn identity(number: u64) -> TableIdentity<'static> {
    TableIdentity { session: b"Z1X8VJ2N0QHYW5Q4K7P3", number }
}

#[test]
fn a_gap_denies_what_the_filter_lets_pass_in_its_own_table_alone() {
    let guard = TableGuard::parse(BLIND).unwrap().with_learned_gaps(GapOptions::default());
    let bytes = property(&guard, Some(2), (0..5_000).map(|number| number << 20));
    let known_by = |identity| TableFacts { identity, ..table(&bytes) };
    let ask = |identity| {
        let question = question(&guard, (9 << 20) + 5, (9 << 20) + 9, Direction::Forward);
        let answer = question.may_contain(known_by(identity));
        question.note_empty();
        answer
    };
    assert!(ask(Some(identity(7))) && ask(None));
    let gaps = guard.learned_gaps().unwrap();
    let hint = gaps.take_hint().expect("the first scan is a hint");
    assert_eq!(hint.tags, [identity(7).tag().unwrap()]);
    assert!(gaps.take_hint().is_none(), "a table without a tag gives none");
    let [below, above] = [9u64 << 20, 10 << 20].map(u64::to_be_bytes);
    let proof = Neighbours { below: Some(&below), above: Some(&above), smallest: &[0; 8], largest: &above };
    gaps.open_file(hint.tags[0]).learn(&proof);
    assert!(gaps.is_known_empty(
        hint.tags[0],
        Included(&((9u64 << 20) + 1).to_be_bytes()),
        Included(&above[..7])
    ));
    assert!(!ask(Some(identity(7))));
    assert!(ask(Some(identity(8))) && ask(None), "the same filter in another table");
    assert_eq!(guard.stats().filters.level(Some(2)).skipped_by_gap, 1);
}
