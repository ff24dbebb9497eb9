//! Backward walks over tables below the range.

use lacuna_rocksdb_property::{Direction, TableGuard};

use crate::{property, question, table};

/// Answers of 40 tables from the top down, side by side, to an empty range above them all.
fn walk(direction: Direction) -> Vec<bool> {
    let guard = TableGuard::parse("grafite@16 codec=fixed_be:8").unwrap();
    let tables: Vec<Vec<u8>> =
        (0..40u64).map(|place| property(&guard, None, (0..10).map(|key| (place * 10 + key) << 20))).collect();
    let question = question(&guard, (500 << 20) + 1, (500 << 20) + 9, direction);
    tables.iter().rev().map(|bytes| question.may_contain(table(bytes))).collect()
}

#[test]
fn every_ninth_table_ends_a_backward_walk() {
    let answers = walk(Direction::Reverse);
    let shown: Vec<usize> = (0..40).filter(|&place| answers[place]).collect();
    assert_eq!(shown, [8, 17, 26, 35]);
}

#[test]
fn a_forward_scan_skips_them_all() {
    assert!(walk(Direction::Forward).iter().all(|&may_contain| !may_contain));
}
