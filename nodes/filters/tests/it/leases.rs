//! Leases: who grants them, for which life of whom, and by which clocks.

use lacuna_node_filters::{Config, Decision, Message, Mode, Node, NodeId, Reason};

use crate::pair::{IDS, Pair, TABLE, partition, take};

const SAFE: Config = Config::new(Mode::Safe);
const EMPTY: Decision = Decision::Empty;

/// A coordinator starts again, and a grant for its last life comes late: its lease began long ago.
#[test]
fn a_grant_for_an_earlier_life_is_no_lease() {
    let mut pair = Pair::new(SAFE, None);
    let start = |incarnation, now| {
        let mut node = Node::new(IDS[0], SAFE, incarnation, now);
        node.set_ring(1, IDS);
        node.tick(now);
        node
    };
    let began = pair.now;
    pair.nodes[0] = start(2, began);
    take(&mut pair.nodes[1]);
    for (_, request) in take(&mut pair.nodes[0]) {
        pair.nodes[1].receive(began, IDS[0], &request);
    }
    let late = take(&mut pair.nodes[1]);
    assert!(late.iter().any(|(message, _)| matches!(message, Message::Grant { length: 1.., .. })));
    pair.now = began + 2_900;
    pair.nodes[0] = start(3, pair.now);
    take(&mut pair.nodes[0]);
    late.iter().for_each(|(_, grant)| pair.nodes[0].receive(pair.now, IDS[1], grant));
    while pair.carry(|message| !matches!(message, Message::Request { .. })) {}
    pair.now = began + 3_100;
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    pair.carry(|_| false);
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier), "the lease that was granted has run out");
    assert_ne!(pair.decide(5), EMPTY);
}

/// A node that comes back with an older state may use the name of a life once more. Its numbers begin again.
#[test]
fn a_life_that_is_lived_twice_is_noticed() {
    for writes in [3, 40] {
        let mut pair = Pair::new(SAFE, None);
        for key in 1_000..1_020 {
            pair.write_and_send(TABLE, key);
        }
        pair.settle();
        let mut again = Node::new(IDS[1], SAFE, 1, pair.now);
        again.set_ring(1, IDS);
        again.create_table(TABLE, 10_000, 0.01, None);
        again.set_ready(TABLE);
        pair.nodes[1] = again;
        for key in 0..writes {
            pair.nodes[1].write(TABLE, partition(key), None);
            pair.nodes[1].flush(pair.now);
            take(&mut pair.nodes[1]);
        }
        let barrier = pair.nodes[1].barrier();
        let mut was_free = false;
        for _ in 0..300 {
            pair.now += 50;
            pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
            loop {
                if pair.nodes[1].may_acknowledge(pair.now, barrier) {
                    was_free = true;
                    for key in 0..writes {
                        assert_ne!(pair.decide(key), EMPTY, "{writes} writes, key {key}, at {}", pair.now);
                    }
                }
                // One message at a time.
                let mut outbox: Vec<_> = (0..2)
                    .flat_map(|from| take(&mut pair.nodes[from]).into_iter().map(move |sent| (from, sent.1)))
                    .collect();
                if outbox.is_empty() {
                    break;
                }
                for (from, bytes) in outbox.drain(..) {
                    pair.nodes[1 - from].receive(pair.now, IDS[from], &bytes);
                    if pair.nodes[1].may_acknowledge(pair.now, barrier) {
                        assert_ne!(pair.decide(0), EMPTY, "{writes} writes, at {}", pair.now);
                    }
                }
            }
        }
        assert!(was_free);
    }
}

/// A node that acknowledges at once promises nothing to nodes that answer in its name.
#[test]
fn only_nodes_in_mode_safe_grant_leases_to_answer_by() {
    for (asking, holding, answers) in [
        (Mode::Safe, Mode::Safe, true),
        (Mode::Safe, Mode::Shadow, false),
        (Mode::Safe, Mode::Eventual, false),
        (Mode::Shadow, Mode::Shadow, true),
        (Mode::Shadow, Mode::Safe, true),
    ] {
        let mut pair = Pair::of([asking, holding].map(Config::new), None);
        pair.settle();
        let expected = match asking {
            _ if !answers => Decision::Forward(Reason::Stale),
            Mode::Safe => EMPTY,
            _ => Decision::Forward(Reason::Shadow),
        };
        assert_eq!(pair.decide(5), expected, "{asking:?} asks, {holding:?} holds");
    }
}

