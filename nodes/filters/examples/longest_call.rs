//! How long a program that shares a node under a lock waits for the longest call of each kind, with a filter of many keys.
//!
//! `cargo run --release -p lacuna-node-filters --example longest_call -- 20M`

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lacuna_node_filters::{Config, KeyId, Mode, Node, NodeFilter, NodeId, Saved, TableId, Undone};

const IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];
const TABLE: TableId = TableId(1);

/// The longest call of each kind.
#[derive(Default)]
struct Longest(BTreeMap<&'static str, Duration>);

impl Longest {
    fn time<T>(&mut self, kind: &'static str, call: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let answer = call();
        let longest = self.0.entry(kind).or_default();
        *longest = begun.elapsed().max(*longest);
        answer
    }
}

fn key(number: u64) -> KeyId {
    KeyId::of_partition(&number.to_be_bytes())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked = std::env::args().nth(1).unwrap_or_else(|| "20M".to_owned());
    let keys = asked
        .strip_suffix('M')
        .map_or_else(|| asked.parse(), |millions| millions.parse().map(|n: u64| n * 1_000_000))?;
    let mut longest = Longest::default();
    let mut nodes = IDS.map(|id| Node::new(id, Config::new(Mode::Safe), 1, 0));
    for (node, other) in nodes.iter_mut().zip(IDS.iter().rev()) {
        node.set_ring(1, [*other]);
        node.create_table(TABLE, keys, 0.01, None);
    }
    (0..keys).for_each(|number| nodes[1].load(TABLE, key(number), None));
    nodes.iter_mut().for_each(|node| node.set_ready(TABLE));
    let mut written = keys;
    for now in (0..20_000).step_by(10) {
        for at in [0, 1] {
            longest.time("tick", || nodes[at].tick(now));
            finish(&mut nodes[at], now, &mut longest);
            for (to, frame) in nodes[at].take_outbox() {
                let to = usize::from(to == IDS[1]);
                longest.time("receive_quickly", || nodes[to].receive_quickly(now, IDS[at], &frame));
                finish(&mut nodes[to], now, &mut longest);
            }
        }
        // The copy is under way while others write.
        for _ in 0..100 {
            longest.time("write", || nodes[1].write(TABLE, key(written), None));
            written += 1;
        }
        longest.time("flush", || nodes[1].flush(now));
    }
    let copied = nodes[0].copy_of(IDS[1], TABLE).map_or(0, NodeFilter::key_count);
    longest.time("begin_saving", || nodes[1].begin_saving(TABLE));
    finish(&mut nodes[1], 20_000, &mut longest);
    let saved = match longest.time("take_saved", || nodes[1].take_saved(TABLE)) {
        Saved::Bytes(bytes) => bytes.len(),
        Saved::NotYet | Saved::Never => 0,
    };
    println!("{keys} keys and {} written; the copy has {copied}, the file {saved} bytes", written - keys);
    for (kind, time) in &longest.0 {
        println!("{kind:<40} {:>10.3} ms", time.as_secs_f64() * 1e3);
    }
    Ok(())
}

/// Does what is left, and writes between any two pieces.
fn finish(node: &mut Node, now: u64, longest: &mut Longest) {
    loop {
        match longest.time("undone", || node.undone()) {
            Undone::Nothing => return,
            Undone::Copied => {}
            Undone::Free(bytes) => longest.time("drop, without the lock", || drop(bytes)),
            Undone::Encode(whole) => {
                let encoded = longest.time("encode, without the lock", || whole.encode());
                longest.time("encoded", || node.encoded(now, encoded));
            }
            Undone::Read(from, bytes) => {
                let filter = longest.time("read, without the lock", || bytes.read());
                longest.time("fetched", || node.fetched(now, from, filter));
            }
        }
    }
}
