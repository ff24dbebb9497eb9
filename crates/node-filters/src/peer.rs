//! The side of a node that relies on others: copies of a peer's filters, how far they reach, and until when they hold.

use std::collections::BTreeMap;

use lacuna_core::hash::hash_bytes;

use crate::config::{Config, Flaw};
use crate::fetch::Fetch;
use crate::key_id::{KeyId, TableId};
use crate::message::{Message, TableDelta, Version};
use crate::presence::{NodeFilter, Presence};

/// Deltas kept that have overtaken others.
const MOST_EARLY: usize = 64;
/// Requests whose grants are still awaited.
const MOST_AWAITED: usize = 8;

/// A copy of one filter.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) filter: NodeFilter,
    /// The delta that it already holds; later ones are still to be applied.
    since: u64,
    /// The delta from which on it answers: the last one that was told to the peer as applied.
    whole_at: u64,
}

/// What was granted.
#[derive(Debug, Clone, Copy)]
struct Lease {
    number: u64,
    until: u64,
    /// The delta that must have been applied for the lease to be of use.
    floor: u64,
    ring: u64,
}

/// What this node knows of another one.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    pub(crate) applied: Version,
    pub(crate) copies: BTreeMap<TableId, Copy>,
    fetches: BTreeMap<TableId, Fetch>,
    lease: Option<Lease>,
    /// The newest answer whose deltas have all been applied was asked for at this time, in this ring.
    fresh: Option<(u64, u64)>,
    /// Answers that still wait for deltas: number of the last one, time of asking, ring.
    behind: Option<(u64, u64, u64)>,
    catalog: Option<u64>,
    asked: Vec<(u64, u64)>,
    /// Deltas that have overtaken others.
    early: BTreeMap<u64, Vec<u8>>,
    last_number: u64,
    /// When deltas, and the catalog, were last asked for.
    repeated_at: [Option<u64>; 2],
    /// Keys that this node wrote to the peer, with the time: a copy fetched later may be older than they are.
    forwarded: Vec<(u64, TableId, u64)>,
}

impl Peer {
    /// The next request.
    pub(crate) fn request(&mut self, now: u64, ring: u64, wants_lease: bool) -> Message {
        self.last_number += 1;
        self.asked.push((self.last_number, now));
        if self.asked.len() > MOST_AWAITED {
            self.asked.remove(0);
        }
        Message::Request { number: self.last_number, applied: self.applied, ring, wants_lease }
    }

    /// Takes a grant; what to say next.
    pub(crate) fn granted(&mut self, config: &Config, now: u64, message: &Message) -> Vec<Message> {
        let Message::Grant { number, version, ring, length, catalog } = *message else { return Vec::new() };
        let Some(asked_at) = self.asked.iter().find(|(asked, _)| *asked == number).map(|(_, at)| *at) else {
            return Vec::new();
        };
        if version.incarnation != self.applied.incarnation {
            self.begin_again(version);
        }
        if version.sequence == self.applied.sequence && version.digest != self.applied.digest {
            self.begin_again(version);
        }
        let from = if config.has(Flaw::LeaseFromGrant) { now } else { asked_at };
        if self.lease.is_none_or(|lease| lease.number < number) {
            let until = if length > 0 { from + config.shortened(length) } else { 0 };
            self.lease = Some(Lease { number, until, floor: version.sequence, ring });
        }
        self.behind = Some((version.sequence, asked_at, ring));
        self.note_fresh();
        let mut next = Vec::new();
        if version.sequence > self.applied.sequence {
            next.extend(self.miss(config, now));
        }
        if self.catalog != Some(catalog) {
            next.extend(self.ask_catalog(config, now));
        }
        next.extend(
            self.fetches.iter().filter_map(|(table, fetch)| fetch.ask_again(*table, now, config.interval)),
        );
        next
    }

