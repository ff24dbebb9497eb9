//! Everything together, and who breaks it.

use std::collections::BTreeMap;

use lacuna_node_filters::{
    Asked, Config, Consistency, Decision, Message, Node, NodeId, Plan, Question, Quorum, Side,
};
use lacuna_workload::Rng;

use super::history::{History, Operation, quorum_of};
use super::network::{Change, Letter, Network, Post};
use super::replica::{BUCKET, Names, ROWS, Replica, TABLE, id_of};
use super::ring::Rings;

pub(super) const NODES: usize = 4;
/// Milliseconds between the ticks of a node.
const TICK: u64 = 20;
/// Keys that are never written.
const ABSENT: u64 = 1 << 40;
/// Milliseconds of a stream: where slots may be open, clients write three times as many new keys in one of three such times.
const STREAM: u64 = 1_000;

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) faults: bool,
    /// The ring moves at one in this many calls of a client; 0 for never.
    pub(crate) moves: u64,
    /// Three owners a key, most of whom have to acknowledge a write, and have to be empty; otherwise two, one and both.
    pub(crate) quorum: bool,
    /// Keys are rows of a few partitions, and reads are of slices.
    pub(crate) rows: bool,
    /// Programs take several frames before they carry away what their nodes have to say.
    pub(crate) batches: bool,
}

/// What happened, to show that the run meant something.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads_of_absent: u64,
    pub(crate) skipped_of_absent: u64,
    pub(crate) skipped_of_deleted: u64,
    /// Slices that were skipped although a bucket at one of their ends held a row that was acknowledged.
    pub(crate) skipped_beside_rows: u64,
    /// Reads from an end of a partition; those that were narrowed, and those that had to be repeated.
    pub(crate) heads: u64,
    pub(crate) heads_narrowed: u64,
    pub(crate) heads_repeated: u64,
    /// Rows seen before their writes were acknowledged.
    pub(crate) seen_early: u64,
    pub(crate) acknowledged: u64,
    pub(crate) faults: BTreeMap<&'static str, u64>,
    pub(crate) longest_hold: u64,
    /// Frames between nodes: with a delta, with a confirmation alone, and with one on another frame.
    pub(crate) deltas: u64,
    pub(crate) confirmations: u64,
    pub(crate) carried: u64,
    /// Reads that were empty after an acknowledged write, and the longest time after it.
    pub(crate) wrong: u64,
    pub(crate) longest_window: u64,
}

impl Counts {
    fn note_frame(&mut self, frame: &[u8]) {
        let message = Message::from_bytes(frame).unwrap();
        self.confirmations += u64::from(matches!(message, Message::Applied(_)));
        let message = match message {
            Message::AppliedAnd { frame, .. } => {
                self.carried += 1;
                Message::from_bytes(&frame).unwrap()
            }
            alone => alone,
        };
        self.deltas += u64::from(matches!(message, Message::Delta { .. }));
    }
}

#[derive(Debug)]
pub(crate) struct World {
    pub(super) setup: Setup,
    pub(super) now: u64,
    pub(super) rng: Rng,
    network: Network,
    pub(super) replicas: Vec<Replica>,
    pub(super) rings: Rings,
    history: History,
    recent: Vec<u64>,
    next_key: u64,
    pub(crate) counts: Counts,
}

impl World {
    pub(crate) fn new(setup: Setup, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut replicas: Vec<Replica> = (0..NODES)
            .map(|at| Replica::new(at, setup.config, Names { are_rows: setup.rows }, rng.below(5)))
            .collect();
        let mut network = Network::default();
        for (at, replica) in replicas.iter_mut().enumerate() {
            replica.begin_table(NODES);
            replica.node.set_ready(TABLE);
            network.send_at(1 + at as u64, at, at, Letter::Alarm);
        }
        network.trouble = if setup.faults { 12 } else { 0 };
        // While owners change, or if most must be empty, a row of one owner may be missing elsewhere in stock too.
        let history = History::new(setup.quorum, !setup.quorum && setup.moves == 0);
        let (rings, counts) = (Rings::new(NODES, if setup.quorum { 3 } else { 2 }), Counts::default());
        Self {
            setup,
            now: 0,
            rng,
            network,
            replicas,
            rings,
            history,
            recent: Vec::new(),
            next_key: 0,
            counts,
        }
    }

