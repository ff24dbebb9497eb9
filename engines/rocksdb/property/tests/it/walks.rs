//! Backward walks over tables below the range.

use std::ops::Bound::{Excluded, Included};

use lacuna_guard::{GapOptions, Neighbours};
use lacuna_rocksdb_property::{Collector, Direction, Question, TableFacts, TableGuard, TableIdentity};

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

/// A composite codec hashes the first part of a key, so that nothing says which tables are below.
#[test]
fn every_ninth_denial_ends_a_backward_walk_where_keys_have_no_order() {
    let guard = TableGuard::parse("grafite@16 codec=composite:4,4").unwrap();
    let key = |user: u32, message: u32| [user.to_be_bytes(), message.to_be_bytes()].concat();
    let tables: Vec<Vec<u8>> = (0..40)
        .map(|user| {
            let mut collector = Collector::new(&guard, Some(1));
            (0..10).for_each(|message| collector.add(Collector::PUT, &key(user, message << 10)));
            collector.finish().unwrap()
        })
        .collect();
    let (lo, hi) = (key(100, 0), key(100, u32::MAX));
    for (direction, expected) in [(Direction::Reverse, vec![8, 17, 26, 35]), (Direction::Forward, vec![])] {
        let question = Question::new(&guard, (Included(&lo), Included(&hi)), direction);
        let mut answers = tables.iter().rev().map(|bytes| question.may_contain(table(bytes)));
        let shown: Vec<usize> = (0..40).filter(|_| answers.next() == Some(true)).collect();
        assert_eq!(shown, expected, "{direction:?}");
    }
}

#[test]
fn a_forward_scan_skips_them_all() {
    assert!(walk(Direction::Forward).iter().all(|&may_contain| !may_contain));
}

/// Strings whose filters know no more of the largest key than its first eight bytes, which are those of the range too.
#[test]
fn tables_below_the_range_by_a_gap_count_as_walked_over() {
    let guard = TableGuard::parse("bucketing@9").unwrap().with_learned_gaps(GapOptions::default());
    let mut collector = Collector::new(&guard, Some(1));
    [&b"a"[..], b"zzzzzzzzzz1"].into_iter().for_each(|key| collector.add(Collector::PUT, key));
    let bytes = collector.finish().unwrap();
    let identity = |number| TableIdentity { session: b"a session", number };
    for number in 1..=40 {
        let file = guard.learned_gaps().unwrap().open_file(identity(number).tag().unwrap());
        let largest = b"zzzzzzzzzz1";
        file.learn(&Neighbours { below: Some(largest), above: None, smallest: b"a", largest });
    }
    let bounds = (Included(&b"zzzzzzzzzz5"[..]), Excluded(&b"zzzzzzzzzz7"[..]));
    for (direction, expected) in [(Direction::Reverse, vec![9, 18, 27, 36]), (Direction::Forward, vec![])] {
        let question = Question::new(&guard, bounds, direction);
        let is_shown =
            |number| question.may_contain(TableFacts { identity: Some(identity(number)), ..table(&bytes) });
        let shown: Vec<u64> = (1..=40).filter(|&number| is_shown(number)).collect();
        assert_eq!(shown, expected, "{direction:?}");
    }
    assert_eq!(guard.stats().filters.skipped_by_gap(), 36 + 40);
}
