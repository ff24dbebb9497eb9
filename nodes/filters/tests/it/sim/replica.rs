//! One node of the cluster: a store that survives a crash, node filters that do not, a clock of its own.

use std::collections::BTreeMap;

use lacuna_node_filters::{Barrier, Config, Deletion, KeyId, NewsFlag, Node, NodeId, TableId};

use super::network::Change;

pub(crate) const TABLE: TableId = TableId(1);
/// So few bits that twins are common.
const RATE: f64 = 0.02;

/// What the store holds of a key.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cells {
    pub(crate) written: Option<u64>,
    pub(crate) deleted: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) node: Node,
    flag: NewsFlag,
    pub(crate) cells: BTreeMap<u64, Cells>,
    /// Acknowledgements that wait: operation, coordinator, barrier, since when.
    pub(crate) held: Vec<(u64, usize, Barrier, u64)>,
    /// What reads have found and may not show yet: keys, with the times of their rows.
    looks: Vec<(u64, u64)>,
    pub(crate) ring: u64,
    pub(crate) paused_until: u64,
    /// Paused with its machine: what is sent to it is lost.
    pub(crate) is_asleep: bool,
    pub(crate) down_until: u64,
    pub(crate) is_rebuilding: bool,
    /// Its clock: how much it is ahead, and runs ahead in a thousand.
    pub(crate) offset: u64,
    drift: u64,
}

pub(crate) fn id_of(node: usize) -> NodeId {
    NodeId(node as u128 + 1)
}

pub(crate) fn key_id(key: u64) -> KeyId {
    KeyId::of_partition(&key.to_le_bytes())
}

impl Replica {
    pub(crate) fn new(at: usize, config: Config, drift: u64) -> Self {
        let offset = 1_000_000 + 1_000 * at as u64;
        Self {
            node: Node::new(id_of(at), config, 1, offset),
            flag: NewsFlag::default(),
            cells: BTreeMap::new(),
            held: Vec::new(),
            looks: Vec::new(),
            ring: 3,
            paused_until: 0,
            is_asleep: false,
            down_until: 0,
            is_rebuilding: false,
            offset,
            drift,
        }
    }

    /// What its clock shows.
    pub(crate) fn clock(&self, now: u64) -> u64 {
        self.offset + now + now * self.drift / 1_000
    }

    /// Starts again with what the store holds; deletions have to be learned anew.
    pub(crate) fn start(&mut self, at: usize, config: Config, incarnation: u64, now: u64, nodes: usize) {
        self.node = Node::new(id_of(at), config, incarnation, self.clock(now));
        self.flag = NewsFlag::default();
        self.begin_table(nodes);
        for key in self.cells.keys() {
            self.node.load(TABLE, key_id(*key), None);
        }
        self.node.set_ready(TABLE);
        self.held.clear();
        self.looks.clear();
        self.is_rebuilding = false;
    }

    pub(crate) fn begin_table(&mut self, nodes: usize) {
        self.node.set_ring(self.ring, (0..nodes).map(id_of));
        self.node.create_table(TABLE, 300, RATE, None);
    }

    /// Carries out a change, the filter first; what its acknowledgement waits for.
    pub(crate) fn apply(&mut self, key: u64, change: Change, time: u64) -> Barrier {
        match change {
            Change::Write => {
                let barrier = self.node.write(TABLE, key_id(key), None);
                let cells = self.cells.entry(key).or_default();
                cells.written = cells.written.max(Some(time));
                barrier
            }
            Change::Delete => {
                let cells = self.cells.entry(key).or_default();
                cells.deleted = cells.deleted.max(Some(time));
                self.learn_deletion(key, Some(time));
                self.node.barrier_of(TABLE, key_id(key))
            }
        }
    }

    /// Enters a deletion into the filter, if it is a proof: one that comes, or the newest that a read finds.
    pub(crate) fn learn_deletion(&mut self, key: u64, time: Option<u64>) {
        let Some(Cells { written, deleted }) = self.cells.get(&key).copied() else { return };
        if let Some(time) = time.or(deleted) {
            let deletion = Deletion { time, newest_in_files: None, newest_in_memory: written };
            self.node.bury(TABLE, key_id(key), deletion);
        }
    }

    /// A read meets the key here.
    pub(crate) fn look(&mut self, key: u64) {
        let cells = self.cells.get(&key).copied().unwrap_or_default();
        if let Some(written) = cells.written.filter(|written| Some(*written) > cells.deleted) {
            self.looks.push((key, written));
        }
    }

    /// At the end of a call of the node. Only some of them look whether the flag can be lowered.
    pub(crate) fn update_flag(&self, clock: u64, may_lower: bool) {
        self.flag.raise_if_news(&self.node);
        if may_lower {
            self.flag.lower_if_known(&self.node, clock);
        }
    }

    pub(crate) fn has_news(&self) -> bool {
        self.flag.is_raised()
    }

    /// What reads have found and may be shown now: all of it while no flag is raised.
    pub(crate) fn free_looks(&mut self, clock: u64) -> Vec<(u64, u64)> {
        let (free, held) = std::mem::take(&mut self.looks)
            .into_iter()
            .partition(|(key, _)| !self.flag.is_raised() || self.node.may_reveal(clock, TABLE, key_id(*key)));
        self.looks = held;
        free
    }

    /// Builds the filter anew, in two steps with writes between them.
    pub(crate) fn rebuild(&mut self, capacity: u64) {
        if !self.is_rebuilding {
            self.node.begin_rebuild(TABLE, capacity, RATE);
        } else {
            for key in self.cells.keys() {
                self.node.rebuild_key(TABLE, key_id(*key), None);
            }
            self.node.finish_rebuild(TABLE);
        }
        self.is_rebuilding = !self.is_rebuilding;
    }
}
