//! One node: events in, messages out, time and numbers as arguments.
//!
//! The store calls [`write`](Node::write) before a change becomes visible, and sends an acknowledgement only once
//! [`may_acknowledge`](Node::may_acknowledge) allows it, what a read found once [`may_reveal`](Node::may_reveal) does; it
//! calls [`decide`](Node::decide) before it asks replicas. The program that runs the node calls [`tick`](Node::tick) some ten times per interval, [`flush`](Node::flush) right after a batch of
//! writes, hands in what comes from others and carries away the [`outbox`](Node::take_outbox).

mod confirmations;
mod exchange;
mod tables;
mod undone;

pub use undone::Undone;

use std::collections::{BTreeMap, BTreeSet};

use lacuna_base::hash::IntegerHasher;

use crate::buckets::Buckets;
use crate::config::{Config, Mode};
use crate::counters::{Counters, Decisions};
use crate::fetch::FetchedBytes;
use crate::key_id::{KeyId, NodeId, TableId};
use crate::message::Version;
use crate::peer::Peer;
use crate::presence::{NodeFilter, Presence};
use crate::publisher::{Own, Publisher};
use crate::question::Decision;
use crate::slots::Slots;

/// The number of the delta that an acknowledgement has to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Barrier(u64);

impl Barrier {
    /// The delta's number: of two barriers, who has passed the higher one has passed both.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The nodes whose filters of a table are wanted; all nodes for a table that is not listed.
type Wanted = BTreeMap<TableId, BTreeSet<NodeId>>;

fn is_wanted(wanted: &Wanted, table: TableId, from: NodeId) -> bool {
    wanted.get(&table).is_none_or(|nodes| nodes.contains(&from))
}

/// A node's filters, its copies of others' filters, and the exchange between them.
#[derive(Debug)]
pub struct Node {
    id: NodeId,
    config: Config,
    ring: u64,
    is_on: bool,
    publisher: Publisher,
    peers: BTreeMap<NodeId, Peer>,
    wanted: Wanted,
    /// Who asked for filters, and when.
    readers: BTreeMap<NodeId, u64>,
    /// Number of the last request, of all peers: no grant for an earlier life, or for a peer that was gone, may count as one
    /// for another request.
    last_number: u64,
    next_request: u64,
    next_flush: u64,
    /// When a copy that was shortened or given up may be fetched again.
    next_regain: u64,
    outbox: Vec<(NodeId, Vec<u8>)>,
    /// The last deltas of peers that were applied here, and that these do not know yet.
    unconfirmed: BTreeMap<NodeId, Version>,
    /// Filters of peers that have come and were not read.
    fetched: Vec<(NodeId, FetchedBytes)>,
    counters: Counters,
    decisions: Decisions,
}

impl Node {
    /// A node that starts at `now`; `incarnation` differs from that of every earlier life.
    pub fn new(id: NodeId, config: Config, incarnation: u64, now: u64) -> Self {
        // Leases of an earlier life may hold until now and one length more.
        let is_barred = config.mode == Mode::Safe && !is_flawed!(config, AcknowledgeAfterBoot);
        let boot_until = if is_barred { now + config.max_lease } else { now };
        Self {
            id,
            config,
            ring: 0,
            is_on: true,
            publisher: Publisher::new(incarnation, boot_until),
            peers: BTreeMap::new(),
            wanted: Wanted::new(),
            readers: BTreeMap::new(),
            last_number: first_number(incarnation),
            next_request: now,
            next_flush: now,
            next_regain: now,
            outbox: Vec::new(),
            unconfirmed: BTreeMap::new(),
            fetched: Vec::new(),
            counters: Counters::default(),
            decisions: Decisions::default(),
        }
    }

    /// Learns of a ring: its version and all other nodes in it. A change voids all leases held.
    pub fn set_ring(&mut self, version: u64, others: impl IntoIterator<Item = NodeId>) {
        let others: BTreeSet<NodeId> = others.into_iter().filter(|other| *other != self.id).collect();
        self.peers.retain(|peer, _| others.contains(peer));
        for other in others {
            self.peers.entry(other).or_default();
        }
        if version != self.ring && !is_flawed!(self.config, IgnoreRing) {
            self.peers.values_mut().for_each(Peer::void);
        }
        self.ring = version;
    }

