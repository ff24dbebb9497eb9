//! One node of the cluster: a store that survives a crash, node filters that do not, a clock of its own.

use std::collections::BTreeMap;

use lacuna_node_filters::{
    Barrier, Buckets, Config, Deletion, EncodedFilter, FetchedFilter, Flaw, KeyId, NewsFlag, Node, NodeId,
    Side, TableId, Undone,
};

use super::heads::Head;
use super::network::Change;

pub(crate) const TABLE: TableId = TableId(1);
/// So few bits that twins are common.
const RATE: f64 = 0.02;

/// What the store holds of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) written: Option<u64>,
    pub(crate) deleted: Option<u64>,
}

/// Rows of a partition, where keys are rows, in buckets of eight and of 32.
pub(crate) const ROWS: u64 = 64;
pub(crate) const BUCKET: u64 = 8;

/// How keys are names: each a partition, or each a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) are_rows: bool,
}

impl Names {
    pub(crate) fn partition(self, key: u64) -> u64 {
        if self.are_rows { key / ROWS } else { key }
    }

    pub(crate) fn place(self, key: u64) -> Option<u64> {
        self.are_rows.then_some(key % ROWS)
    }

    /// Partitions that are keys are in four slots, so that some keys of a short run come to the same one.
    pub(crate) fn id(self, key: u64) -> KeyId {
        let id = KeyId::of_partition(&self.partition(key).to_le_bytes());
        if self.are_rows { id } else { KeyId::from_halves(id.hash(), id.check() >> 6) }
    }
}

/// Rows without a live one, as a read has found them.
#[derive(Debug)]
struct Proof {
    first: u64,
    last: u64,
    is_overtaken: bool,
}

/// What a life has left on disk: its filter, and what the store held then.
#[derive(Debug)]
struct Saved {
    filter: Vec<u8>,
    cells: BTreeMap<u64, Cells>,
}

#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) node: Node,
    names: Names,
    flaw: Option<Flaw>,
    proofs: Vec<Proof>,
    flag: NewsFlag,
    pub(crate) cells: BTreeMap<u64, Cells>,
    /// Acknowledgements that wait: operation, coordinator, barrier, since when.
    pub(crate) held: Vec<(u64, usize, Barrier, u64)>,
    /// What reads have found and may not show yet: keys, with the times of their rows.
    looks: Vec<(u64, u64)>,
    /// Answers to narrowed reads that wait for the same, and who asked.
    pub(crate) heads: Vec<(Head, usize)>,
    pub(crate) ring: u64,
    pub(crate) paused_until: u64,
    /// Paused with its machine: what is sent to it is lost.
    pub(crate) is_asleep: bool,
    pub(crate) down_until: u64,
    pub(crate) is_rebuilding: bool,
    saved: Option<Saved>,
    /// Whether it has a letter to itself about work that is left.
    pub(crate) is_working: bool,
    /// What was done of that without the node.
    done: Option<Done>,
    /// Its clock: how much it is ahead, and runs ahead in a thousand.
    pub(crate) offset: u64,
    drift: u64,
}

/// Work that needs no node, while which the node goes on.
#[derive(Debug)]
enum Done {
    Encoded(EncodedFilter),
    Fetched(NodeId, FetchedFilter),
}

/// Filters are copied in several pieces, as large ones are.
fn in_pieces(config: Config) -> Config {
    Config { copied_bytes: 256, ..config }
}

pub(crate) fn id_of(node: usize) -> NodeId {
    NodeId(node as u128 + 1)
}

impl Replica {
    pub(crate) fn new(at: usize, config: Config, names: Names, drift: u64) -> Self {
        let offset = 1_000_000 + 1_000 * at as u64;
        Self {
            node: Node::new(id_of(at), in_pieces(config), 1, offset),
            names,
            flaw: config.flaw,
            proofs: Vec::new(),
            flag: NewsFlag::default(),
            cells: BTreeMap::new(),
            held: Vec::new(),
            looks: Vec::new(),
            heads: Vec::new(),
            ring: 3,
            paused_until: 0,
            is_asleep: false,
            down_until: 0,
            is_rebuilding: false,
            saved: None,
            is_working: false,
            done: None,
            offset,
            drift,
        }
    }

