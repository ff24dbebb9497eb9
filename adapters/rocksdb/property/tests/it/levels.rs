//! Counts by the level a table was written for.

use lacuna_rocksdb_property::{Direction, TableGuard};

use crate::{property, question, table};

#[test]
fn false_positives_count_at_the_level_that_let_pass() {
    // One bit a key: a filter that says "maybe" to nearly everything.
    let guard = TableGuard::parse("bucketing@1 codec=fixed_be:8").unwrap();
    let [first, deep] =
        [1, 30].map(|level| property(&guard, Some(level), (0..5_000).map(|number| number << 20)));
    let question = question(&guard, (9 << 20) + 5, (9 << 20) + 9, Direction::Forward);
    assert!(question.may_contain(table(&first)) && question.may_contain(table(&deep)));
    question.note_empty();
    let filters = guard.stats().filters;
    assert_eq!((filters.level(Some(1)).false_positives, filters.level(Some(7)).false_positives), (1, 1));
    assert_eq!(filters.total().false_positives, 2);
}
