//! Burials beside later writes: each order in which a live key could be announced as dead, step by step.

use lacuna_node_filters::{Config, Decision, Deletion, Message, Mode, Reason};

use crate::pair::{IDS, Pair, TABLE, partition, take};
use crate::rules::deletion;

const EMPTY: Decision = Decision::Empty;

/// The replica buried the key before the coordinator sent it a write, and tells of it only afterwards.
#[test]
fn an_older_burial_does_not_hide_an_own_write() {
    let mut pair = Pair::new(Config::new(Mode::Eventual), None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    let deletion = Deletion { time: 10, newest_in_files: Some(9), newest_in_memory: None };
    assert!(pair.nodes[1].bury(TABLE, partition(5), deletion));
    pair.nodes[0].forwarded(pair.now, TABLE, partition(5), None, &IDS[1..]);
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
}

/// It may have been of a deletion that this node sent. Once the peer would have announced a write after it, it counts.
#[test]
fn a_burial_of_an_own_deletion_counts_once_nothing_came_after_it() {
    let mut pair = Pair::new(Config::new(Mode::Eventual), None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    for written_again in [false, true, false] {
        pair.nodes[0].forwarded(pair.now, TABLE, partition(5), None, &IDS[1..]);
        pair.nodes[1].write(TABLE, partition(5), None);
        assert!(pair.nodes[1].bury(TABLE, partition(5), deletion(10, Some(9))));
        pair.settle();
        assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive), "after three intervals");
        if written_again {
            pair.nodes[1].write(TABLE, partition(5), None);
        }
        (0..4).for_each(|_| pair.settle());
        let expected = if written_again { Decision::Forward(Reason::MayBeLive) } else { EMPTY };
        assert_eq!(pair.decide(5), expected, "after fifteen intervals");
        assert_eq!(pair.nodes[0].kept().1, 0);
    }
}

/// The write comes after the burial; the delta that says so is lost again and again.
#[test]
fn an_own_write_whose_delta_is_lost_is_not_hidden_by_the_burial_before_it() {
    let mut pair = Pair::new(Config::new(Mode::Eventual), None);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    assert!(pair.nodes[1].bury(TABLE, partition(5), deletion(10, Some(9))));
    pair.nodes[0].forwarded(pair.now, TABLE, partition(5), None, &IDS[1..]);
    // The burial arrives, then the write does, and of its deltas none.
    for _ in 0..11 {
        pair.now += 100;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|_| true) {}
    }
    pair.nodes[1].write(TABLE, partition(5), None);
    for step in 0..300 {
        pair.now += 100;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|message| !matches!(message, Message::Delta { .. })) {}
        assert_ne!(pair.decide(5), EMPTY, "{step} ticks later");
    }
    (0..5).for_each(|_| pair.settle());
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
}

/// A burial is held back; the write after it is in a copy that is fetched anew before its delta comes.
#[test]
fn a_burial_that_was_held_back_does_not_hide_what_a_newer_copy_holds() {
    let mut pair = Pair::new(Config::new(Mode::Eventual), None);
    pair.nodes[0].forwarded(pair.now, TABLE, partition(5), None, &IDS[1..]);
    pair.nodes[1].write(TABLE, partition(5), None);
    assert!(pair.nodes[1].bury(TABLE, partition(5), deletion(10, Some(9))));
    pair.settle();
    let applied = |pair: &mut Pair| {
        pair.nodes[0].tick(pair.now + 1_000);
        take(&mut pair.nodes[0]).into_iter().find_map(|(message, _)| match message {
            Message::Request { applied, .. } => Some(applied.sequence),
            _ => None,
        })
    };
    let before = applied(&mut pair).unwrap();
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[0].want(TABLE, []);
    pair.nodes[0].want(TABLE, [IDS[1]]);
    for _ in 0..100 {
        pair.now += 100;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|message| !matches!(message, Message::Delta { .. })) {}
        assert_ne!(pair.decide(5), EMPTY);
    }
    assert!(pair.nodes[0].copy_of(IDS[1], TABLE).is_some());
    assert_eq!(pair.nodes[0].kept().1, 0, "the burial is old enough");
    assert_eq!(applied(&mut pair), Some(before), "the delta of the write has not come");
    pair.settle();
    assert_eq!([pair.decide(5), pair.decide(6)], [Decision::Forward(Reason::MayBeLive), EMPTY]);
}

/// What was buried and written again before any peer could have a copy must not be announced as dead afterwards. The snapshot is
/// fetched before the holder's next delta.
#[test]
fn a_burial_from_before_the_filter_is_ready_hides_no_later_write() {
    let mut pair = Pair::new(Config::new(Mode::Eventual), None);
    pair.nodes[1].create_table(TABLE, 10_000, 0.01, None);
    pair.settle();
    for key in [5, 6] {
        assert!(pair.nodes[1].bury(TABLE, partition(key), deletion(10, None)));
    }
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].set_ready(TABLE);
    for _ in 0..12 {
        pair.now += 100;
        pair.nodes[0].tick(pair.now);
        while pair.carry(|_| true) {}
    }
    assert!(pair.nodes[0].copy_of(IDS[1], TABLE).is_some());
    assert_eq!([pair.decide(5), pair.decide(6)], [Decision::Forward(Reason::MayBeLive), EMPTY]);
    pair.settle();
    assert_eq!([pair.decide(5), pair.decide(6)], [Decision::Forward(Reason::MayBeLive), EMPTY]);
}