    /// Runs for `milliseconds`; in safe mode the first lie ends it.
    pub(crate) fn run(&mut self, milliseconds: u64) -> Result<(), String> {
        let end = self.now + milliseconds;
        let mut next_client = self.now;
        while self.now < end {
            if self.now >= next_client {
                next_client = self.now + self.rng.below(6);
                self.client();
                if self.setup.faults && self.rng.below(250) == 0 {
                    self.break_something();
                }
                if self.setup.moves > 0 && self.rng.below(self.setup.moves) == 0 {
                    self.move_ring();
                }
            }
            let (time, post) = self.network.next();
            self.now = self.now.max(time);
            self.deliver(post)?;
        }
        Ok(())
    }

    /// By the lives of nodes that run now.
    pub(crate) fn copies_regained(&self) -> u64 {
        self.replicas.iter().map(|replica| replica.node.counters().copies_regained).sum()
    }

    /// The same: slots that were opened, and writes of something new into open slots.
    pub(crate) fn streamed(&self) -> [u64; 2] {
        let sum =
            |of: fn(&Node) -> u64| -> u64 { self.replicas.iter().map(|replica| of(&replica.node)).sum() };
        [sum(Node::slots_opened), sum(Node::writes_streamed)]
    }

    fn is_streaming(&self) -> bool {
        self.setup.config.slot_writes > 0 && (self.now / STREAM).is_multiple_of(3)
    }

    pub(super) fn names(&self) -> Names {
        Names { are_rows: self.setup.rows }
    }

    /// A client begins a write, a deletion or a read, somewhere.
    fn client(&mut self) {
        let coordinator = self.rng.index(NODES);
        if self.setup.rows {
            return self.client_of_rows(coordinator);
        }
        let choice = self.rng.below(10);
        if choice >= 4 || self.recent.is_empty() && choice > 2 {
            let key = if choice < 8 { self.some_key() } else { ABSENT + self.rng.below(1_000) };
            let letter = Letter::Read { first: key, last: key, began: self.now };
            return self.network.send_at(self.now + 1, coordinator, coordinator, letter);
        }
        let change = if choice == 3 { Change::Delete } else { Change::Write };
        let is_new = choice == 0 || choice < 3 && self.is_streaming();
        let key = if is_new { self.new_key() } else { self.some_key() };
        self.change(coordinator, key, change);
    }

    /// As many rows are deleted as are written, so that there are gaps; in some partitions rows are rare.
    fn client_of_rows(&mut self, coordinator: usize) {
        let partition = self.rng.below(4);
        let step = [1, 5, 11, 23][usize::try_from(partition).unwrap()];
        let place = self.rng.below(ROWS);
        let key = |place: u64| partition * ROWS + place;
        match self.rng.below(10) {
            0 | 1 => self.change(coordinator, key(place / step * step), Change::Write),
            2 | 3 => self.change(coordinator, key(place / step * step), Change::Delete),
            4 => {
                let side = if place.is_multiple_of(2) { Side::Start } else { Side::End };
                let letter = Letter::ReadHead { first: key(0), side, began: self.now };
                self.network.send_at(self.now + 1, coordinator, coordinator, letter);
            }
            _ => {
                let last = (place + self.rng.below(20)).min(ROWS - 1);
                let letter = Letter::Read { first: key(place), last: key(last), began: self.now };
                self.network.send_at(self.now + 1, coordinator, coordinator, letter);
            }
        }
    }

    fn change(&mut self, coordinator: usize, key: u64, change: Change) {
        // Clients bring their own times, which may be older than those of the data.
        let time = self.now + 1_000 - self.rng.below(900);
        let (needed, acknowledged_by, acknowledged_at) = (Default::default(), Vec::new(), None);
        let operation = Operation { key, change, time, needed, acknowledged_by, acknowledged_at };
        let operation = self.history.begin(operation);
        self.network.send_at(self.now + 1, coordinator, coordinator, Letter::Begin { operation });
    }

    fn new_key(&mut self) -> u64 {
        self.next_key += 1;
        self.recent.push(self.next_key);
        if self.recent.len() > 12 {
            self.recent.remove(0);
        }
        self.next_key
    }

    /// One of the newest keys, or any.
    fn some_key(&mut self) -> u64 {
        match self.recent.len() {
            0 => self.new_key(),
            len if self.rng.below(2) == 0 => self.recent[self.rng.index(len)],
            _ => self.rng.between(1, self.next_key),
        }
    }

