//! Ways to a wrong "empty" that need more bad luck than the simulation has: each one step by step.

use lacuna_node_filters::{
    Asked, Buckets, Config, Decision, Deletion, KeyId, Message, Mode, Node, NodeId, Presence, Question,
    Reason, TableId, Version,
};

use crate::pair::{IDS, Pair, TABLE, partition, question};
use crate::rules::deletion;

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

/// It may have been of a deletion that this node sent. Once the peer would have told of a write after it, it counts.
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

/// What was buried and written again before anybody could have a copy must not be told as dead afterwards. The snapshot is
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

/// Two names that no fingerprint tells apart: the second is no news to its holder, but to whoever has not heard of the first.
#[test]
fn a_twin_of_a_key_that_is_on_its_way_waits_with_it() {
    for rows in [false, true] {
        let mut pair = Pair::new(SAFE, None);
        let buckets = rows.then(|| Buckets::new(4, 1, 1).unwrap());
        for node in &mut pair.nodes {
            node.create_table(TABLE, 10, 0.4, buckets);
            node.set_ready(TABLE);
        }
        // With rows, two partitions that everybody knows; one gets the first row, the other its twin.
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

/// A node that acknowledges at once promises nothing to whoever answers in its name.
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

/// A late word from a life before: what is known of this life stays known, and no request of then is answered now.
#[test]
fn a_gap_of_another_life_changes_nothing() {
    let mut pair = Pair::new(SAFE, None);
    write_and_send(&mut pair, TABLE, 5);
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
