//! Ways to a wrong "empty" that need more bad luck than the simulation has: each one step by step.

use lacuna_node_filters::{
    Asked, Buckets, Config, Decision, Deletion, KeyId, Message, Mode, Node, NodeId, Question, Reason, TableId,
};

use crate::pair::{IDS, Pair, TABLE, partition, question};

const SAFE: Config = Config::new(Mode::Safe);
const EMPTY: Decision = Decision::Empty;

/// Takes the messages of a node, decoded.
fn take(node: &mut Node) -> Vec<(Message, Vec<u8>)> {
    let outbox = node.take_outbox().into_iter();
    outbox.map(|(_, bytes)| (Message::from_bytes(&bytes).unwrap(), bytes)).collect()
}

fn asks(node: &mut Node, now: u64, table: TableId, id: KeyId) -> Decision {
    let asked = Asked { partition: id, slice: None, replicas: &IDS[1..] };
    node.decide(now, &Question { table, ..question(&[asked]) })
}

/// Writes a key at node 1 and hands the delta to node 0, whose answer is not carried.
fn write_and_send(pair: &mut Pair, table: TableId, key: u64) {
    pair.nodes[1].write(table, partition(key), None);
    pair.nodes[1].flush(pair.now);
    for (_, bytes) in take(&mut pair.nodes[1]) {
        pair.nodes[0].receive(pair.now, IDS[1], &bytes);
    }
}

/// Two filters are fetched at once while deltas come, and the older snapshot arrives first: it sets the copies back to
/// before what node 1 was told, and the second one must wait for that too.
#[test]
fn a_second_snapshot_waits_for_what_was_told() {
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
            write_and_send(&mut pair, TABLE, 1_000 + pieces.len() as u64);
        }
    }
    assert!(matches!(&pieces[..], [(Message::Chunk { .. }, _), (Message::Chunk { .. }, _)]), "{pieces:?}");
    write_and_send(&mut pair, tables[1], 5);
    let barrier = pair.nodes[1].barrier();
    let told = take(&mut pair.nodes[0]);
    told.iter().for_each(|(_, bytes)| pair.nodes[1].receive(pair.now, IDS[0], bytes));
    assert!(pair.nodes[1].may_acknowledge(pair.now, barrier), "node 0 has told that it knows");
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

/// A coordinator starts again, and a grant for its last life comes late: the lease behind it began long ago.
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
            write_and_send(&mut pair, TABLE, key);
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

#[test]
fn clocks_that_may_run_apart_at_will_give_no_lease() {
    let mut pair = Pair::new(Config { drift: 0, ..SAFE }, None);
    assert_eq!(pair.decide(5), Decision::Forward(Reason::Stale));
}

/// Rows whose key goes on behind the end of a slice's bound are in the slice.
#[test]
fn a_bound_that_is_a_prefix_holds_what_goes_on() {
    let buckets = Buckets::new(0, 8, 4).unwrap();
    let (lo, hi) = (Buckets::place(b"ab"), Buckets::last_place(b"ab"));
    let row = Buckets::place(b"abz");
    let cover = buckets.cover(lo, hi);
    assert!(cover.is_none_or(|cover| buckets.of_row(row).any(|bucket| cover.contains(&bucket))));
    assert!(lo <= row && row <= hi && Buckets::place(b"ac") > hi);
    assert_eq!(Buckets::last_place(b"12345678and more"), Buckets::place(b"12345678"));
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
