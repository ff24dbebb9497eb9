//! Deltas and snapshots that come late, twice, damaged, or while others are fetched: each way to a wrong "empty" step by step.

use lacuna_node_filters::{
    Asked, Buckets, Config, Decision, KeyId, Message, Mode, Node, NodeId, Presence, Question, Reason,
    TableId, Version,
};

use crate::pair::{IDS, Pair, TABLE, partition, question, take};

const SAFE: Config = Config::new(Mode::Safe);
const EMPTY: Decision = Decision::Empty;

fn asks(node: &mut Node, now: u64, table: TableId, id: KeyId) -> Decision {
    let asked = Asked { partition: id, slice: None, replicas: &IDS[1..] };
    node.decide(now, &Question { table, ..question(&[asked]) })
}

/// Two filters are fetched at once while deltas come, and the older snapshot arrives first: it sets the copies back to
/// before what node 0 has confirmed to node 1, and the second one must wait for that too.
#[test]
fn a_second_snapshot_waits_for_what_was_confirmed() {
    let mut pair = Pair::new(SAFE, None);
    let tables = [TableId(8), TableId(9)];
    for table in tables {
        pair.nodes[1].create_table(table, 1_000, 0.01, None);
        pair.nodes[1].set_ready(table);
    }
    pair.nodes[1].flush(pair.now);
    let mut pieces = Vec::new();
    // The resets, the catalog, and the first piece of each filter, with a write between the two.
    for (_, bytes) in take(&mut pair.nodes[1]) {
        pair.nodes[0].receive(pair.now, IDS[1], &bytes);
    }
    for (_, bytes) in take(&mut pair.nodes[0]) {
        pair.nodes[1].receive(pair.now, IDS[0], &bytes);
    }
    for (_, bytes) in take(&mut pair.nodes[1]) {
        pair.nodes[0].receive(pair.now, IDS[1], &bytes);
    }
    for (message, bytes) in take(&mut pair.nodes[0]) {
        pair.nodes[1].receive(pair.now, IDS[0], &bytes);
        if matches!(message, Message::AskChunk { .. }) {
            pieces.extend(take(&mut pair.nodes[1]));
            pair.write_and_send(TABLE, 1_000 + pieces.len() as u64);
        }
    }
    assert!(matches!(&pieces[..], [(Message::Chunk { .. }, _), (Message::Chunk { .. }, _)]), "{pieces:?}");
    pair.write_and_send(tables[1], 5);
    let barrier = pair.nodes[1].barrier();
    let confirmed = take(&mut pair.nodes[0]);
    confirmed.iter().for_each(|(_, bytes)| pair.nodes[1].receive(pair.now, IDS[0], bytes));
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier), "node 0 has confirmed it");
    take(&mut pair.nodes[1]);
    for (_, piece) in &pieces {
        pair.nodes[0].receive(pair.now, IDS[1], piece);
        assert_ne!(asks(&mut pair.nodes[0], pair.now, tables[1], partition(5)), EMPTY);
    }
    pair.now += 200;
    let mut repeated = Vec::new();
    for (message, bytes) in take(&mut pair.nodes[0]) {
        if matches!(message, Message::Missing(_)) {
            pair.nodes[1].receive(pair.now, IDS[0], &bytes);
            repeated.extend(take(&mut pair.nodes[1]));
        }
    }
    assert!(repeated.len() >= 2, "{repeated:?}");
    for (_, delta) in &repeated {
        pair.nodes[0].receive(pair.now, IDS[1], delta);
        assert_ne!(asks(&mut pair.nodes[0], pair.now, tables[1], partition(5)), EMPTY);
    }
    let found = asks(&mut pair.nodes[0], pair.now, tables[1], partition(5));
    assert_eq!(found, Decision::Forward(Reason::MayBeLive));
    assert_eq!(asks(&mut pair.nodes[0], pair.now, tables[1], partition(6)), EMPTY);
}

/// Damage that a checksum of 32 bits does not see, once in 2^32: what was applied is not what was sent.
#[test]
fn another_delta_than_the_one_sent_is_no_acknowledgement() {
    let mut pair = Pair::new(SAFE, None);
    let barrier = pair.nodes[1].write(TABLE, partition(5), None);
    pair.nodes[1].flush(pair.now);
    let written_at = pair.now;
    let (message, _) = take(&mut pair.nodes[1]).remove(0);
    let Message::Delta { incarnation, sequence, mut tables } = message else { panic!("{message:?}") };
    tables[0].1.keys = vec![partition(6).hash()];
    let damaged = Message::Delta { incarnation, sequence, tables }.to_bytes();
    pair.nodes[0].receive(pair.now, IDS[1], &damaged);
    for _ in 0..100 {
        if pair.nodes[1].may_acknowledge(pair.now, barrier) {
            assert_ne!(pair.decide(5), EMPTY, "{} ms after the write", pair.now - written_at);
        }
        pair.now += 50;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        while pair.carry(|_| true) {}
    }
    assert_eq!(pair.decide(5), Decision::Forward(Reason::MayBeLive));
    assert_eq!(pair.decide(7), EMPTY, "it has begun again");
}

