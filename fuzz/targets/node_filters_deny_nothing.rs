//! Two nodes in mode safe and a wire that loses, delays and repeats: whatever is done in whatever order, the one that asks never calls a
//! key empty whose write the other one was allowed to acknowledge.

#![no_main]

use arbitrary::Arbitrary;
use lacuna_node_filters::{
    Asked, Barrier, Config, Consistency, Decision, Deletion, KeyId, Mode, Node, NodeId, Plan, Question,
    TableId,
};
use libfuzzer_sys::fuzz_target;

const TABLE: TableId = TableId(7);
const IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];
const PROVEN: Deletion = Deletion { time: 1, newest_in_files: None, newest_in_memory: None };

#[derive(Debug, Arbitrary)]
struct Input {
    log_bytes: u8,
    gathers: bool,
    cap: Option<u8>,
    steps: Vec<Step>,
}

#[derive(Debug, Arbitrary)]
enum Step {
    Write(u8),
    Delete(u8),
    Flush,
    Wait(u8),
    Tick(bool),
    /// Of all that are under way, one arrives; it may arrive again.
    Deliver(u8, bool),
    Lose(u8),
    /// Everything arrives, in order, and what is answered to it.
    Settle,
    BeginRebuild,
    FinishRebuild,
    Truncate,
    Read(u8),
}

/// Node 0 asks, node 1 holds.
struct Pair {
    nodes: [Node; 2],
    now: u64,
    wire: Vec<(usize, Vec<u8>)>,
    keys: [Key; 256],
}

#[derive(Clone, Copy, Default)]
struct Key {
    waits_for: Option<Barrier>,
    is_acknowledged: bool,
    /// Whether the store holds it, for a rebuild to read.
    is_there: bool,
}

fuzz_target!(|input: Input| {
    let config = Config {
        log_bytes: 16 * usize::from(input.log_bytes),
        gathering: if input.gathers { 2 } else { 0 },
        most_table_bytes: input.cap.map_or(1 << 20, |cap| 64 * usize::from(cap)),
        ..Config::new(Mode::Safe)
    };
    let nodes = [0, 1].map(|at| Node::new(IDS[at], config, 1, 0));
    let mut pair = Pair { nodes, now: 10_000, wire: Vec::new(), keys: [Key::default(); 256] };
    for node in &mut pair.nodes {
        node.set_ring(1, IDS);
        node.create_table(TABLE, 60, 0.02, None);
        node.set_ready(TABLE);
    }
    for step in input.steps {
        pair.take(step);
        pair.carry();
    }
});

impl Pair {
    fn take(&mut self, step: Step) {
        match step {
            Step::Write(key) => {
                let barrier = self.nodes[1].write(TABLE, partition(key), None);
                let held = &mut self.keys[usize::from(key)];
                (held.waits_for, held.is_there) = (Some(barrier), true);
            }
            Step::Delete(key) => {
                self.keys[usize::from(key)] = Key { is_there: true, ..Key::default() };
                self.nodes[1].bury(TABLE, partition(key), PROVEN);
            }
            Step::Flush => self.nodes[1].flush(self.now),
            Step::Wait(some) => self.now += u64::from(some) * 10,
            Step::Tick(which) => self.nodes[usize::from(which)].tick(self.now),
            Step::Deliver(which, again) => {
                if let Some(at) = self.place(which) {
                    let (to, frame) = if again { self.wire[at].clone() } else { self.wire.remove(at) };
                    self.nodes[to].receive(self.now, IDS[1 - to], &frame);
                }
            }
            Step::Lose(which) => {
                if let Some(at) = self.place(which) {
                    self.wire.remove(at);
                }
            }
            Step::Settle => {
                for _ in 0..4 {
                    self.nodes.iter_mut().for_each(|node| node.tick(self.now));
                    self.carry();
                    for (to, frame) in std::mem::take(&mut self.wire) {
                        self.nodes[to].receive(self.now, IDS[1 - to], &frame);
                    }
                }
            }
            Step::BeginRebuild => self.nodes[1].begin_rebuild(TABLE, 60, 0.02),
            Step::FinishRebuild => {
                for key in (0..=255).filter(|key| self.keys[usize::from(*key)].is_there) {
                    self.nodes[1].rebuild_key(TABLE, partition(key), None);
                }
                self.nodes[1].finish_rebuild(TABLE);
            }
            Step::Truncate => {
                self.keys = [Key::default(); 256];
                self.nodes[1].create_table(TABLE, 60, 0.02, None);
                self.nodes[1].set_ready(TABLE);
            }
            Step::Read(key) => {
                let asked = Asked { partition: partition(key), slice: None, replicas: &IDS[1..] };
                let question = Question {
                    table: TABLE,
                    plan: Plan::Partitions,
                    consistency: Consistency::One,
                    is_first_page: true,
                    is_available: true,
                    keys: &[asked],
                };
                let decision = self.nodes[0].decide(self.now, &question);
                assert!(
                    decision != Decision::Empty || !self.keys[usize::from(key)].is_acknowledged,
                    "key {key} was acknowledged, and is denied"
                );
            }
        }
    }

    fn place(&self, which: u8) -> Option<usize> {
        (!self.wire.is_empty()).then(|| usize::from(which) % self.wire.len())
    }

    /// Takes what the nodes say, and the acknowledgements that may leave now.
    fn carry(&mut self) {
        for (from, node) in self.nodes.iter_mut().enumerate() {
            self.wire.extend(node.take_outbox().into_iter().map(|(_, frame)| (1 - from, frame)));
        }
        for key in &mut self.keys {
            if let Some(barrier) = key.waits_for
                && self.nodes[1].may_acknowledge(self.now, barrier)
            {
                (key.waits_for, key.is_acknowledged) = (None, true);
            }
        }
    }
}

fn partition(key: u8) -> KeyId {
    KeyId::of_partition(&[key])
}