    fn deliver(&mut self, post: Post) -> Result<(), String> {
        let to = post.to;
        let replica = &mut self.replicas[to];
        if replica.down_until > self.now {
            if matches!(post.letter, Letter::Alarm) {
                self.network.send_at(replica.down_until, to, to, Letter::Alarm);
            }
            return Ok(());
        }
        if replica.paused_until > self.now {
            let Post { from, to, letter } = post;
            if replica.is_asleep && !matches!(letter, Letter::Alarm | Letter::Work) {
                return Ok(());
            }
            self.network.send_at(replica.paused_until, from, to, letter);
            return Ok(());
        }
        if replica.down_until > 0 {
            replica.down_until = 0;
            replica.ring = self.rings.version;
            // A life has a name of its own, and grants leases of its own length.
            let config = self.setup.config;
            let lease = self.rng.between(config.max_lease / 3, config.max_lease);
            replica.start(to, Config { lease, ..config }, self.rng.next_u64(), self.now, NODES);
        }
        let is_alarm = matches!(post.letter, Letter::Alarm);
        self.handle(post)?;
        // Without a number of the rest's.
        if !self.setup.batches || is_alarm || self.now.is_multiple_of(3) {
            self.carry(to);
        }
        Ok(())
    }

    fn handle(&mut self, Post { from, to, letter }: Post) -> Result<(), String> {
        let clock = self.replicas[to].clock(self.now);
        match letter {
            Letter::Alarm => {
                self.replicas[to].node.tick(clock);
                self.network.send_at(self.now + TICK, to, to, Letter::Alarm);
            }
            Letter::Frame(bytes) => {
                let replica = &mut self.replicas[to];
                replica.node.receive_quickly(clock, id_of(from), &bytes);
                if !std::mem::replace(&mut replica.is_working, true) {
                    self.network.send_at(self.now + self.rng.below(6), to, to, Letter::Work);
                }
            }
            Letter::Work => {
                if self.replicas[to].work(clock) {
                    self.network.send_at(self.now + self.rng.below(4), to, to, Letter::Work);
                }
            }
            Letter::Begin { operation } => self.begin(to, clock, operation),
            Letter::Apply { operation, key, change, time, ring } => {
                let replica = &mut self.replicas[to];
                // A coordinator with an old ring is refused, and its client gets no answer.
                if ring >= replica.ring {
                    let barrier = replica.apply(key, change, time);
                    replica.held.push((operation, from, barrier, self.now));
                    replica.node.flush(clock);
                }
            }
            Letter::Acknowledge { operation } => {
                self.history.acknowledge(self.now, operation, from);
                self.counts.acknowledged += 1;
            }
            Letter::Look { first, last } => {
                for key in first..=last {
                    self.replicas[to].learn_deletion(key, None);
                    self.replicas[to].look(key);
                }
            }
            Letter::Prove { first, last } => {
                self.replicas[to].prove(first, last);
                self.network.send_at(self.now + self.rng.below(10), to, to, Letter::Conclude);
            }
            Letter::Conclude => self.replicas[to].conclude(),
            Letter::Read { first, last, began } => return self.read(to, clock, (first, last), began),
            Letter::ProveEnd { first, side } => {
                self.replicas[to].prove_end(first, side);
                self.network.send_at(self.now + self.rng.below(10), to, to, Letter::Conclude);
            }
            Letter::ReadHead { first, side, began } => {
                return self.read_head(to, clock, (first, side), began);
            }
            Letter::LookBeyond { head, from } => self.look_beyond(to, head, from),
            Letter::Head { head } => return self.take_head(to, clock, head),
        }
        Ok(())
    }

    fn begin(&mut self, to: usize, clock: u64, operation: u64) {
        let (ring, names) = (self.replicas[to].ring, self.names());
        let (key, change, time) = {
            let operation = self.history.operations.get_mut(&operation).unwrap();
            let partition = names.partition(operation.key);
            operation.needed = self.rings.writers(ring, partition).map(<[usize]>::to_vec);
            (operation.key, operation.change, operation.time)
        };
        let mut owners = self.rings.writers(ring, names.partition(key)).concat();
        owners.sort_unstable();
        owners.dedup();
        let ids: Vec<NodeId> = owners.iter().copied().map(id_of).collect();
        if change == Change::Write {
            self.replicas[to].node.forwarded(clock, TABLE, names.id(key), names.place(key), &ids);
        }
        for owner in owners {
            // Now and then a replica misses a write and gets it by other ways, much later: every one counts.
            if self.setup.faults && self.rng.below(3) == 0 {
                continue;
            }
            let letter = Letter::Apply { operation, key, change, time, ring };
            self.network.send(self.now, &mut self.rng, to, owner, letter);
        }
    }

