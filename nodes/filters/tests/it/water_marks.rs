//! How far partitions are dead from their ends on, and when that ends.

use lacuna_node_filters::{Asked, Buckets, Config, Decision, Deletion, Mode, NodeId, Side, WaterMark};

use crate::pair::{IDS, Pair, TABLE, partition};

const SAFE: Config = Config::new(Mode::Safe);
const BOTH: [Side; 2] = [Side::Start, Side::End];

/// Live rows 100 and 300 of a partition that both nodes hold, in buckets of 16; nothing else is alive.
fn queue(config: Config) -> Pair {
    let mut pair = Pair::new(config, Some(Buckets::new(4, 4, 2).unwrap()));
    for node in &mut pair.nodes {
        for row in [100, 300] {
            node.write(TABLE, partition(5), Some(row));
        }
    }
    pair.settle();
    for node in &mut pair.nodes {
        node.bury_rows(TABLE, partition(5), 0, 99, 0);
        node.bury_rows(TABLE, partition(5), 301, u64::MAX, 0);
    }
    pair.settle();
    pair
}

fn mark_of(pair: &Pair, side: Side, replicas: &[NodeId]) -> Option<WaterMark> {
    let asked = Asked { partition: partition(5), slice: None, replicas };
    pair.nodes[0].water_mark(pair.now, TABLE, &asked, side)
}

fn marks(pair: &Pair) -> [Option<u64>; 2] {
    BOTH.map(|side| mark_of(pair, side, &IDS).map(WaterMark::place))
}

#[test]
fn a_queue_is_dead_up_to_its_first_live_row_and_from_its_last_on() {
    let mut pair = queue(SAFE);
    assert_eq!(marks(&pair), [Some(99), Some(302)], "301 shares its number with a live row's");
    for (slice, is_empty) in [
        ((0, 99), true),
        ((7, 93), true),
        ((99, 100), false),
        ((302, u64::MAX), true),
        ((300, u64::MAX), false),
    ] {
        assert_eq!(pair.decide_slice(5, Some(slice)) == Decision::Empty, is_empty, "{slice:?}");
    }
    assert_ne!(pair.decide(5), Decision::Empty, "the partition is alive");
}

#[test]
fn a_mark_reaches_as_far_as_that_of_every_replica() {
    let mut pair = queue(SAFE);
    pair.nodes[1].write(TABLE, partition(5), Some(40));
    pair.settle();
    assert_eq!(marks(&pair), [None, Some(302)], "a row under the mark of one replica ends it");
    pair.nodes[1].bury_rows(TABLE, partition(5), 0, 39, 0);
    pair.settle();
    assert_eq!(marks(&pair), [Some(39), Some(302)]);
    assert_eq!(mark_of(&pair, Side::Start, &IDS[..1]).map(WaterMark::place), Some(99));
    assert_eq!(mark_of(&pair, Side::Start, &[]), None);
    assert_eq!(mark_of(&pair, Side::Start, &[IDS[0], NodeId(9)]), None, "an unknown replica");
}

#[test]
fn a_replica_without_the_partition_leaves_the_mark_to_the_others() {
    let mut pair = Pair::new(SAFE, Some(Buckets::new(4, 4, 2).unwrap()));
    pair.nodes[0].write(TABLE, partition(5), Some(100));
    pair.nodes[0].bury_rows(TABLE, partition(5), 0, 99, 0);
    assert_eq!(marks(&pair), [Some(99), None]);
    pair.nodes[1].write(TABLE, partition(5), Some(200));
    pair.settle();
    assert_eq!(marks(&pair), [None, None], "it has a row, and has proven nothing");
}

/// A row at or before the mark waits for its end to be known; a row behind it ends nothing and waits for nothing.
#[test]
fn a_row_under_a_mark_is_shown_when_lease_holders_know_it() {
    for (row, ends) in [(0, true), (99, true), (101, false), (299, false), (302, true), (u64::MAX, true)] {
        let mut pair = queue(SAFE);
        // Their buckets hold a row already, so that they alone are no news.
        for place in [96, 112, 288, 304] {
            pair.nodes[1].write(TABLE, partition(5), Some(place));
        }
        pair.nodes[1].bury_rows(TABLE, partition(5), 0, 99, 0);
        pair.nodes[1].bury_rows(TABLE, partition(5), 301, u64::MAX, 0);
        pair.settle();
        let before = marks(&pair);
        let barrier = pair.nodes[1].write(TABLE, partition(5), Some(row));
        pair.nodes[1].flush(pair.now);
        assert_eq!(marks(&pair), before, "it has not heard");
        assert_eq!(!pair.nodes[1].may_acknowledge(pair.now, barrier), ends, "row {row}");
        assert_eq!(!pair.nodes[1].may_reveal(pair.now, TABLE, partition(5)), ends, "row {row}");
        while pair.carry(|_| true) {}
        assert_eq!(marks(&pair) != before, ends, "row {row}");
        assert!(pair.nodes[1].may_acknowledge(pair.now, barrier));
    }
}

/// Work that is done twice is deleted twice.
#[test]
fn a_deletion_under_a_mark_ends_nothing() {
    let mut pair = queue(SAFE);
    let before = BOTH.map(|side| mark_of(&pair, side, &IDS).unwrap());
    for place in [0, 50, 99, 100, 302, u64::MAX] {
        pair.nodes[1].write_deletion(TABLE, partition(5), place);
    }
    pair.settle();
    let after = BOTH.map(|side| mark_of(&pair, side, &IDS).unwrap());
    assert!([0, 1].into_iter().all(|at| after[at].confirms(before[at])), "{before:?} {after:?}");
    assert_eq!(marks(&pair), [Some(99), Some(302)]);
}

