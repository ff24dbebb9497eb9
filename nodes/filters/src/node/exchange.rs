//! What a node says to others, and what it does with what they say.

use std::collections::BTreeSet;

use lacuna_base::hash::hash_bytes;

use super::{Node, is_wanted};
use crate::config::Mode;
use crate::key_id::{NodeId, TableId};
use crate::message::{LeaseUse, Message, Version};
use crate::peer::{Copy, Peer};
use crate::wire::Writer;

impl Node {
    /// Sends what has changed to all readers: at once in safe mode, on the interval otherwise.
    pub fn flush(&mut self, now: u64) {
        if self.config.mode == Mode::Eventual && now < self.next_flush || is_flawed!(self.config, PublishLate)
        {
            return;
        }
        self.flush_now(now);
    }

    fn flush_now(&mut self, now: u64) {
        self.next_flush = now + self.config.interval_for(self.publisher.key_count());
        let readers: Vec<NodeId> = self.readers.keys().copied().collect();
        for delta in self.publisher.flush(&self.config, now) {
            readers.iter().for_each(|reader| self.send_bytes(*reader, delta.clone()));
        }
    }

    /// Does what is due: requests to all peers, deltas to all readers.
    pub fn tick(&mut self, now: u64) {
        let interval = self.request_interval();
        let patience = 10 * interval.max(self.config.interval);
        self.readers.retain(|_, asked_at| *asked_at + patience > now);
        if now >= self.next_request {
            self.next_request = now + interval;
            let lease_use = match self.config.mode {
                Mode::Eventual => LeaseUse::None,
                Mode::Safe => LeaseUse::Answer,
                Mode::Shadow => LeaseUse::Count,
            };
            let ring = self.ring;
            let mut number = self.last_number;
            let mut request = |(id, peer): (&NodeId, &mut Peer)| {
                number += 1;
                (*id, peer.request(number, now, ring, lease_use))
            };
            let useful: BTreeSet<NodeId> = self.asked_peers().collect();
            let asked = self.peers.iter_mut().filter(|(peer, _)| useful.contains(peer));
            let requests: Vec<_> = asked.map(&mut request).collect();
            self.last_number = number;
            requests.into_iter().for_each(|(id, request)| self.send(id, &request));
            self.peers.values_mut().for_each(|peer| peer.forget_forwarded(&self.config, now));
            self.publisher.forget_snapshots(now.saturating_sub(patience));
            self.regain_copies(now);
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
            Mode::Safe | Mode::Shadow => self.config.lease() / 3,
            Mode::Eventual => self.config.interval_for(self.publisher.key_count()),
        }
    }

    /// Takes a message. A damaged or newer one counts as lost. O(bytes of a filter) for one of those that filters are fetched
    /// with.
    pub fn receive(&mut self, now: u64, from: NodeId, frame: &[u8]) {
        self.receive_quickly(now, from, frame);
        self.do_undone(now);
    }

    /// The same in O(bytes of the message), with [`undone`](Self::undone) work left: for a program that holds a lock meanwhile.
    pub fn receive_quickly(&mut self, now: u64, from: NodeId, frame: &[u8]) {
        match Message::from_bytes(frame) {
            Ok(message) => self.take(now, from, frame, message),
            Err(_) => self.counters.malformed_messages += 1,
        }
    }

