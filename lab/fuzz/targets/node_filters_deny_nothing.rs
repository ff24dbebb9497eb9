//! Two nodes in mode safe and a wire that loses, delays and repeats: whatever is done in whatever order, the asking
//! node never calls a partition, or rows of it, empty while it holds a write that the other node was allowed to
//! acknowledge, or to show; also while new keys stream into slots that are open for them.

#![no_main]

use arbitrary::Arbitrary;
use lacuna_node_filters::{
    Asked, Barrier, Buckets, Config, Consistency, Decision, Deletion, KeyId, Mode, Node, NodeId, Plan,
    Question, TableId,
};
use libfuzzer_sys::fuzz_target;

const IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];
/// The first knows partitions only, the second buckets of rows, too.
const TABLES: [TableId; 2] = [TableId(7), TableId(8)];
const PARTITIONS: usize = 24;
/// Rows of a partition.
const PLACES: usize = 32;
const PROVEN: Deletion = Deletion { time: 1, newest_in_files: None, newest_in_memory: None };

#[derive(Debug, Arbitrary)]
struct Input {
    log_bytes: u8,
    cap: Option<u8>,
    slot_writes: u8,
    steps: Vec<Step>,
}

/// A row, or as many from it on as `count` says.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Rows {
    table: bool,
    partition: u8,
    place: u8,
    count: u8,
}

#[derive(Debug, Arbitrary)]
enum Step {
    Write(Rows),
    /// Of some partitions one after another.
    Stream(Rows),
    /// A read of node 1 meets a row, and shows it if it may.
    Look(Rows),
    DeletePartition(Rows),
    DeleteRows(Rows),
    ReadPartition(Rows),
    ReadRows(Rows),
    Flush,
    Wait(u8),
    Tick(bool),
    /// Of all that is under way, one arrives; it may arrive again.
    Deliver(u8, bool),
    /// As many arrive, from the oldest on, before anything is answered.
    Batch(u8),
    Lose(u8),
    /// Everything arrives, in order, and what is answered to it.
    Settle,
    BeginRebuild(bool),
    FinishRebuild(bool),
    Truncate(bool),
    Restart(bool),
    MoveRing(bool),
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// Whether the store holds anything of it, for a filter that is built from files.
    is_there: bool,
    is_live: bool,
    waits_for: Option<Barrier>,
    /// Acknowledged, or shown.
    is_acknowledged: bool,
}

type Partition = [Row; PLACES];

/// Node 0 asks, node 1 holds.
struct Pair {
    config: Config,
    nodes: [Node; 2],
    rings: [u64; 2],
    lives: u64,
    now: u64,
    wire: Vec<(usize, Vec<u8>)>,
    tables: [Vec<Partition>; 2],
    /// Rows that may wait for their acknowledgement: table, partition, place.
    waiting: Vec<(usize, usize, usize)>,
}

fuzz_target!(|input: Input| {
    let config = Config {
        log_bytes: 16 * usize::from(input.log_bytes),
        max_table_bytes: input.cap.map_or(1 << 20, |cap| 64 * usize::from(cap)),
        slot_writes: u64::from(input.slot_writes % 4),
        ..Config::new(Mode::Safe)
    };
    let mut pair = Pair {
        config,
        nodes: [0, 1].map(|at| Node::new(IDS[at], config, 1, 0)),
        rings: [1; 2],
        lives: 1,
        now: 10_000,
        wire: Vec::new(),
        tables: [0, 1].map(|_| vec![[Row::default(); PLACES]; PARTITIONS]),
        waiting: Vec::new(),
    };
    (0..2).for_each(|node| pair.begin(node));
    for step in input.steps {
        pair.take(step);
        pair.carry();
    }
});

impl Rows {
    fn table(self) -> usize {
        usize::from(self.table)
    }

    fn partition(self) -> usize {
        usize::from(self.partition) % PARTITIONS
    }

    fn id(self) -> KeyId {
        id_of(self.partition())
    }

    /// First and last.
    fn places(self) -> (usize, usize) {
        let first = usize::from(self.place) % PLACES;
        (first, (first + usize::from(self.count)).min(PLACES - 1))
    }
}

/// In one of four slots.
fn id_of(partition: usize) -> KeyId {
    let id = KeyId::of_partition(&partition.to_le_bytes());
    KeyId::from_halves(id.hash(), id.check() >> 6)
}

/// The bucket that a node is given; none for tables without buckets.
fn told(table: usize, place: usize) -> Option<u64> {
    (table == 1).then_some(place as u64)
}

impl Pair {
    /// A life begins: with the tables as they are in files.
    fn begin(&mut self, node: usize) {
        self.nodes[node].set_ring(self.rings[node], IDS);
        for (table, name) in TABLES.into_iter().enumerate() {
            let buckets = (table == 1).then(|| Buckets::new(2, 1, 3).expect("levels that fit"));
            self.nodes[node].create_table(name, 60, 0.02, buckets);
            if node == 1 {
                self.each_row(table, |held, id, place| held.load(name, id, place));
            }
            self.nodes[node].set_ready(name);
        }
    }

    fn each_row(&mut self, table: usize, mut told_of: impl FnMut(&mut Node, KeyId, Option<u64>)) {
        for (partition, rows) in self.tables[table].iter().enumerate() {
            for (place, _) in rows.iter().enumerate().filter(|(_, row)| row.is_there) {
                told_of(&mut self.nodes[1], id_of(partition), told(table, place));
            }
        }
    }

