//! One node: events in, messages out, time and numbers as arguments.
//!
//! The store calls [`write`](Node::write) before a change becomes visible, and sends an acknowledgement only once
//! [`may_acknowledge`](Node::may_acknowledge) allows it; it calls [`decide`](Node::decide) before it asks replicas. Whoever
//! runs the node calls [`tick`](Node::tick) some ten times per interval, [`flush`](Node::flush) right after a batch of
//! writes, hands in what comes from others and carries away the [`outbox`](Node::take_outbox).

use std::collections::{BTreeMap, BTreeSet};

use lacuna_core::hash::hash_bytes;

use crate::buckets::Buckets;
use crate::config::{Config, Flaw, Mode};
use crate::counters::Counters;
use crate::key_id::{KeyId, NodeId, TableId};
use crate::message::{Message, Version};
use crate::peer::Peer;
use crate::presence::{Deletion, NodeFilter, Presence};
use crate::publisher::Publisher;
use crate::question::Decision;
use crate::wire::Writer;

/// The number of the delta that an acknowledgement has to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Barrier(u64);

/// A node's filters, its copies of others' filters, and the exchange between them.
#[derive(Debug)]
pub struct Node {
    id: NodeId,
    config: Config,
    ring: u64,
    is_on: bool,
    publisher: Publisher,
    peers: BTreeMap<NodeId, Peer>,
    /// Who asked for filters, and when.
    readers: BTreeMap<NodeId, u64>,
    next_request: u64,
    next_flush: u64,
    outbox: Vec<(NodeId, Vec<u8>)>,
    counters: Counters,
}

