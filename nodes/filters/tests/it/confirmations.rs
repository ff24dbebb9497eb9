//! Deltas are confirmed at once, but once for many, and on other frames where there are some.

use std::ops::Range;

use lacuna_node_filters::{Barrier, Config, Flaw, Message, Mode, Node, NodeId};

use crate::pair::{IDS, Pair, TABLE, partition};

const SAFE: Config = Config::new(Mode::Safe);
const REPLICAS: [NodeId; 3] = [NodeId(1), NodeId(2), NodeId(3)];
/// Deltas of a write at three replicas, each to both others.
const DELTAS: usize = 6;

/// Three nodes that all hold the same keys, and rely on each other.
struct Circle {
    nodes: [Node; 3],
    now: u64,
}

impl Circle {
    fn new(config: Config) -> Self {
        let nodes = REPLICAS.map(|id| {
            let mut node = Node::new(id, config, 1, 0);
            node.set_ring(1, REPLICAS);
            // So few twins that each key is announced.
            node.create_table(TABLE, 10_000, 0.000_1, None);
            node.set_ready(TABLE);
            node
        });
        let mut circle = Self { nodes, now: 10_000 };
        for _ in 0..30 {
            circle.now += 100;
            circle.nodes.iter_mut().for_each(|node| node.tick(circle.now));
            while circle.carry() > 0 {}
        }
        circle
    }

    /// All that the nodes have to say arrives, before they answer anything; how many messages that were.
    fn carry(&mut self) -> usize {
        let mut sent = Vec::new();
        for (from, node) in REPLICAS.into_iter().zip(&mut self.nodes) {
            sent.extend(node.take_outbox().into_iter().map(|(to, bytes)| (from, to, bytes)));
        }
        for (from, to, bytes) in &sent {
            let to = REPLICAS.iter().position(|id| id == to).unwrap();
            self.nodes[to].receive(self.now, *from, bytes);
        }
        sent.len()
    }

    /// Writes of keys, at each node, each with a delta of its own; what the last of them wait for.
    fn write(&mut self, keys: Range<u64>) -> [Barrier; 3] {
        let now = self.now;
        self.nodes.each_mut().map(|node| {
            let mut last = node.barrier();
            for key in keys.clone() {
                last = node.write(TABLE, partition(key), None);
                node.flush(now);
            }
            last
        })
    }

    /// At how many nodes they may be acknowledged.
    fn free(&self, barriers: [Barrier; 3]) -> usize {
        let may = |(node, barrier): (&Node, Barrier)| node.may_acknowledge(self.now, barrier);
        self.nodes.iter().zip(barriers).filter(|pair| may(*pair)).count()
    }
}

#[test]
fn deltas_that_come_together_are_confirmed_once() {
    const KEYS: usize = 16;
    let mut circle = Circle::new(SAFE);
    let barriers = circle.write(0..KEYS as u64);
    assert_eq!((circle.carry(), circle.free(barriers)), (DELTAS * KEYS, 0));
    // One for each node and peer, not one for each delta.
    assert_eq!((circle.carry(), circle.free(barriers)), (6, 3));
    assert_eq!(circle.carry(), 0);
}

/// A write at three replicas takes its deltas and no message more; with the flaw it waits for the next request.
#[test]
fn confirmations_travel_on_the_deltas_of_the_next_write() {
    for flaw in [None, Some(Flaw::CarriersLoseConfirmations)] {
        let mut circle = Circle::new(Config { flaw, ..SAFE });
        let free = if flaw.is_none() { 3 } else { 0 };
        let mut before = circle.write(0..1);
        assert_eq!(circle.carry(), DELTAS);
        for key in 1..50 {
            let next = circle.write(key..key + 1);
            assert_eq!(circle.free(before), 0, "key {key}");
            assert_eq!(circle.carry(), DELTAS, "key {key}");
            assert_eq!((circle.free(before), circle.free(next)), (free, 0), "key {key}, {flaw:?}");
            before = next;
        }
        assert_eq!((circle.carry(), circle.free(before)), (6, 3), "alone, as nothing else is to be sent");
    }
}

/// What a node has to say, whole frames.
fn frames(node: &mut Node) -> Vec<Message> {
    node.take_outbox().iter().map(|(_, bytes)| Message::from_bytes(bytes).unwrap()).collect()
}

