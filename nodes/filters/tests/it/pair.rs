//! Two nodes and a wire that a test holds in its hands.

use lacuna_node_filters::{
    Asked, Buckets, Config, Consistency, Decision, KeyId, Message, Node, NodeId, Plan, Question, TableId,
};

pub(crate) const TABLE: TableId = TableId(7);
pub(crate) static IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];

/// Node 0 asks, node 1 holds.
pub(crate) struct Pair {
    pub(crate) nodes: [Node; 2],
    pub(crate) now: u64,
    /// Bytes sent, by sender.
    pub(crate) sent: [usize; 2],
    pub(crate) messages: usize,
}

pub(crate) fn partition(key: u64) -> KeyId {
    KeyId::of_partition(&key.to_le_bytes())
}

/// Takes the messages of a node, decoded; confirmations apart from the frames that carry them.
pub(crate) fn take(node: &mut Node) -> Vec<(Message, Vec<u8>)> {
    node.take_outbox().into_iter().flat_map(|(_, bytes)| parts(bytes)).collect()
}

/// A frame, or the two that it is made of.
fn parts(bytes: Vec<u8>) -> Vec<(Message, Vec<u8>)> {
    match Message::from_bytes(&bytes).unwrap() {
        Message::AppliedAnd { applied, frame } => {
            let applied = Message::Applied(applied);
            let confirmation = applied.to_bytes();
            vec![(applied, confirmation), (Message::from_bytes(&frame).unwrap(), frame)]
        }
        whole => vec![(whole, bytes)],
    }
}

impl Pair {
    /// Both with an empty, ready table, and copies exchanged.
    pub(crate) fn new(config: Config, buckets: Option<Buckets>) -> Self {
        Self::of([config; 2], buckets)
    }

    /// As [`new`](Self::new), each with its own settings.
    pub(crate) fn of(configs: [Config; 2], buckets: Option<Buckets>) -> Self {
        let nodes = [0, 1].map(|at| Node::new(IDS[at], configs[at], 1, 0));
        let mut pair = Self { nodes, now: 10_000, sent: [0; 2], messages: 0 };
        for node in &mut pair.nodes {
            node.set_ring(1, IDS);
            node.create_table(TABLE, 10_000, 0.01, buckets);
            node.set_ready(TABLE);
        }
        pair.settle();
        pair
    }

    /// Lets time pass and carries every message, until both are silent.
    pub(crate) fn settle(&mut self) {
        for _ in 0..30 {
            self.now += 100;
            self.nodes.iter_mut().for_each(|node| node.tick(self.now));
            while self.carry(|_| true) {}
        }
    }

    /// Carries the messages that `passes` lets through; whether there were any.
    pub(crate) fn carry(&mut self, passes: impl Fn(&Message) -> bool) -> bool {
        let mut any = false;
        for from in [0, 1] {
            for (to, bytes) in self.nodes[from].take_outbox() {
                let to = IDS.iter().position(|id| *id == to).unwrap();
                self.sent[from] += bytes.len();
                self.messages += 1;
                any = true;
                for (_, frame) in parts(bytes).iter().filter(|(message, _)| passes(message)) {
                    self.nodes[to].receive(self.now, IDS[from], frame);
                }
            }
        }
        any
    }

    /// Writes a key at node 1 and hands the delta to node 0, whose answer is not carried.
    pub(crate) fn write_and_send(&mut self, table: TableId, key: u64) {
        self.nodes[1].write(table, partition(key), None);
        self.nodes[1].flush(self.now);
        for (_, bytes) in take(&mut self.nodes[1]) {
            self.nodes[0].receive(self.now, IDS[1], &bytes);
        }
    }

    pub(crate) fn decide(&mut self, key: u64) -> Decision {
        self.decide_slice(key, None)
    }

    pub(crate) fn decide_slice(&mut self, key: u64, slice: Option<(u64, u64)>) -> Decision {
        let asked = Asked { partition: partition(key), slice, replicas: &[IDS[1]] };
        self.nodes[0].decide(self.now, &question(&[asked]))
    }
}

pub(crate) fn question<'a>(keys: &'a [Asked<'a>]) -> Question<'a> {
    Question {
        table: TABLE,
        plan: Plan::Partitions,
        consistency: Consistency::One,
        is_first_page: true,
        is_available: true,
        keys,
    }
}
