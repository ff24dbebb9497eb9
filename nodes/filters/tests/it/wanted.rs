//! Whose filters a node fetches, and whom it asks.

use lacuna_node_filters::{Config, Decision, Message, Mode, Reason};

use crate::pair::{IDS, Pair, TABLE, partition};

const SAFE: Config = Config::new(Mode::Safe);

/// What node 0 sends while a lease's requests are due.
fn requests(pair: &mut Pair) -> usize {
    let mut count = 0;
    for _ in 0..30 {
        pair.now += 100;
        pair.nodes[0].tick(pair.now);
        let sent = pair.nodes[0].take_outbox();
        count += sent
            .iter()
            .filter(|(_, bytes)| matches!(Message::from_bytes(bytes).unwrap(), Message::Request { .. }))
            .count();
    }
    count
}

#[test]
fn a_copy_that_is_not_wanted_is_given_up_and_not_fetched() {
    let mut pair = Pair::new(SAFE, None);
    let other = lacuna_node_filters::TableId(8);
    for node in &mut pair.nodes {
        node.create_table(other, 100, 0.01, None);
        node.set_ready(other);
    }
    pair.settle();
    assert!(pair.nodes[0].copy_of(IDS[1], TABLE).is_some() && pair.nodes[0].copy_of(IDS[1], other).is_some());
    pair.nodes[0].want(TABLE, []);
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    assert!(pair.nodes[0].copy_of(IDS[1], TABLE).is_none());
    assert!(pair.nodes[0].copy_of(IDS[1], other).is_some(), "another table's is wanted still");
    assert_eq!(pair.decide(6), Decision::Forward(Reason::Unknown));
    assert!(pair.nodes[1].copy_of(IDS[0], TABLE).is_some(), "the other node is not concerned");
}

#[test]
fn a_copy_that_is_wanted_again_holds_what_was_written_meanwhile() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[0].want(TABLE, []);
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Forward(Reason::Stale), "no node is asked");
    pair.nodes[1].write(TABLE, partition(5), None);
    pair.settle();
    pair.nodes[0].want(TABLE, [IDS[1]]);
    pair.settle();
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
    assert_eq!(pair.decide(6), Decision::Empty);
}

/// So an acknowledgement there does not wait for this node.
#[test]
fn a_node_without_wanted_filters_is_asked_for_nothing() {
    let mut pair = Pair::new(SAFE, None);
    assert!(requests(&mut pair) > 0);
    pair.nodes[0].want(TABLE, []);
    assert_eq!(requests(&mut pair), 0);
    pair.now += SAFE.lease;
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier));
    pair.nodes[0].want(TABLE, [IDS[1]]);
    assert!(requests(&mut pair) > 0);
}

#[test]
fn a_table_that_came_later_is_wanted_of_all() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[0].want(TABLE, []);
    pair.settle();
    let other = lacuna_node_filters::TableId(8);
    for node in &mut pair.nodes {
        node.create_table(other, 100, 0.01, None);
        node.set_ready(other);
    }
    pair.settle();
    assert!(pair.nodes[0].copy_of(IDS[1], other).is_some());
    assert!(pair.nodes[0].copy_of(IDS[1], TABLE).is_none());
}
