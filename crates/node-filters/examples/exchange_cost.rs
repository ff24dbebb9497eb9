//! What the exchange costs in processor time, on both sides: a new key, a key of a snapshot, an interval without news.
//!
//! `cargo run --release -p lacuna-node-filters --example exchange_cost [keys]`
//!
//! A node that takes n new keys a second spends `n * (write + delta)` nanoseconds of each second, each of its peers
//! `n * applied`.

use std::time::Instant;

use lacuna_node_filters::{Config, KeyId, Mode, Node, NodeId, TableId};

const TABLE: TableId = TableId(7);
const IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];
/// New keys in one delta.
const BATCH: u64 = 1_000;
/// Measured this often; the least counts, for everything else on the machine only adds.
const ROUNDS: u64 = 20;

fn main() {
    let keys = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().expect("a number of keys"));
    let mut now = 10_000;
    let mut nodes = IDS.map(|id| Node::new(id, Config::new(Mode::Safe), 1, 0));
    for node in &mut nodes {
        node.set_ring(1, IDS);
        node.create_table(TABLE, 2 * keys, 0.01, None);
    }
    (0..keys).for_each(|key| nodes[1].load(TABLE, id_of(key), None));
    nodes.iter_mut().for_each(|node| node.set_ready(TABLE));
    let started = Instant::now();
    exchange(&mut nodes, &mut now);
    report("copy of a filter, both sides", started, keys);

    let [mut write, mut flush, mut apply, mut idle] = [f64::MAX; 4];
    for round in 0..ROUNDS {
        let ids: Vec<KeyId> = (0..BATCH).map(|key| id_of(keys + round * BATCH + key)).collect();
        let at = Instant::now();
        for &id in &ids {
            nodes[1].write(TABLE, id, None);
        }
        write = write.min(nanoseconds(at) / BATCH as f64);
        let at = Instant::now();
        nodes[1].flush(now);
        let outbox = nodes[1].take_outbox();
        flush = flush.min(nanoseconds(at) / BATCH as f64);
        let at = Instant::now();
        outbox.iter().for_each(|(_, bytes)| nodes[0].receive(now, IDS[1], bytes));
        apply = apply.min(nanoseconds(at) / BATCH as f64);
        exchange(&mut nodes, &mut now);
        let at = Instant::now();
        exchange(&mut nodes, &mut now);
        idle = idle.min(nanoseconds(at));
    }
    println!("{:40} {write:10.1} ns a key", "write of a new key");
    println!("{:40} {flush:10.1} ns a key and batch of {BATCH}", "delta, for all peers");
    println!("{:40} {apply:10.1} ns a key and peer", "delta applied");
    println!("{:40} {:10.1} us", "a second of two nodes without news", idle / 1e3);
}

/// Lets a second pass in ten steps.
fn exchange(nodes: &mut [Node; 2], now: &mut u64) {
    for _ in 0..10 {
        *now += 100;
        nodes.iter_mut().for_each(|node| node.tick(*now));
        loop {
            let outboxes = [nodes[0].take_outbox(), nodes[1].take_outbox()];
            if outboxes.iter().all(Vec::is_empty) {
                break;
            }
            for (from, outbox) in outboxes.iter().enumerate() {
                outbox.iter().for_each(|(_, bytes)| nodes[1 - from].receive(*now, IDS[from], bytes));
            }
        }
    }
}

fn report(what: &str, started: Instant, keys: u64) {
    println!("{what:40} {:10.1} ns a key", nanoseconds(started) / keys as f64);
}

fn nanoseconds(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64
}

fn id_of(key: u64) -> KeyId {
    KeyId::of_partition(&key.to_le_bytes())
}