    /// A read of one key, or of the rows from one to another.
    fn read(&mut self, to: usize, clock: u64, (first, last): (u64, u64), began: u64) -> Result<(), String> {
        let (ring, names) = (self.replicas[to].ring, self.names());
        let owners = self.rings.readers(ring, names.partition(first)).to_vec();
        let replicas: Vec<NodeId> = owners.iter().copied().map(id_of).collect();
        let slice = names.place(first).zip(names.place(last));
        let asked = Asked { partition: names.id(first), slice, replicas: &replicas };
        let question = Question {
            table: TABLE,
            plan: Plan::Partitions,
            consistency: Consistency::One,
            is_first_page: true,
            is_available: true,
            keys: &[asked],
        };
        let node = &mut self.replicas[to].node;
        let decision = if self.setup.quorum {
            let quorum = Quorum { replicas: &replicas, needed: quorum_of(&owners) };
            node.decide_by_quorum(clock, &question, &[&[quorum]])
        } else {
            node.decide(clock, &question)
        };
        let is_absent = (first..=last).all(|key| self.history.is_untouched(key));
        self.counts.reads_of_absent += u64::from(is_absent);
        if decision != Decision::Empty {
            self.forward(to, &owners, first, last);
            return Ok(());
        }
        self.counts.skipped_of_absent += u64::from(is_absent);
        self.counts.skipped_of_deleted += u64::from(!is_absent);
        self.counts.skipped_beside_rows += u64::from(names.are_rows && self.is_beside_rows(first, last));
        let Some(acknowledged_at) = (first..=last).find_map(|key| self.history.denied(key, began)) else {
            return Ok(());
        };
        self.counts.wrong += 1;
        self.counts.longest_window = self.counts.longest_window.max(self.now - acknowledged_at);
        Err(format!(
            "node {to} called keys {first} to {last} empty at {}, in a read that began at {began}; a write was \
             acknowledged at {acknowledged_at}, their owners are {owners:?}",
            self.now
        ))
    }

    pub(super) fn post(&mut self, from: usize, to: usize, letter: Letter) {
        self.network.send(self.now, &mut self.rng, from, to, letter);
    }

    /// When a write of the key was acknowledged that may not be missing from a read that began then.
    pub(super) fn denied(&self, key: u64, began: u64) -> Option<u64> {
        self.history.denied(key, began)
    }

    fn forward(&mut self, from: usize, owners: &[usize], first: u64, last: u64) {
        let owner = owners[self.rng.index(owners.len())];
        self.network.send(self.now, &mut self.rng, from, owner, Letter::Look { first, last });
        if self.setup.rows {
            for owner in owners {
                self.network.send(self.now, &mut self.rng, from, *owner, Letter::Prove { first, last });
            }
        }
    }

    /// Whether the bucket of the first row, or of the last one, holds a row outside of the slice that was acknowledged.
    fn is_beside_rows(&self, first: u64, last: u64) -> bool {
        let mut beside = (first / BUCKET * BUCKET..first).chain(last + 1..(last / BUCKET + 1) * BUCKET);
        beside.any(|key| self.history.denied(key, u64::MAX).is_some())
    }

    /// Carries away what a node has to say, and the acknowledgements that are free now.
    fn carry(&mut self, from: usize) {
        // As often as not, without a number of the rest's.
        let may_lower = self.now.is_multiple_of(2);
        let replica = &mut self.replicas[from];
        let clock = replica.clock(self.now);
        replica.update_flag(clock, may_lower);
        for (to, bytes) in replica.node.take_outbox() {
            let to = usize::try_from(to.0 - 1).unwrap();
            self.counts.note_frame(&bytes);
            self.network.send(self.now, &mut self.rng, from, to, Letter::Frame(bytes));
        }
        let has_news = replica.has_news();
        let (free, held): (Vec<_>, Vec<_>) = replica
            .held
            .drain(..)
            .partition(|(_, _, barrier, _)| !has_news || replica.node.may_acknowledge(clock, *barrier));
        replica.held = held;
        for (key, written) in replica.free_looks(clock) {
            let is_first = self.history.reveal(self.now, key, written);
            self.counts.seen_early += u64::from(is_first && self.setup.moves == 0);
        }
        self.carry_heads(from);
        for (operation, coordinator, _, since) in free {
            self.counts.longest_hold = self.counts.longest_hold.max(self.now - since);
            self.network.send(self.now, &mut self.rng, from, coordinator, Letter::Acknowledge { operation });
        }
    }
}