    /// What its clock shows.
    pub(crate) fn clock(&self, now: u64) -> u64 {
        self.offset + now + now * self.drift / 1_000
    }

    /// Does a piece of the work that is left; `false` if there is none.
    pub(crate) fn work(&mut self, clock: u64) -> bool {
        match self.done.take() {
            Some(Done::Encoded(encoded)) => self.node.encoded(clock, encoded),
            Some(Done::Fetched(from, filter)) => self.node.fetched(clock, from, filter),
            None => match self.node.undone() {
                Undone::Nothing => self.is_working = false,
                Undone::Copied | Undone::Free(_) => {}
                Undone::Encode(whole) => self.done = Some(Done::Encoded(whole.encode())),
                Undone::Read(from, bytes) => self.done = Some(Done::Fetched(from, bytes.read())),
            },
        }
        self.is_working
    }

    /// Leaves the filter on disk.
    pub(crate) fn save(&mut self) {
        if let Some(filter) = self.node.saved_table(TABLE) {
            self.saved = Some(Saved { filter, cells: self.cells.clone() });
        }
    }

    /// Starts again with what the store holds. As a rule a filter that was saved is restored, and what came since is loaded; without,
    /// deletions have to be learned anew.
    pub(crate) fn start(&mut self, at: usize, config: Config, incarnation: u64, now: u64, nodes: usize) {
        self.node = Node::new(id_of(at), in_pieces(config), incarnation, self.clock(now));
        (self.is_working, self.done) = (false, None);
        self.flag = NewsFlag::default();
        self.begin_table(nodes);
        let saved = self.saved.as_ref().filter(|_| !incarnation.is_multiple_of(4));
        if let Some(saved) = saved {
            assert!(self.node.restore_table(TABLE, &saved.filter, true).unwrap(), "it is empty and unread");
        }
        let is_whole = self.flaw == Some(Flaw::RestoredIsWhole);
        let holds = |key, cells| saved.is_some_and(|saved| is_whole || saved.cells.get(key) == Some(cells));
        for (key, _) in self.cells.iter().filter(|(key, cells)| !holds(*key, *cells)) {
            self.node.load(TABLE, self.names.id(*key), self.names.place(*key));
        }
        self.node.set_ready(TABLE);
        self.proofs.clear();
        self.held.clear();
        self.looks.clear();
        self.heads.clear();
        self.is_rebuilding = false;
    }

    pub(crate) fn begin_table(&mut self, nodes: usize) {
        self.node.set_ring(self.ring, (0..nodes).map(id_of));
        let buckets = self.names.are_rows.then(|| Buckets::new(3, 2, 2).unwrap());
        self.node.create_table(TABLE, 300, RATE, buckets);
    }

    /// Carries out a change, the filter first; what its acknowledgement waits for.
    pub(crate) fn apply(&mut self, key: u64, change: Change, time: u64) -> Barrier {
        for proof in self.proofs.iter_mut().filter(|proof| (proof.first..=proof.last).contains(&key)) {
            proof.is_overtaken = true;
        }
        match change {
            Change::Write => {
                let barrier = self.node.write(TABLE, self.names.id(key), self.names.place(key));
                let cells = self.cells.entry(key).or_default();
                cells.written = cells.written.max(Some(time));
                barrier
            }
            Change::Delete => {
                let cells = self.cells.entry(key).or_default();
                cells.deleted = cells.deleted.max(Some(time));
                self.learn_deletion(key, Some(time));
                self.node.barrier_of(TABLE, self.names.id(key))
            }
        }
    }

