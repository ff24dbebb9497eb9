//! What node filters send to one peer: for a new key, for a whole copy, and when nothing happens.

use lacuna_node_filters::{Config, KeyId, Mode, Node, NodeId, TableId};

use crate::bar::Bar;
use crate::bar::Limit::AtMost;

const TABLE: TableId = TableId(7);
const IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];
const KEYS: u64 = 100_000;
/// Keys that are new in one batch; its frame counts too.
const NEW_KEYS: u64 = 1_000;

/// Node 0 reads, node 1 holds keys.
struct Pair {
    nodes: [Node; 2],
    now: u64,
}

impl Pair {
    fn new() -> Self {
        let mut nodes = IDS.map(|id| Node::new(id, Config::new(Mode::Safe), 1, 0));
        for node in &mut nodes {
            node.set_ring(1, IDS);
            node.create_table(TABLE, KEYS, 0.01, None);
        }
        (0..KEYS).for_each(|key| nodes[1].load(TABLE, id_of(key), None));
        nodes.iter_mut().for_each(|node| node.set_ready(TABLE));
        Self { nodes, now: 10_000 }
    }

    /// Lets a second pass, in which each node asks the other once; bytes that node 1 sent, and bytes of both.
    fn second(&mut self) -> [usize; 2] {
        let mut sent = [0; 2];
        for _ in 0..10 {
            self.now += 100;
            self.nodes.iter_mut().for_each(|node| node.tick(self.now));
            while let [one, two] = [self.carry(0), self.carry(1)]
                && one + two > 0
            {
                sent = [sent[0] + two, sent[1] + one + two];
            }
        }
        sent
    }

    fn carry(&mut self, from: usize) -> usize {
        let outbox = self.nodes[from].take_outbox();
        outbox.iter().for_each(|(_, bytes)| self.nodes[1 - from].receive(self.now, IDS[from], bytes));
        outbox.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// Measures bytes; times are not asked.
pub(super) fn bars() -> [Bar; 3] {
    let mut pair = Pair::new();
    let snapshot = pair.second()[0] as f64 / KEYS as f64;
    for _ in 0..5 {
        pair.second();
    }
    // Each asks the other: two requests and two grants.
    let heartbeat = pair.second()[1] as f64 / 2.0;
    for key in KEYS..KEYS + NEW_KEYS {
        pair.nodes[1].write(TABLE, id_of(key), None);
    }
    pair.nodes[1].flush(pair.now);
    let frame: usize = pair.nodes[1].take_outbox().iter().map(|(_, bytes)| bytes.len()).sum();
    // Twins of keys that were there are not new.
    let delta = (frame as f64 - 64.0) / NEW_KEYS as f64;
    let bar = |name: &str, bytes: f64, most: f64, unit: &str| {
        let name = format!("node filters, {name}");
        Bar::number(
            name,
            format!("{bytes:.2} bytes {unit}"),
            format!("{most} bytes"),
            bytes / most,
            AtMost(1.0),
        )
    };
    [
        bar("delta without its frame", delta, 8.0, "a new key and peer"),
        bar("snapshot at 1 %", snapshot, 2.0, "a key"),
        bar("heartbeat", heartbeat, 100.0, "a peer"),
    ]
}

fn id_of(key: u64) -> KeyId {
    KeyId::of_partition(&key.to_le_bytes())
}