/// The same mark twice says nothing if it had ended in between.
#[test]
fn a_mark_that_was_lost_and_proven_again_confirms_nothing() {
    let mut pair = queue(SAFE);
    let before = BOTH.map(|side| mark_of(&pair, side, &IDS).unwrap());
    pair.nodes[1].bury_rows(TABLE, partition(5), 0, 101, 0);
    pair.settle();
    let further = BOTH.map(|side| mark_of(&pair, side, &IDS).unwrap());
    assert!([0, 1].into_iter().all(|at| further[at].confirms(before[at])), "{before:?} {further:?}");
    assert!(!further[0].confirms(before[1]) && !further[1].confirms(before[0]));
    for node in [0, 1] {
        let mut pair = queue(SAFE);
        let before = BOTH.map(|side| mark_of(&pair, side, &IDS).unwrap());
        pair.nodes[node].write(TABLE, partition(5), Some(7));
        pair.settle();
        pair.nodes[node].bury_rows(TABLE, partition(5), 0, 99, 0);
        pair.settle();
        let after = BOTH.map(|side| mark_of(&pair, side, &IDS).unwrap());
        assert_eq!(after.map(WaterMark::place), before.map(WaterMark::place));
        assert!(!after[0].confirms(before[0]), "node {node}");
        assert!(after[1].confirms(before[1]), "node {node}: the other end has lost nothing");
    }
}

/// Nor if the partition was dead, written, and dead again; nor if the filter is another one.
#[test]
fn a_partition_that_lived_in_between_confirms_nothing() {
    let proven = Deletion { time: 1, newest_in_files: None, newest_in_memory: None };
    let mut pair = queue(SAFE);
    pair.nodes[1].bury(TABLE, partition(5), proven);
    pair.settle();
    let before = mark_of(&pair, Side::Start, &IDS).unwrap();
    assert_eq!(before.place(), 99, "of the other node");
    pair.nodes[1].write(TABLE, partition(5), Some(7));
    pair.settle();
    pair.nodes[1].bury(TABLE, partition(5), proven);
    pair.settle();
    let after = mark_of(&pair, Side::Start, &IDS).unwrap();
    assert!(after.place() == 99 && !after.confirms(before));
    pair.nodes[0].want(TABLE, []);
    pair.settle();
    assert_eq!(mark_of(&pair, Side::Start, &IDS), None, "no copy");
    pair.nodes[0].want(TABLE, [IDS[1]]);
    pair.settle();
    let fetched = mark_of(&pair, Side::Start, &IDS).unwrap();
    assert!(fetched.place() == 99 && !fetched.confirms(after));
}

#[test]
fn a_mark_stays_when_its_filter_is_built_anew_unless_a_write_ends_it() {
    for row in [None, Some(20), Some(250)] {
        let mut pair = queue(SAFE);
        pair.nodes[1].begin_rebuild(TABLE, 100, 0.01);
        if row.is_some() {
            pair.nodes[1].write(TABLE, partition(5), row);
        }
        pair.nodes[1].rebuild_key(TABLE, partition(5), Some(100));
        pair.nodes[1].finish_rebuild(TABLE);
        pair.settle();
        assert_eq!(marks(&pair)[0], if row == Some(20) { None } else { Some(99) }, "{row:?}");
    }
}

#[test]
fn without_a_lease_or_outside_of_mode_safe_there_is_no_mark() {
    let mut pair = queue(SAFE);
    pair.now += 60_000;
    assert_eq!(marks(&pair), [None, None], "the lease is over");
    let mut pair = queue(SAFE);
    pair.nodes[0].switch(false);
    assert_eq!(marks(&pair), [None, None], "switched off");
    for mode in [Mode::Shadow, Mode::Eventual] {
        assert_eq!(marks(&queue(Config::new(mode))), [None, None], "{mode:?}");
    }
    let other = Some(Buckets::new(5, 4, 2).unwrap());
    let mut pair = queue(SAFE);
    pair.nodes[0].create_table(TABLE, 100, 0.01, other);
    pair.nodes[0].set_ready(TABLE);
    pair.settle();
    assert_eq!(marks(&pair), [None, None], "rows are in other buckets");
}

/// A proof that begins where a mark ends says nothing of the rows before, so it counts only while the mark is there.
#[test]
fn a_proof_beyond_a_mark_counts_only_while_the_mark_reaches_it() {
    for row in [None, Some(7), Some(250)] {
        let mut pair = queue(SAFE);
        let relied = pair.nodes[0].own_water_mark(TABLE, partition(5), Side::Start).unwrap();
        let other = pair.nodes[0].own_water_mark(TABLE, partition(5), Side::End).unwrap();
        assert_eq!([relied, other], [99, 302]);
        if row.is_some() {
            pair.nodes[0].write(TABLE, partition(5), row);
        }
        let node = &mut pair.nodes[0];
        let proven = node.bury_rows_beyond(TABLE, partition(5), (Side::Start, relied), (0, 199), 0);
        let ended = row == Some(7);
        assert_eq!(proven == 0, ended, "{row:?}");
        let after = node.own_water_mark(TABLE, partition(5), Side::Start);
        assert_eq!(after, if ended { None } else { Some(199) }, "{row:?}");
        // Of the other end, and of a shorter mark that was proven since.
        let last = node.bury_rows_beyond(TABLE, partition(5), (Side::End, other), (290, u64::MAX), 0);
        assert!(last > 0 && node.own_water_mark(TABLE, partition(5), Side::End) == Some(290));
        assert_eq!(node.bury_rows_beyond(TABLE, partition(5), (Side::End, 280), (200, u64::MAX), 0), 0);
        assert_eq!(node.bury_rows_beyond(TABLE, partition(6), (Side::Start, 0), (0, 9), 0), 0);
    }
}