/// Two names that no fingerprint tells apart: the second is known to its holder, but not to a node that does not know the first.
#[test]
fn a_twin_of_a_key_that_is_on_its_way_waits_with_it() {
    for rows in [false, true] {
        let mut pair = Pair::new(SAFE, None);
        let buckets = rows.then(|| Buckets::new(4, 1, 1).unwrap());
        for node in &mut pair.nodes {
            node.create_table(TABLE, 10, 0.4, buckets);
            node.set_ready(TABLE);
        }
        // With rows, two partitions that all nodes know; one gets the first row, the other its twin.
        let known = [1_000_000, 2_000_000].map(partition);
        for partition in known {
            pair.nodes[1].write(TABLE, partition, None);
        }
        pair.settle();
        let named = |at: usize, key: u64| match rows {
            false => (partition(key), None, partition(key)),
            true => (known[at], Some(key << 4), known[at].bucket(0, key)),
        };
        let presence = |pair: &Pair, key| pair.nodes[1].own_presence(TABLE, named(1, key).2);
        let absent: Vec<u64> = (1..20_000).filter(|key| presence(&pair, *key) == Presence::Absent).collect();
        let (first, place, _) = named(0, 0);
        let ahead = pair.nodes[1].write(TABLE, first, place);
        let twin = absent.into_iter().find(|key| presence(&pair, *key) == Presence::Live).unwrap();
        let (second, place, _) = named(1, twin);
        let barrier = pair.nodes[1].write(TABLE, second, place);
        let may = |pair: &Pair| {
            let node = &pair.nodes[1];
            let acknowledge = [ahead, barrier].map(|barrier| node.may_acknowledge(pair.now, barrier));
            (acknowledge, node.may_reveal(pair.now, TABLE, second))
        };
        assert_eq!(may(&pair), ([false; 2], false), "rows: {rows}, twin {twin}");
        pair.nodes[1].flush(pair.now);
        while pair.carry(|_| true) {}
        assert_eq!(may(&pair), ([true; 2], true), "rows: {rows}, twin {twin}");
        let asked = Asked { partition: second, slice: place.map(|at| (at, at)), replicas: &IDS[1..] };
        let decision = pair.nodes[0].decide(pair.now, &question(&[asked]));
        assert_eq!(decision, Decision::Forward(Reason::MayBeLive), "rows: {rows}, twin {twin}");
    }
}

/// A late word from a life before: what is known of this life stays known, and no request of then is answered now.
#[test]
fn a_gap_of_another_life_changes_nothing() {
    let mut pair = Pair::new(SAFE, None);
    pair.write_and_send(TABLE, 5);
    pair.settle();
    let before = pair.nodes[0].copy_of(IDS[1], TABLE).unwrap().key_count();
    let gap = Message::Gap(Version { incarnation: 77, sequence: 3, digest: 4 });
    pair.nodes[0].receive(pair.now, IDS[1], &gap.to_bytes());
    assert_eq!(pair.nodes[0].copy_of(IDS[1], TABLE).unwrap().key_count(), before);
    assert_eq!([pair.decide(5), pair.decide(6)], [Decision::Forward(Reason::MayBeLive), EMPTY]);
}

/// Both begin at nearly the same time, while keys come, and take their pieces by turns.
#[test]
fn two_that_fetch_at_once_do_not_make_each_other_begin_again() {
    let ids = [1, 2, 3].map(NodeId);
    let mut nodes = ids.map(|id| Node::new(id, SAFE, 1, 0));
    for node in &mut nodes {
        node.set_ring(1, ids);
        node.create_table(TABLE, 2_000_000, 0.01, None);
    }
    nodes[0].set_ready(TABLE);
    let (mut now, mut key, mut pieces) = (10_000, 0, 0);
    let is_there = |nodes: &[Node], reader: usize| nodes[reader].copy_of(ids[0], TABLE).is_some();
    while !(is_there(&nodes, 1) && is_there(&nodes, 2)) {
        // A key comes between what the one says and what the other does.
        for reader in [1, 2] {
            now += 20;
            key += 1;
            nodes[0].write(TABLE, partition(key), None);
            nodes[0].flush(now);
            nodes[reader].tick(now);
            for from in [reader, 0] {
                for (to, bytes) in nodes[from].take_outbox() {
                    let message = Message::from_bytes(&bytes).unwrap();
                    pieces += usize::from(matches!(message, Message::Chunk { .. }));
                    let to = ids.iter().position(|id| *id == to).unwrap();
                    nodes[to].receive(now, ids[from], &bytes);
                }
            }
        }
        assert!(pieces <= 20, "{pieces} pieces were sent, and neither copy is whole");
    }
    assert!(pieces >= 10, "several pieces each: {pieces}");
}

#[test]
fn a_repeated_piece_is_not_answered_twice() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].create_table(TABLE, 1_000_000, 0.01, None);
    pair.nodes[1].set_ready(TABLE);
    let mut asked = 0;
    for _ in 0..100 {
        pair.now += 20;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        for from in [0, 1] {
            for (message, bytes) in take(&mut pair.nodes[from]) {
                asked += usize::from(from == 0 && matches!(message, Message::AskChunk { .. }));
                for _ in 0..if matches!(message, Message::Chunk { .. }) { 3 } else { 1 } {
                    pair.nodes[1 - from].receive(pair.now, IDS[from], &bytes);
                }
            }
        }
    }
    assert_eq!(asked, 3, "three pieces");
    assert_eq!(pair.decide(5), EMPTY);
}