impl Node {
    /// A node that starts at `now`; `incarnation` differs from that of every earlier life.
    pub fn new(id: NodeId, config: Config, incarnation: u64, now: u64) -> Self {
        // Leases of an earlier life may hold until now and one length more.
        let is_barred = config.mode == Mode::Safe && !config.has(Flaw::AcknowledgeAfterBoot);
        let boot_until = if is_barred { now + config.lease } else { now };
        Self {
            id,
            config,
            ring: 0,
            is_on: true,
            publisher: Publisher::new(incarnation, boot_until),
            peers: BTreeMap::new(),
            readers: BTreeMap::new(),
            next_request: now,
            next_flush: now,
            outbox: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Learns of a ring: its version and all other nodes in it. A change voids all leases held.
    pub fn set_ring(&mut self, version: u64, others: impl IntoIterator<Item = NodeId>) {
        let others: BTreeSet<NodeId> = others.into_iter().filter(|other| *other != self.id).collect();
        self.peers.retain(|peer, _| others.contains(peer));
        for other in others {
            self.peers.entry(other).or_default();
        }
        if version != self.ring && !self.config.has(Flaw::IgnoreRing) {
            self.peers.values_mut().for_each(Peer::void);
        }
        self.ring = version;
    }

    /// Switches answers on or off; the exchange goes on.
    pub fn switch(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// Begins a filter for a table, or empties the one there is (truncation): until [`set_ready`](Self::set_ready) peers
    /// do not see it. Writes may come at once; what is in files is added by [`load`](Self::load).
    pub fn create_table(&mut self, table: TableId, capacity: u64, rate: f64, buckets: Option<Buckets>) {
        self.publisher.create(table, NodeFilter::new(capacity, rate), buckets);
    }

    /// Forgets a table.
    pub fn drop_table(&mut self, table: TableId) {
        self.publisher.drop_table(table);
    }

    /// Adds a key that is in a file.
    pub fn load(&mut self, table: TableId, partition: KeyId, place: Option<u64>) {
        self.publisher.write(&self.config, table, partition, place);
    }

    /// Shows the filter to peers: everything that the node holds has been loaded or written.
    pub fn set_ready(&mut self, table: TableId) {
        if let Some(own) = self.publisher.tables.get_mut(&table) {
            own.is_ready = true;
        }
    }

    /// Notes a change before it becomes visible: of a whole partition, or of a row at `place`. Its acknowledgement has to
    /// wait for the barrier.
    pub fn write(&mut self, table: TableId, partition: KeyId, place: Option<u64>) -> Barrier {
        self.publisher.write(&self.config, table, partition, place);
        self.barrier()
    }

    /// Where an acknowledgement sent now has to wait.
    pub fn barrier(&self) -> Barrier {
        match self.config.has(Flaw::PublishLate) {
            true => Barrier(self.publisher.version().sequence),
            false => Barrier(self.publisher.barrier()),
        }
    }

    /// Whether an acknowledgement may leave this node.
    pub fn may_acknowledge(&self, now: u64, barrier: Barrier) -> bool {
        self.config.mode != Mode::Safe || self.publisher.may_acknowledge(&self.config, now, barrier.0)
    }

    /// Enters a deleted partition if the deletion is a proof; `true` if it was.
    pub fn bury(&mut self, table: TableId, partition: KeyId, deletion: Deletion) -> bool {
        self.bury_id(table, partition, deletion)
    }

    /// Enters a bucket of rows that a deletion covers whole.
    pub fn bury_bucket(
        &mut self,
        table: TableId,
        partition: KeyId,
        (level, number): (u32, u64),
        deletion: Deletion,
    ) -> bool {
        self.bury_id(table, partition.bucket(level, number), deletion)
    }

    fn bury_id(&mut self, table: TableId, id: KeyId, deletion: Deletion) -> bool {
        let deletion = match deletion {
            unproven if self.config.has(Flaw::BuryUnproven) => {
                Deletion { newest_in_files: None, newest_in_memory: None, ..unproven }
            }
            as_given => as_given,
        };
        let Some(own) = self.publisher.tables.get_mut(&table) else { return false };
        let is_new = own.filter.bury(id, deletion);
        if is_new {
            self.publisher.bury(table, id, deletion.time);
        }
        deletion.is_proof()
    }

    /// Begins to build a table's filter anew, for `capacity` keys; the old one serves until
    /// [`finish_rebuild`](Self::finish_rebuild).
    pub fn begin_rebuild(&mut self, table: TableId, capacity: u64, rate: f64) {
        self.publisher.begin_rebuild(table, NodeFilter::new(capacity, rate));
    }

    /// Adds a key of the files to the filter that is being rebuilt.
    pub fn rebuild_key(&mut self, table: TableId, partition: KeyId, place: Option<u64>) {
        let buckets = self.buckets(table);
        let Some(next) = self.publisher.rebuilt(table) else { return };
        next.write(partition);
        if let (Some(buckets), Some(place)) = (buckets, place) {
            for (level, number) in buckets.of_row(place) {
                next.write(partition.bucket(level, number));
            }
        }
    }

    /// Puts the new filter in place of the old one.
    pub fn finish_rebuild(&mut self, table: TableId) {
        self.publisher.finish_rebuild(&self.config, table);
    }

    /// Notes that this node sends a write to `replicas`: it sees its own writes in their filters at once.
    pub fn forwarded(
        &mut self,
        now: u64,
        table: TableId,
        partition: KeyId,
        place: Option<u64>,
        replicas: &[NodeId],
    ) {
        let mut ids = vec![partition];
        if let (Some(buckets), Some(place)) = (self.buckets(table), place) {
            ids.extend(buckets.of_row(place).map(|(level, number)| partition.bucket(level, number)));
        }
        for replica in replicas {
            if let Some(peer) = self.peers.get_mut(replica) {
                peer.forwarded(now, table, &ids);
            }
        }
    }

    /// Learns what a forwarded read found.
    pub fn found(&mut self, decision: Decision, found_rows: bool) {
        self.counters.found(decision, found_rows);
    }

    /// Sends what has changed to all readers: at once in safe mode, on the interval otherwise.
    pub fn flush(&mut self, now: u64) {
        if self.config.mode == Mode::Eventual && now < self.next_flush || self.config.has(Flaw::PublishLate) {
            return;
        }
        self.flush_now(now);
    }

    fn flush_now(&mut self, now: u64) {
        self.next_flush = now + self.config.interval_for(self.publisher.key_count());
        let Some(delta) = self.publisher.flush(&self.config, now) else { return };
        let readers: Vec<NodeId> = self.readers.keys().copied().collect();
        readers.into_iter().for_each(|reader| self.send_bytes(reader, delta.clone()));
    }

    /// Does what is due: requests to all peers, deltas to all readers.
    pub fn tick(&mut self, now: u64) {
        let interval = self.request_interval();
        let patience = 10 * interval.max(self.config.interval);
        self.readers.retain(|_, asked_at| *asked_at + patience > now);
        if now >= self.next_request {
            self.next_request = now + interval;
            let wants_lease = self.config.mode != Mode::Eventual;
            let ring = self.ring;
            let requests: Vec<_> =
                self.peers.iter_mut().map(|(id, peer)| (*id, peer.request(now, ring, wants_lease))).collect();
            requests.into_iter().for_each(|(id, request)| self.send(id, &request));
            let oldest = now.saturating_sub(self.config.most_age(0));
            self.peers.values_mut().for_each(|peer| peer.forget_forwarded(oldest));
        }
        if now >= self.next_flush {
            self.flush_now(now);
        } else {
            self.flush(now);
        }
    }

    /// Time between requests: a third of a lease, or the interval of the exchange.
    fn request_interval(&self) -> u64 {
        match self.config.mode {
            Mode::Safe | Mode::Shadow => self.config.lease / 3,
            Mode::Eventual => self.config.interval_for(self.publisher.key_count()),
        }
    }

    /// Takes a message. A damaged or newer one counts as lost.
    pub fn receive(&mut self, now: u64, from: NodeId, frame: &[u8]) {
        match Message::from_bytes(frame) {
            Ok(message) => self.take(now, from, frame, message),
            Err(_) => self.counters.malformed_messages += 1,
        }
    }

    fn take(&mut self, now: u64, from: NodeId, frame: &[u8], message: Message) {
        match message {
            Message::Request { number, applied, ring, wants_lease } => {
                self.answer_request(now, from, (number, applied, ring, wants_lease));
            }
            Message::Applied(applied) => self.publisher.acknowledged(from, applied),
            Message::Missing(applied) => {
                let deltas = self.publisher.deltas_behind(applied);
                deltas.into_iter().for_each(|delta| self.send_bytes(from, delta));
            }
            Message::AskCatalog => {
                let incarnation = self.publisher.version().incarnation;
                self.send(from, &Message::Catalog { incarnation, tables: self.publisher.catalog() });
            }
            Message::AskChunk { table, sequence, index } => {
                if let Some(chunk) = self.publisher.chunk(table, sequence, index) {
                    self.send(from, &chunk);
                }
            }
            of_peer => self.take_from_peer(now, from, frame, of_peer),
        }
    }

    fn take_from_peer(&mut self, now: u64, from: NodeId, frame: &[u8], message: Message) {
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let next = match message {
            Message::Grant { .. } => peer.granted(&self.config, now, &message),
            Message::Delta { .. } => peer.delta(&self.config, now, frame, message),
            Message::Gap(version) => {
                peer.begin_again(version);
                vec![Message::AskCatalog]
            }
            Message::Catalog { incarnation, tables } if incarnation == peer.applied.incarnation => {
                peer.catalog(now, catalog_hash(&tables), &tables)
            }
            Message::Chunk { .. } => peer.chunk(&self.config, now, message),
            _ => Vec::new(),
        };
        next.iter().for_each(|message| self.send(from, message));
        self.keep_within_memory();
    }

    /// A request makes its sender a reader, and in safe mode a lease holder if both see the same ring.
    fn answer_request(&mut self, now: u64, from: NodeId, request: (u64, Version, u64, bool)) {
        let (number, applied, ring, wants_lease) = request;
        self.readers.insert(from, now);
        self.publisher.acknowledged(from, applied);
        if wants_lease {
            // The grant's version then covers all that is in the filters, streamed keys too.
            self.flush_now(now);
        }
        let may_rely = wants_lease && (ring == self.ring || self.config.has(Flaw::IgnoreRing));
        let length = if may_rely { self.publisher.grant(&self.config, now, from) } else { 0 };
        let catalog = catalog_hash(&self.publisher.catalog());
        let (version, ring) = (self.publisher.version(), self.ring);
        self.send(from, &Message::Grant { number, version, ring, length, catalog });
    }

    /// Shortens, then forgets, copies that take too much.
    fn keep_within_memory(&mut self) {
        let copies = || self.peers.values().flat_map(|peer| peer.copies.values());
        let total: usize = copies().map(|copy| copy.filter.memory_bytes()).sum();
        if total <= self.config.most_copy_bytes {
            return;
        }
        let share = |bytes: usize| bytes as f64 / total as f64 * self.config.most_copy_bytes as f64;
        for copy in self.peers.values_mut().flat_map(|peer| peer.copies.values_mut()) {
            #[expect(clippy::cast_possible_truncation, reason = "at most the bytes that may be taken")]
            let most_bytes = share(copy.filter.memory_bytes()) as usize;
            copy.filter.shrink_to(most_bytes);
        }
    }

    /// The messages to send, in order.
    pub fn take_outbox(&mut self) -> Vec<(NodeId, Vec<u8>)> {
        std::mem::take(&mut self.outbox)
    }

    /// What this node itself says about a key.
    pub fn own_presence(&self, table: TableId, id: KeyId) -> Presence {
        let own = self.publisher.tables.get(&table).filter(|own| own.is_ready);
        own.map_or(Presence::Unknown, |own| own.filter.presence(id))
    }

    /// This node's own filter of a table.
    pub fn own_filter(&self, table: TableId) -> Option<&NodeFilter> {
        self.publisher.tables.get(&table).map(|own| &own.filter)
    }

    /// The copy of a peer's filter of a table.
    pub fn copy_of(&self, peer: NodeId, table: TableId) -> Option<&NodeFilter> {
        self.peers.get(&peer)?.copies.get(&table).map(|copy| &copy.filter)
    }

    /// What was decided so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// The node's name.
    pub fn id(&self) -> NodeId {
        self.id
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn ring(&self) -> u64 {
        self.ring
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(crate) fn peer(&self, id: NodeId) -> Option<&Peer> {
        self.peers.get(&id)
    }

    pub(crate) fn buckets(&self, table: TableId) -> Option<Buckets> {
        self.publisher.tables.get(&table).and_then(|own| own.buckets)
    }

    fn send(&mut self, to: NodeId, message: &Message) {
        self.send_bytes(to, message.to_bytes());
    }

    fn send_bytes(&mut self, to: NodeId, bytes: Vec<u8>) {
        self.counters.sent_bytes += bytes.len() as u64;
        self.outbox.push((to, bytes));
    }
}

/// Tells one list of tables from another.
fn catalog_hash(tables: &[(TableId, u64)]) -> u64 {
    let mut writer = Writer::default();
    for (table, generation) in tables {
        writer.wide(table.0);
        writer.word(*generation);
    }
    hash_bytes(&writer.into_bytes(), 0)
}