#[test]
fn a_request_confirms_what_was_applied_before_it() {
    let mut pair = Pair::new(SAFE, None);
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    for (_, delta) in pair.nodes[1].take_outbox() {
        pair.nodes[0].receive(pair.now, IDS[1], &delta);
    }
    pair.now += 1_000;
    pair.nodes[0].tick(pair.now);
    let sent = frames(&mut pair.nodes[0]);
    assert!(matches!(&sent[..], [Message::Request { .. }]), "{sent:?}");
    pair.nodes[1].receive(pair.now, IDS[0], &sent[0].to_bytes());
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier));
}

/// With a delta that comes after the request was made and before it is taken.
#[test]
fn a_request_carries_what_was_applied_after_it() {
    let mut pair = Pair::new(SAFE, None);
    pair.now += 1_000;
    pair.nodes[0].tick(pair.now);
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    for (_, delta) in pair.nodes[1].take_outbox() {
        pair.nodes[0].receive(pair.now, IDS[1], &delta);
    }
    let sent = frames(&mut pair.nodes[0]);
    let [Message::AppliedAnd { frame, .. }] = &sent[..] else { panic!("{sent:?}") };
    assert!(matches!(Message::from_bytes(frame).unwrap(), Message::Request { .. }));
    pair.nodes[1].receive(pair.now, IDS[0], &sent[0].to_bytes());
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier));
    let answer = frames(&mut pair.nodes[1]);
    assert!(matches!(&answer[..], [Message::Grant { length: 1.., .. }]), "the request was taken: {answer:?}");
}

#[test]
fn a_confirmation_that_is_lost_with_its_frame_is_in_the_next_request() {
    let mut pair = Pair::new(SAFE, None);
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    for (_, delta) in pair.nodes[1].take_outbox() {
        pair.nodes[0].receive(pair.now, IDS[1], &delta);
    }
    pair.nodes[0].write(TABLE, partition(6), None);
    pair.nodes[0].flush(pair.now);
    let lost = frames(&mut pair.nodes[0]);
    assert!(matches!(&lost[..], [Message::AppliedAnd { .. }]), "{lost:?}");
    assert!(!pair.nodes[1].may_acknowledge(pair.now, barrier));
    pair.now += SAFE.lease / 3;
    pair.nodes[0].tick(pair.now);
    while pair.carry(|_| true) {}
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier));
}

/// What is carried counts as what comes alone: a delta is applied, and its digest is that of its own frame.
#[test]
fn a_delta_that_carries_a_confirmation_is_applied() {
    let mut pair = Pair::new(SAFE, None);
    for (from, key) in [(1, 5), (0, 6), (1, 7), (0, 8)] {
        let barrier = pair.nodes[from].write(TABLE, partition(key), None);
        pair.nodes[from].flush(pair.now);
        let sent = pair.nodes[from].take_outbox();
        assert_eq!(sent.len(), 1);
        pair.nodes[1 - from].receive(pair.now, IDS[from], &sent[0].1);
        let copy = pair.nodes[1 - from].copy_of(IDS[from], TABLE).unwrap();
        assert!(!copy.presence(partition(key)).is_empty(), "key {key}");
        assert!(!pair.nodes[from].may_acknowledge(pair.now, barrier));
    }
    let barriers = [0, 1].map(|at| pair.nodes[at].barrier());
    while pair.carry(|_| true) {}
    assert!((0..2).all(|at| pair.nodes[at].may_acknowledge(pair.now, barriers[at])));
}

/// It would have to be copied.
#[test]
fn a_large_frame_carries_nothing() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].write(TABLE, partition(1 << 40), None);
    pair.nodes[1].flush(pair.now);
    for (_, delta) in pair.nodes[1].take_outbox() {
        pair.nodes[0].receive(pair.now, IDS[1], &delta);
    }
    for key in 0..9_000 {
        pair.nodes[0].write(TABLE, partition(key), None);
    }
    pair.nodes[0].flush(pair.now);
    let sent = frames(&mut pair.nodes[0]);
    assert!(matches!(&sent[..], [Message::Delta { .. }, Message::Applied(_)]));
}