    /// Forgets everything: the peer has another life, or what is here is not what is there.
    pub(crate) fn begin_again(&mut self, version: Version) {
        let (asked, last_number) = (std::mem::take(&mut self.asked), self.last_number);
        let forwarded = std::mem::take(&mut self.forwarded);
        *self = Self { applied: version, asked, last_number, forwarded, ..Self::default() };
    }

    /// The ring has changed: nothing granted before counts.
    pub(crate) fn void(&mut self) {
        (self.lease, self.fresh, self.behind) = (None, None, None);
        self.asked.clear();
    }

    /// Applies a delta if it is the next one; what to say.
    pub(crate) fn delta(
        &mut self,
        config: &Config,
        now: u64,
        frame: &[u8],
        message: Message,
    ) -> Vec<Message> {
        let Message::Delta { incarnation, sequence, tables } = message else { return Vec::new() };
        if incarnation != self.applied.incarnation {
            return Vec::new();
        }
        if sequence <= self.applied.sequence {
            return vec![Message::Applied(self.applied)];
        }
        if sequence > self.applied.sequence + 1 && !config.has(Flaw::IgnoreGaps) {
            if self.early.len() < MOST_EARLY {
                self.early.insert(sequence, frame.to_vec());
            }
            return self.miss(config, now).into_iter().collect();
        }
        self.apply(frame, Version { incarnation, sequence, digest: 0 }, tables);
        while let Some(frame) = self.early.remove(&(self.applied.sequence + 1))
            && let Ok(Message::Delta { incarnation, sequence, tables }) = Message::from_bytes(&frame)
        {
            self.apply(&frame, Version { incarnation, sequence, digest: 0 }, tables);
        }
        let applied = self.applied.sequence;
        self.early.retain(|sequence, _| *sequence > applied);
        self.note_fresh();
        let mut next = vec![Message::Applied(self.applied)];
        if self.catalog.is_none() {
            next.extend(self.ask_catalog(config, now));
        }
        next
    }

    fn apply(&mut self, frame: &[u8], version: Version, tables: Vec<(TableId, TableDelta)>) {
        self.applied = Version { digest: hash_bytes(frame, self.applied.digest), ..version };
        for (table, delta) in tables {
            if delta.is_reset {
                self.copies.remove(&table);
                self.fetches.remove(&table);
                self.catalog = None;
            }
            self.apply_to(version.sequence, table, &delta);
        }
    }

    fn apply_to(&mut self, sequence: u64, table: TableId, delta: &TableDelta) {
        let Some(copy) = self.copies.get_mut(&table).filter(|copy| copy.since < sequence) else { return };
        delta.keys.iter().for_each(|&hash| copy.filter.write_hash(hash));
        for (id, time) in &delta.dead {
            copy.filter.enter_dead(*id, *time);
        }
    }

    /// Takes the list of the peer's tables; what to fetch.
    pub(crate) fn catalog(&mut self, now: u64, hash: u64, tables: &[(TableId, u64)]) -> Vec<Message> {
        self.catalog = Some(hash);
        self.copies.retain(|table, _| tables.iter().any(|(listed, _)| listed == table));
        self.fetches.retain(|table, _| tables.iter().any(|(listed, _)| listed == table));
        let missing = tables.iter().filter(|(table, _)| !self.copies.contains_key(table));
        let mut asks = Vec::new();
        for (table, _) in missing {
            self.fetches.entry(*table).or_insert_with(|| {
                let fetch = Fetch::new(now);
                asks.push(fetch.ask(*table));
                fetch
            });
        }
        asks
    }