    /// The nodes whose filters of a table this node can use; by default all. Other filters are not fetched, and a node that has no
    /// wanted filter is asked for nothing, so its acknowledgements do not wait for this node.
    pub fn want(&mut self, table: TableId, from: impl IntoIterator<Item = NodeId>) {
        let from: BTreeSet<NodeId> = from.into_iter().collect();
        for (id, peer) in &mut self.peers {
            if from.contains(id) {
                peer.look_again();
            } else {
                peer.leave_out(table);
            }
        }
        self.wanted.insert(table, from);
    }

    /// Whether any filter of a node is wanted; one without tables of its own may get some.
    fn wants_any(&self, from: NodeId) -> bool {
        let mut tables = self.publisher.tables.keys().chain(self.wanted.keys()).peekable();
        tables.peek().is_none() || tables.any(|table| is_wanted(&self.wanted, *table, from))
    }

    /// The peers that this node asks for leases and news: those of which it wants a filter.
    pub fn asked_peers(&self) -> impl Iterator<Item = NodeId> {
        self.peers.keys().copied().filter(|peer| self.wants_any(*peer))
    }

    /// Whether what is here of a peer's filters may be used now: there is a lease, or it is young enough in eventual mode.
    pub fn may_rely_on(&self, now: u64, peer: NodeId) -> bool {
        self.is_stale(now, peer).is_none()
    }

    /// How many nodes hold a lease on this node's filters.
    pub fn holder_count(&self, now: u64) -> usize {
        self.publisher.holder_count(now)
    }

    /// Switches answers on or off; the exchange goes on.
    pub fn switch(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// Learns what a forwarded read found.
    pub fn found(&mut self, decision: Decision, found_rows: bool) {
        self.counters.found(decision, found_rows);
    }

    /// The messages to send, in order. What was applied since the last call is confirmed in them, once for each peer: acknowledgements
    /// there may wait for it, so they are to be sent at once.
    pub fn take_outbox(&mut self) -> Vec<(NodeId, Vec<u8>)> {
        self.confirm();
        std::mem::take(&mut self.outbox)
    }

    /// Whether [`take_outbox`](Self::take_outbox) would give any.
    pub fn has_messages(&self) -> bool {
        !self.outbox.is_empty() || !self.unconfirmed.is_empty()
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

    /// The slots of a table into which keys stream: here, or at a peer as this node knows it. Filters say nothing of them to others.
    pub fn open_slots(&self, of: NodeId, table: TableId) -> Slots {
        if of == self.id {
            return self.publisher.tables.get(&table).map(Own::open_slots).unwrap_or_default();
        }
        self.peers.get(&of).map(|peer| peer.open_slots(table)).unwrap_or_default()
    }

    /// How many slots this node has opened.
    pub fn slots_opened(&self) -> u64 {
        self.publisher.slots_opened
    }

    /// How many writes have brought something new into open slots: they waited for the opening at most.
    pub fn writes_streamed(&self) -> u64 {
        self.publisher.writes_streamed
    }

    /// What is kept beside the filters: bytes of snapshots for peers, and keys of own writes to peers.
    pub fn kept(&self) -> (usize, usize) {
        let forwarded = self.peers.values().map(Peer::forwarded_count).sum();
        (self.publisher.snapshot_bytes(), forwarded)
    }

    /// Bytes of the filter that is being rebuilt; 0 if none is.
    pub fn kept_for_rebuild(&self, table: TableId) -> usize {
        self.publisher.tables.get(&table).map_or(0, Own::next_bytes)
    }

    /// What was decided so far.
    pub fn counters(&self) -> Counters {
        self.decisions.with(&self.counters)
    }

    pub(crate) fn decisions(&self) -> &Decisions {
        &self.decisions
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
}

/// Numbers of requests begin far from those of every other life: at 40 bits of hash, six bytes in a message.
fn first_number(incarnation: u64) -> u64 {
    IntegerHasher::new(0).hash(incarnation) >> 24
}