    /// Enters a deletion into the filter, if it is a proof: one that comes, or the newest that a read finds.
    pub(crate) fn learn_deletion(&mut self, key: u64, time: Option<u64>) {
        let Some(Cells { written, deleted }) = self.cells.get(&key).copied() else { return };
        if self.names.are_rows {
            return;
        }
        if let Some(time) = time.or(deleted) {
            let deletion = Deletion { time, newest_in_files: None, newest_in_memory: written };
            self.node.bury(TABLE, self.names.id(key), deletion);
        }
    }

    /// When the live row of a key was written.
    fn live(&self, key: u64) -> Option<u64> {
        let cells = self.cells.get(&key)?;
        cells.written.filter(|written| Some(*written) > cells.deleted)
    }

    /// A read meets the key here.
    pub(crate) fn look(&mut self, key: u64) {
        if let Some(written) = self.live(key) {
            self.looks.push((key, written));
        }
    }

    /// Reads some rows, and on to the borders of the buckets at their ends, or to the next live row.
    pub(crate) fn prove(&mut self, first: u64, last: u64) {
        if (first..=last).any(|key| self.live(key).is_some()) {
            return;
        }
        let (mut first, mut last) = (first, last);
        while !first.is_multiple_of(BUCKET) && self.live(first - 1).is_none() {
            first -= 1;
        }
        while !(last + 1).is_multiple_of(BUCKET) && self.live(last + 1).is_none() {
            last += 1;
        }
        self.proofs.push(Proof { first, last, is_overtaken: false });
    }

    /// Reads from an end of a partition to its first live row.
    pub(crate) fn prove_end(&mut self, first: u64, side: Side) {
        let is_dead = |key: &u64| self.live(*key).is_none();
        let count = match side {
            Side::Start => (first..first + ROWS).take_while(is_dead).count(),
            Side::End => (first..first + ROWS).rev().take_while(is_dead).count(),
        };
        let Some(rest) = (count as u64).checked_sub(1) else { return };
        let (first, last) = match side {
            Side::Start => (first, first + rest),
            Side::End => (first + ROWS - 1 - rest, first + ROWS - 1),
        };
        self.proofs.push(Proof { first, last, is_overtaken: false });
    }

    /// What was read counts, unless a write has come since.
    pub(crate) fn conclude(&mut self) {
        let counts_always = self.flaw == Some(Flaw::OvertakenProofsCount);
        for proof in
            std::mem::take(&mut self.proofs).iter().filter(|proof| !proof.is_overtaken || counts_always)
        {
            // After the last row of a partition there is none.
            let hi = if proof.last % ROWS == ROWS - 1 { u64::MAX } else { proof.last % ROWS };
            let lo = proof.first % ROWS;
            self.node.bury_rows(TABLE, self.names.id(proof.first), lo, hi, 0);
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
        let (free, held) = std::mem::take(&mut self.looks).into_iter().partition(|(key, _)| {
            !self.flag.is_raised() || self.node.may_reveal(clock, TABLE, self.names.id(*key))
        });
        self.looks = held;
        free
    }

    /// Answers to narrowed reads that may leave.
    pub(crate) fn free_heads(&mut self, clock: u64) -> Vec<(Head, usize)> {
        let (free, held) = std::mem::take(&mut self.heads).into_iter().partition(|(head, _)| {
            !self.flag.is_raised() || self.node.may_reveal(clock, TABLE, self.names.id(head.first))
        });
        self.heads = held;
        free
    }

    /// Builds the filter anew, in two steps with writes between them.
    pub(crate) fn rebuild(&mut self, capacity: u64) {
        if !self.is_rebuilding {
            self.node.begin_rebuild(TABLE, capacity, RATE);
        } else {
            for key in self.cells.keys() {
                self.node.rebuild_key(TABLE, self.names.id(*key), self.names.place(*key));
            }
            self.node.finish_rebuild(TABLE);
        }
        self.is_rebuilding = !self.is_rebuilding;
    }
}