    /// Takes a piece of a snapshot; what to say.
    pub(crate) fn chunk(&mut self, config: &Config, now: u64, message: Message) -> Vec<Message> {
        let Message::Chunk { table, version, .. } = message else { return Vec::new() };
        if version.incarnation != self.applied.incarnation {
            return Vec::new();
        }
        let Some(fetch) = self.fetches.get_mut(&table) else { return Vec::new() };
        let Some(filter) = fetch.take(now, message) else { return vec![fetch.ask(table)] };
        self.fetches.remove(&table);
        let mut filter = filter;
        let oldest = now.saturating_sub(config.most_age(0));
        self.forwarded.retain(|(at, ..)| *at >= oldest);
        let own = self.forwarded.iter().filter(|(_, written, _)| *written == table);
        own.for_each(|(_, _, hash)| filter.write_hash(*hash));
        let applied = self.applied.sequence;
        let whole_at = applied.max(version.sequence);
        self.copies.insert(table, Copy { filter, since: version.sequence, whole_at });
        if version.sequence < applied {
            // Deltas since the snapshot passed this copy by. They are fetched again for it alone, and nobody answers
            // before they are here: the peer was told that they are.
            for copy in self.copies.values_mut() {
                copy.whole_at = copy.whole_at.max(applied);
            }
            for (_, copy) in self.copies.iter_mut().filter(|(other, _)| **other != table) {
                copy.since = copy.since.max(applied);
            }
            self.applied = version;
            return vec![Message::Missing(version)];
        }
        Vec::new()
    }

    /// What the copy says of a key; "unknown" while deltas that it should hold are on their way.
    pub(crate) fn presence(&self, table: TableId, id: KeyId) -> Option<Presence> {
        let copy = self.copies.get(&table)?;
        Some(if copy.whole_at <= self.applied.sequence {
            copy.filter.presence(id)
        } else {
            Presence::Unknown
        })
    }

    /// Whether a valid lease covers everything that the peer acknowledged.
    pub(crate) fn has_lease(&self, config: &Config, now: u64, ring: u64) -> bool {
        let is_valid = |lease: &Lease| {
            now < lease.until
                && (lease.floor <= self.applied.sequence || config.has(Flaw::IgnoreGaps))
                && (lease.ring == ring || config.has(Flaw::IgnoreRing))
        };
        self.lease.as_ref().is_some_and(is_valid)
    }

    /// Milliseconds since the moment at which the copies were the peer's filters; `None` if there never was one in `ring`.
    pub(crate) fn age(&self, now: u64, ring: u64) -> Option<u64> {
        self.fresh.filter(|(_, fresh_ring)| *fresh_ring == ring).map(|(at, _)| now.saturating_sub(at))
    }

    /// Notes a key that this node is about to write to the peer.
    pub(crate) fn forwarded(&mut self, now: u64, table: TableId, ids: &[KeyId]) {
        for id in ids {
            if let Some(copy) = self.copies.get_mut(&table) {
                copy.filter.write_hash(id.hash());
            }
            self.forwarded.push((now, table, id.hash()));
        }
    }

    /// Forgets forwarded keys that every later copy knows.
    pub(crate) fn forget_forwarded(&mut self, before: u64) {
        self.forwarded.retain(|(at, ..)| *at >= before);
    }

    pub(crate) fn key_count(&self) -> u64 {
        self.copies.values().map(|copy| copy.filter.key_count()).sum()
    }

    /// Asks for missing deltas, but not for each that comes out of order.
    fn miss(&mut self, config: &Config, now: u64) -> Option<Message> {
        may_repeat(&mut self.repeated_at[0], config, now).then_some(Message::Missing(self.applied))
    }

    fn ask_catalog(&mut self, config: &Config, now: u64) -> Option<Message> {
        may_repeat(&mut self.repeated_at[1], config, now).then_some(Message::AskCatalog)
    }

    fn note_fresh(&mut self) {
        if let Some((sequence, asked_at, ring)) = self.behind
            && sequence <= self.applied.sequence
        {
            self.fresh = Some((asked_at, ring));
        }
    }
}

/// Whether a question may be asked again: some ten times per interval.
fn may_repeat(last: &mut Option<u64>, config: &Config, now: u64) -> bool {
    let may = last.is_none_or(|last| now >= last + config.interval / 10);
    if may {
        *last = Some(now);
    }
    may
}