    fn take(&mut self, now: u64, from: NodeId, frame: &[u8], message: Message) {
        match message {
            Message::Request { number, applied, ring, lease_use } => {
                self.answer_request(now, from, (number, applied, ring, lease_use));
            }
            Message::Applied(applied) => self.publisher.acknowledged(&self.config, from, applied),
            Message::AppliedAnd { applied, frame } => {
                self.publisher.acknowledged(&self.config, from, applied);
                self.receive_quickly(now, from, &frame);
            }
            Message::Missing(applied) => {
                let deltas = self.publisher.deltas_behind(applied);
                deltas.into_iter().for_each(|delta| self.send_bytes(from, delta));
            }
            Message::AskCatalog => {
                let incarnation = self.publisher.version().incarnation;
                self.send(from, &Message::Catalog { incarnation, tables: self.publisher.catalog() });
            }
            Message::AskChunk { table, sequence, index } => {
                if let Some(chunk) = self.publisher.chunk(&self.config, now, from, (table, sequence, index)) {
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
            // Of another life: what it stands at is learned from a grant, which answers a request made now.
            Message::Gap(version) if version.incarnation == peer.applied.incarnation => {
                peer.begin_again(version);
                vec![Message::AskCatalog]
            }
            Message::Catalog { incarnation, tables } if incarnation == peer.applied.incarnation => {
                let listed = tables.iter().map(|(table, _)| *table);
                let wanted: Vec<_> = listed.filter(|table| is_wanted(&self.wanted, *table, from)).collect();
                peer.catalog(now, catalog_hash(&tables), &wanted)
            }
            Message::Chunk { .. } => {
                let (next, fetched) = peer.chunk(now, message);
                self.fetched.extend(fetched.map(|fetched| (from, fetched)));
                next
            }
            _ => Vec::new(),
        };
        next.iter().for_each(|message| self.send(from, message));
        self.keep_within_memory();
    }

    /// A request makes its sender a reader, and a lease holder if both see the same ring, and if a node of this mode keeps
    /// what such a lease promises.
    fn answer_request(&mut self, now: u64, from: NodeId, request: (u64, Version, u64, LeaseUse)) {
        let (number, applied, ring, lease_use) = request;
        self.readers.insert(from, now);
        self.publisher.acknowledged(&self.config, from, applied);
        if self.publisher.is_of_another_past(&self.config, applied) {
            self.send(from, &Message::Gap(self.publisher.version()));
            return;
        }
        if lease_use != LeaseUse::None {
            // The grant's version then covers all that is in the filters, streamed keys too.
            self.flush_now(now);
        }
        let is_kept = match lease_use {
            LeaseUse::None => false,
            LeaseUse::Answer => self.config.mode == Mode::Safe,
            LeaseUse::Count => true,
        };
        let may_rely = is_kept && (ring == self.ring || is_flawed!(self.config, IgnoreRing));
        let length = if may_rely { self.publisher.grant(&self.config, now, from) } else { 0 };
        let catalog = catalog_hash(&self.publisher.catalog());
        let (version, ring) = (self.publisher.version(), self.ring);
        self.send(from, &Message::Grant { number, version, ring, length, catalog });
    }

    /// Shortens copies that take too much, all by the same share; then forgets the largest, until the rest fit.
    pub(super) fn keep_within_memory(&mut self) {
        let max_bytes = self.config.max_copy_bytes;
        let total = self.copy_bytes();
        if total <= max_bytes {
            return;
        }
        for copy in self.copies_mut() {
            let share = copy.filter.memory_bytes() as f64 / total as f64 * max_bytes as f64;
            #[expect(clippy::cast_possible_truncation, reason = "at most the bytes that may be taken")]
            copy.shorten_to(share as usize);
        }
        while self.copy_bytes() > max_bytes
            && let Some(largest) = self.copies_mut().max_by_key(|copy| copy.filter.memory_bytes())
            && !largest.filter.is_unknown()
        {
            largest.give_up();
        }
    }

    /// Fetches a copy again that was shortened or given up, if it fits by now as it was: the one that lacks least, one in ten
    /// intervals. An eighth of the memory stays free, so that one that comes back does not soon make all shorter.
    fn regain_copies(&mut self, now: u64) {
        if now < self.next_regain {
            return;
        }
        let max_bytes = self.config.max_copy_bytes;
        let room = (max_bytes - max_bytes / 8).saturating_sub(self.copy_bytes());
        let fresh = self.peers.iter().filter(|(id, _)| self.may_rely_on(now, **id));
        let reduced =
            fresh.flat_map(|(id, peer)| peer.reduced().map(move |(table, lacks)| (lacks, *id, table)));
        let Some((_, from, table)) = reduced.filter(|(lacks, ..)| *lacks <= room).min() else { return };
        self.next_regain = now + 10 * self.config.interval;
        if let Some(ask) = self.peers.get_mut(&from).map(|peer| peer.fetch_again(now, table)) {
            self.send(from, &ask);
        }
    }

    /// Makes a copy that came again so short that no other has to be.
    pub(super) fn fit_in(&mut self, from: NodeId, table: TableId) {
        let (total, max_bytes) = (self.copy_bytes(), self.config.max_copy_bytes);
        let copy = self.peers.get_mut(&from).and_then(|peer| peer.copies.get_mut(&table));
        let Some(copy) = copy else { return };
        let others = total - copy.filter.memory_bytes();
        copy.shrink_to(max_bytes.saturating_sub(others));
        self.counters.copies_regained += u64::from(!copy.is_reduced);
    }

    fn copies_mut(&mut self) -> impl Iterator<Item = &mut Copy> {
        self.peers.values_mut().flat_map(|peer| peer.copies.values_mut())
    }

    /// Memory of all copies.
    pub fn copy_bytes(&self) -> usize {
        let copies = self.peers.values().flat_map(|peer| peer.copies.values());
        copies.map(|copy| copy.filter.memory_bytes()).sum()
    }

    pub(super) fn send(&mut self, to: NodeId, message: &Message) {
        match message {
            Message::Applied(applied) => self.note_unconfirmed(to, *applied),
            Message::Request { applied, .. } => {
                self.note_confirmed(to, *applied);
                self.send_bytes(to, message.to_bytes());
            }
            other => self.send_bytes(to, other.to_bytes()),
        }
    }

    pub(super) fn send_bytes(&mut self, to: NodeId, bytes: Vec<u8>) {
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