#[test]
fn clocks_that_may_run_apart_at_will_give_no_lease() {
    let mut pair = Pair::new(Config { drift: 0, ..SAFE }, None);
    assert_eq!(pair.decide(5), Decision::Forward(Reason::Stale));
}

/// A peer that left and came back meets no grant from before.
#[test]
fn a_peer_that_comes_back_is_asked_with_new_numbers() {
    let mut pair = Pair::new(SAFE, None);
    let number = |node: &mut Node, now| {
        node.tick(now);
        let requests = take(node).into_iter().filter_map(|(message, _)| match message {
            Message::Request { number, .. } => Some(number),
            _ => None,
        });
        requests.max().unwrap()
    };
    let before = number(&mut pair.nodes[0], pair.now + 5_000);
    pair.nodes[0].set_ring(1, [NodeId(9)]);
    pair.nodes[0].set_ring(1, IDS);
    assert!(number(&mut pair.nodes[0], pair.now + 10_000) > before);
}

/// A delta is always on its way, and each is confirmed a moment after it: then the lease is renewed.
#[test]
fn a_stream_of_new_keys_ends_no_lease() {
    let mut pair = Pair::new(SAFE, None);
    let mut under_way = Vec::new();
    for key in 0..600 {
        pair.now += 20;
        pair.nodes[1].write(TABLE, partition(key), None);
        pair.nodes[1].flush(pair.now);
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        // What was sent 20 ms ago arrives when the next delta has left.
        let sent: Vec<_> = (0..2)
            .flat_map(|from| take(&mut pair.nodes[from]).into_iter().map(move |sent| (from, sent.1)))
            .collect();
        for (from, bytes) in std::mem::replace(&mut under_way, sent) {
            pair.nodes[1 - from].receive(pair.now, IDS[from], &bytes);
        }
        let is_known = (5_000..5_010).any(|absent| pair.decide(absent) == EMPTY);
        assert!(is_known, "after key {key}, at {}", pair.now);
    }
}

/// Deltas go out every 20 ms and none arrives, while requests and grants do: the first of them frees its writer after one lease.
#[test]
fn a_holder_that_acknowledges_nothing_delays_the_first_writer_by_one_lease() {
    let mut pair = Pair::new(SAFE, None);
    let first = pair.nodes[1].write(TABLE, partition(0), None);
    let began = pair.now;
    for key in 1..=150 {
        pair.nodes[1].flush(pair.now);
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|message| matches!(message, Message::Request { .. } | Message::Grant { .. })) {}
        assert!(!pair.nodes[1].may_acknowledge(pair.now, first), "at {}", pair.now - began);
        pair.now += 20;
        pair.nodes[1].write(TABLE, partition(key), None);
    }
    assert!(pair.nodes[1].may_acknowledge(pair.now, first), "after {}", pair.now - began);
}

/// 5,000 deltas were lost, and a new one comes each millisecond.
#[test]
fn a_peer_that_missed_many_deltas_catches_up_while_more_come() {
    let mut pair = Pair::new(SAFE, None);
    for key in 0..5_300 {
        pair.now += 1;
        pair.nodes[1].write(TABLE, partition(key), None);
        pair.nodes[1].flush(pair.now);
        if key < 5_000 {
            take(&mut pair.nodes[1]);
            continue;
        }
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|_| true) {}
    }
    assert!((9_000..9_010).any(|absent| pair.decide(absent) == EMPTY));
    assert!((0..5_300).all(|key| pair.decide(key) != EMPTY));
}

#[test]
fn leases_are_counted_on_both_sides() {
    let mut pair = Pair::new(SAFE, None);
    let count = |pair: &Pair| {
        let [asking, holding] = &pair.nodes;
        let relied_on = asking.asked_peers().filter(|peer| asking.may_rely_on(pair.now, *peer)).count();
        [asking.asked_peers().count(), relied_on, holding.holder_count(pair.now)]
    };
    assert_eq!(count(&pair), [1, 1, 1]);
    pair.now += 3_001;
    assert_eq!(count(&pair), [1, 0, 0]);
    pair.nodes[0].want(TABLE, []);
    assert_eq!(count(&pair), [0, 0, 0]);
}
