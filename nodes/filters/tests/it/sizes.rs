//! The bars on bytes.

use lacuna_node_filters::{Buckets, CHUNK_BYTES, Config, Decision, Deletion, Message, Mode};

use crate::pair::{Pair, TABLE, partition};
use crate::rules::deletion;

const SAFE: Config = Config::new(Mode::Safe);
/// A frame around the new keys of one table: kind, numbers, table, checksum.
const FRAME: usize = 64;

#[test]
fn a_new_key_takes_eight_bytes_and_a_batch_one_frame() {
    let mut pair = Pair::new(SAFE, None);
    for batch in [1, 10, 1_000] {
        let first = batch * 10_000;
        for key in first..first + batch {
            pair.nodes[1].write(TABLE, partition(key), None);
        }
        pair.nodes[1].flush(pair.now);
        let outbox = pair.nodes[1].take_outbox();
        assert_eq!(outbox.len(), 1, "one frame for the one peer");
        assert!(
            outbox[0].1.len() as u64 <= 8 * batch + FRAME as u64,
            "{batch} keys: {} bytes",
            outbox[0].1.len()
        );
        pair.settle();
    }
}

#[test]
fn many_new_keys_and_deletions_come_in_deltas_of_half_a_mebibyte() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].create_table(TABLE, 300_000, 0.01, None);
    pair.nodes[1].set_ready(TABLE);
    pair.settle();
    let mut last = None;
    for key in 0..200_000 {
        last = Some(pair.nodes[1].write(TABLE, partition(key), None));
    }
    for key in 0..50_000 {
        assert!(pair.nodes[1].bury(TABLE, partition(key), deletion(7, None)));
    }
    assert!(!pair.nodes[1].may_acknowledge(pair.now, last.unwrap()), "no node knows it yet");
    pair.nodes[1].flush(pair.now);
    let largest = std::cell::Cell::new((0, 0));
    while pair.carry(|message| {
        let (max, count) = largest.get();
        if matches!(message, Message::Delta { .. }) {
            largest.set((max.max(message.to_bytes().len()), count + 1));
        }
        true
    }) {}
    let (max, count) = largest.get();
    assert!(max <= CHUNK_BYTES + 2 * FRAME && count == 6, "{max} bytes, {count} deltas");
    assert!(pair.nodes[1].may_acknowledge(pair.now, last.unwrap()));
    assert!((0..200_000).step_by(101).all(|key| (pair.decide(key) == Decision::Empty) == (key < 50_000)));
}

#[test]
fn a_snapshot_takes_at_most_two_bytes_a_key() {
    let mut pair = Pair::new(SAFE, None);
    for key in 0..10_000 {
        pair.nodes[1].write(TABLE, partition(key), None);
    }
    pair.nodes[1].begin_rebuild(TABLE, 10_000, 0.01);
    (0..10_000).for_each(|key| pair.nodes[1].rebuild_key(TABLE, partition(key), None));
    pair.nodes[1].finish_rebuild(TABLE);
    pair.sent = [0; 2];
    pair.settle();
    // Three seconds of heartbeats are in it.
    assert!((10_000..=20_000).contains(&pair.sent[1]), "{} bytes", pair.sent[1]);
}

#[test]
fn a_large_snapshot_comes_in_checked_pieces() {
    let mut pair = Pair::new(SAFE, None);
    pair.nodes[1].create_table(TABLE, 1_000_000, 0.01, None);
    (0..1_000_000).for_each(|key| pair.nodes[1].load(TABLE, partition(key), None));
    pair.nodes[1].set_ready(TABLE);
    let largest = std::cell::Cell::new((0, 0));
    for _ in 0..120 {
        pair.now += 100;
        pair.nodes.iter_mut().for_each(|node| node.tick(pair.now));
        // Every second piece is lost.
        while pair.carry(|message| match message {
            Message::Chunk { bytes, .. } => {
                let (max, count) = largest.get();
                largest.set((max.max(bytes.len()), count + 1));
                count % 2 == 0
            }
            _ => true,
        }) {}
    }
    let (max, count) = largest.get();
    assert!(max <= 512 << 10 && count >= 5, "{max} bytes, {count} pieces");
    let copy = pair.nodes[0].copy_of(crate::pair::IDS[1], TABLE).unwrap();
    assert_eq!(copy.key_count(), pair.nodes[1].own_filter(TABLE).unwrap().key_count());
    assert!((0..1_000_000).step_by(97).all(|key| !copy.presence(partition(key)).is_empty()));
}

#[test]
fn a_heartbeat_takes_at_most_a_hundred_bytes() {
    let mut pair = Pair::new(SAFE, None);
    (pair.sent, pair.messages) = ([0; 2], 0);
    pair.settle();
    // Three seconds: a request and a grant each second, both ways.
    let (bytes, exchanges) = (pair.sent[0] + pair.sent[1], pair.messages / 2);
    assert!(exchanges >= 4 && bytes <= 100 * exchanges, "{bytes} bytes in {exchanges} exchanges");
}

#[test]
fn memory_keeps_its_bars() {
    let mut pair = Pair::new(SAFE, Some(Buckets::new(0, 1, 1).unwrap()));
    let node = &mut pair.nodes[1];
    node.create_table(TABLE, 100_000, 0.01, Some(Buckets::new(0, 1, 1).unwrap()));
    for row in 0..99_000 {
        node.load(TABLE, partition(row / 99), Some(row));
    }
    let filter = node.own_filter(TABLE).unwrap();
    let bits = filter.memory_bytes() as f64 * 8.0 / 100_000.0;
    assert!(bits <= 1.1 * (100f64.log2() + 3.0) / 0.95, "{bits} bits for a partition key or a bucket alike");
    let before = filter.memory_bytes();
    for key in 0..20_000 {
        node.bury(TABLE, partition(key), Deletion { time: 1, newest_in_files: None, newest_in_memory: None });
    }
    let dead = (node.own_filter(TABLE).unwrap().memory_bytes() - before) as f64 / 20_000.0;
    assert!(dead <= 32.0, "{dead} bytes a dead key");
}