    fn rows_of(&mut self, rows: Rows) -> &mut Partition {
        &mut self.tables[rows.table()][rows.partition()]
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Write(rows) => self.write(rows),
            Step::Stream(rows) => {
                for partition in rows.partition()..=rows.partition() + usize::from(rows.count % 8) {
                    let partition = u8::try_from(partition).expect("less than twice as many as there are");
                    self.write(Rows { partition, ..rows });
                }
            }
            Step::Look(rows) => {
                let may = self.nodes[1].may_reveal(self.now, TABLES[rows.table()], rows.id());
                let row = &mut self.rows_of(rows)[rows.places().0];
                row.is_acknowledged |= row.is_live && may;
            }
            Step::DeletePartition(rows) => {
                self.rows_of(rows).iter_mut().for_each(delete);
                self.nodes[1].bury(TABLES[rows.table()], rows.id(), PROVEN);
            }
            Step::DeleteRows(rows) => {
                let (first, last) = rows.places();
                self.rows_of(rows)[first..=last].iter_mut().for_each(delete);
                let (lo, hi) = (first as u64, last as u64);
                self.nodes[1].bury_rows(TABLES[rows.table()], rows.id(), lo, hi, PROVEN.time);
            }
            Step::ReadPartition(rows) => self.read(rows, None),
            Step::ReadRows(rows) => self.read(rows, (rows.table() == 1).then(|| rows.places())),
            Step::Flush => self.nodes[1].flush(self.now),
            Step::Wait(some) => self.now += u64::from(some) * 10,
            Step::Tick(node) => self.nodes[usize::from(node)].tick(self.now),
            Step::Deliver(which, again) => {
                if let Some(at) = self.place(which) {
                    let (to, frame) = if again { self.wire[at].clone() } else { self.wire.remove(at) };
                    self.nodes[to].receive(self.now, IDS[1 - to], &frame);
                }
            }
            Step::Batch(count) => {
                let count = usize::from(count).min(self.wire.len());
                for (to, frame) in self.wire.drain(..count) {
                    self.nodes[to].receive(self.now, IDS[1 - to], &frame);
                }
            }
            Step::Lose(which) => {
                if let Some(at) = self.place(which) {
                    self.wire.remove(at);
                }
            }
            Step::Settle => self.settle(),
            Step::BeginRebuild(table) => self.nodes[1].begin_rebuild(TABLES[usize::from(table)], 60, 0.02),
            Step::FinishRebuild(table) => {
                let name = TABLES[usize::from(table)];
                self.each_row(usize::from(table), |held, id, place| held.rebuild_key(name, id, place));
                self.nodes[1].finish_rebuild(name);
            }
            Step::Truncate(table) => {
                self.tables[usize::from(table)].fill([Row::default(); PLACES]);
                let buckets = table.then(|| Buckets::new(2, 1, 3).expect("levels that fit"));
                self.nodes[1].create_table(TABLES[usize::from(table)], 60, 0.02, buckets);
                self.nodes[1].set_ready(TABLES[usize::from(table)]);
            }
            Step::Restart(node) => {
                self.lives += 1;
                let node = usize::from(node);
                self.nodes[node] = Node::new(IDS[node], self.config, self.lives, self.now);
                if node == 1 {
                    // What waited is never acknowledged, though it is there.
                    self.waiting.clear();
                }
                self.begin(node);
            }
            Step::MoveRing(node) => {
                let node = usize::from(node);
                self.rings[node] += 1;
                self.nodes[node].set_ring(self.rings[node], IDS);
            }
        }
    }

    fn write(&mut self, rows: Rows) {
        let place = rows.places().0;
        let barrier = self.nodes[1].write(TABLES[rows.table()], rows.id(), told(rows.table(), place));
        let row = &mut self.rows_of(rows)[place];
        (row.is_there, row.is_live, row.waits_for) = (true, true, Some(barrier));
        self.waiting.push((rows.table(), rows.partition(), place));
    }

    fn settle(&mut self) {
        for _ in 0..4 {
            self.nodes.iter_mut().for_each(|node| node.tick(self.now));
            self.carry();
            for (to, frame) in std::mem::take(&mut self.wire) {
                self.nodes[to].receive(self.now, IDS[1 - to], &frame);
            }
        }
    }

    fn read(&mut self, rows: Rows, slice: Option<(usize, usize)>) {
        let told_slice = slice.map(|(first, last)| (first as u64, last as u64));
        let asked = Asked { partition: rows.id(), slice: told_slice, replicas: &IDS[1..] };
        let question = Question {
            table: TABLES[rows.table()],
            plan: Plan::Partitions,
            consistency: Consistency::One,
            is_first_page: true,
            is_available: true,
            keys: &[asked],
        };
        let decision = self.nodes[0].decide(self.now, &question);
        let (first, last) = slice.unwrap_or((0, PLACES - 1));
        let is_seen = self.rows_of(rows)[first..=last].iter().any(|row| row.is_acknowledged);
        assert!(decision != Decision::Empty || !is_seen, "a row of {rows:?} was acknowledged, and is denied");
    }

    fn place(&self, which: u8) -> Option<usize> {
        (!self.wire.is_empty()).then(|| usize::from(which) % self.wire.len())
    }

    /// Takes what the nodes say, and the acknowledgements that may leave now.
    fn carry(&mut self) {
        for (from, node) in self.nodes.iter_mut().enumerate() {
            self.wire.extend(node.take_outbox().into_iter().map(|(_, frame)| (1 - from, frame)));
        }
        self.waiting.retain(|&(table, partition, place)| {
            let row = &mut self.tables[table][partition][place];
            let may_leave =
                row.waits_for.is_some_and(|barrier| self.nodes[1].may_acknowledge(self.now, barrier));
            if may_leave {
                (row.waits_for, row.is_acknowledged) = (None, true);
            }
            row.waits_for.is_some()
        });
    }
}

/// Files may hold it still.
fn delete(row: &mut Row) {
    *row = Row { is_there: row.is_there, ..Row::default() };
}
