//! Copies of a peer's filters: fetched, kept current, and asked.

use super::Peer;
use crate::buckets::Buckets;
use crate::config::Config;
use crate::fetch::{Fetch, Fetched, FetchedBytes, FetchedFilter};
use crate::key_id::{KeyId, TableId};
use crate::message::{Message, Version};
use crate::presence::{NodeFilter, Presence};
use crate::publisher::buckets_code;
use crate::slots::Slots;

/// A copy of one filter.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) filter: NodeFilter,
    /// Slots of which it says nothing, since keys stream into them there.
    pub(super) open: Slots,
    /// How the peer puts rows into buckets.
    buckets_code: u64,
    /// The delta that it already holds, and the digest up to there; later ones are still to be applied.
    pub(super) since: u64,
    pub(super) digest: u64,
    /// The delta from which on it answers: the last one that this node confirmed to the peer.
    pub(super) whole_at: u64,
    /// Memory that it took when it was whole.
    full_bytes: usize,
    /// Whether it was shortened or given up since it came.
    pub(crate) is_reduced: bool,
}

impl Copy {
    /// Makes it coarser, as far as it goes on to know keys.
    pub(crate) fn shorten_to(&mut self, max_bytes: usize) {
        self.full_bytes = self.full_bytes.max(self.filter.memory_bytes());
        self.is_reduced |= self.filter.shorten_to(max_bytes);
    }

    /// The same, until it knows nothing.
    pub(crate) fn shrink_to(&mut self, max_bytes: usize) {
        self.full_bytes = self.full_bytes.max(self.filter.memory_bytes());
        self.is_reduced |= self.filter.shrink_to(max_bytes);
    }

    pub(crate) fn give_up(&mut self) {
        (self.filter, self.is_reduced) = (NodeFilter::unknown(), true);
    }
}

impl Peer {
    /// Takes the hash of the list of the peer's tables, and those of them that are wanted; what to fetch.
    pub(crate) fn catalog(&mut self, now: u64, hash: u64, tables: &[TableId]) -> Vec<Message> {
        self.catalog = Some(hash);
        self.copies.retain(|table, _| tables.contains(table));
        self.fetches.retain(|table, _| tables.contains(table));
        let missing = tables.iter().filter(|table| !self.copies.contains_key(table));
        let mut asks = Vec::new();
        for table in missing {
            self.fetches.entry(*table).or_insert_with(|| {
                let fetch = Fetch::new(now);
                asks.push(fetch.ask(*table));
                fetch
            });
        }
        asks
    }

    /// The list of tables has to be looked through again: one more is wanted.
    pub(crate) fn look_again(&mut self) {
        self.catalog = None;
    }

    /// A table is not wanted, or not any more.
    pub(crate) fn leave_out(&mut self, table: TableId) {
        self.copies.remove(&table);
        self.fetches.remove(&table);
    }

    /// Copies that were shortened or given up and are not on their way, with the memory that they lack.
    pub(crate) fn reduced(&self) -> impl Iterator<Item = (TableId, usize)> {
        let reduced =
            self.copies.iter().filter(|(table, copy)| copy.is_reduced && !self.fetches.contains_key(table));
        reduced.map(|(table, copy)| (*table, copy.full_bytes.saturating_sub(copy.filter.memory_bytes())))
    }

    /// Fetches a filter whose copy is here, and serves meanwhile.
    pub(crate) fn fetch_again(&mut self, now: u64, table: TableId) -> Message {
        self.fetches.entry(table).or_insert_with(|| Fetch::new(now)).ask(table)
    }

    /// Takes a piece of a snapshot; what to say, and what came if it was the last one.
    pub(crate) fn chunk(&mut self, now: u64, message: Message) -> (Vec<Message>, Option<FetchedBytes>) {
        let nothing = (Vec::new(), None);
        let Message::Chunk { table, version, open, generation, check, .. } = message else { return nothing };
        if version.incarnation != self.applied.incarnation {
            return nothing;
        }
        let Some(fetch) = self.fetches.get_mut(&table) else { return nothing };
        match fetch.take(now, message) {
            Fetched::Nothing => nothing,
            Fetched::Piece => (vec![fetch.ask(table)], None),
            Fetched::Whole(pieces) => {
                (Vec::new(), Some(FetchedBytes { table, version, open, generation, check, pieces }))
            }
        }
    }

    /// Takes a filter that was read from what came; what to say.
    pub(crate) fn fetched(&mut self, config: &Config, now: u64, fetched: FetchedFilter) -> Vec<Message> {
        let FetchedFilter { table, version, open, generation, .. } = fetched;
        let is_of_this_life = version.incarnation == self.applied.incarnation;
        let Some(fetch) =
            self.fetches.get_mut(&table).filter(|fetch| is_of_this_life && fetch.is_of(&fetched))
        else {
            return Vec::new();
        };
        let Some(mut filter) = fetched.filter.map(|filter| *filter) else {
            *fetch = Fetch::new(now);
            return vec![fetch.ask(table)];
        };
        self.fetches.remove(&table);
        self.forget_forwarded(config, now);
        self.forwarded.of(table).for_each(|hash| filter.write_hash(hash));
        let applied = self.applied.sequence;
        let whole_at = self.confirmed.max(version.sequence);
        let Version { sequence: since, digest, .. } = version;
        let (buckets_code, full_bytes) = (buckets_code(generation), filter.memory_bytes());
        let copy =
            Copy { filter, open, buckets_code, since, digest, whole_at, full_bytes, is_reduced: false };
        self.copies.insert(table, copy);
        self.doubt(config);
        if version.sequence < applied {
            // Deltas since the snapshot passed this copy by. They are fetched again for it alone, and the copy does
            // not answer before they are here: this node has confirmed them to the peer.
            for copy in self.copies.values_mut() {
                copy.whole_at = copy.whole_at.max(self.confirmed);
            }
            let earlier = |(other, copy): &(&TableId, &mut Copy)| **other != table && copy.since < applied;
            for (_, copy) in self.copies.iter_mut().filter(earlier) {
                (copy.since, copy.digest) = (applied, self.applied.digest);
            }
            self.applied = version;
            return vec![self.ask_missing(now)];
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

    /// How far a margin of a bucket reaches, if the copy answers and has it.
    pub(crate) fn margin(&self, table: TableId, id: KeyId) -> Option<u64> {
        let copy = self.copies.get(&table).filter(|copy| copy.whole_at <= self.applied.sequence)?;
        copy.filter.margin(id)
    }

    /// The slots of a table into which keys stream at the peer: everything in them may be there.
    pub(crate) fn open_slots(&self, table: TableId) -> Slots {
        self.copies.get(&table).map(|copy| copy.open).unwrap_or_default()
    }

    /// Whether the peer puts a table's rows into the same buckets.
    pub(crate) fn has_buckets(&self, table: TableId, buckets: Buckets) -> bool {
        self.copies.get(&table).is_some_and(|copy| copy.buckets_code == buckets.code())
    }

    /// Notes a key that this node is about to write to the peer.
    pub(crate) fn forwarded(&mut self, config: &Config, now: u64, table: TableId, ids: &[KeyId]) {
        let keys = self.key_count();
        for id in ids {
            if let Some(copy) = self.copies.get_mut(&table) {
                copy.filter.write_hash(id.hash());
            }
            self.forwarded.note(config, now, keys, (table, id.hash()));
        }
    }

    /// Forgets forwarded keys that every later copy knows, and enters what the peer has buried since: into no copy that is newer
    /// than the deltas that came, since those that would take the burial back then pass it by.
    pub(crate) fn forget_forwarded(&mut self, config: &Config, now: u64) {
        let keys = self.key_count();
        let before = |age| now.saturating_sub(age);
        let due = self.forwarded.forget(before(config.max_age(keys)), before(config.burial_age(keys)));
        for (table, id, time) in due {
            if let Some(copy) = self.copies.get_mut(&table).filter(|copy| copy.since <= self.applied.sequence)
            {
                copy.filter.keep_dead(id, time);
            }
        }
    }

    /// How many are kept.
    pub(crate) fn forwarded_count(&self) -> usize {
        self.forwarded.len()
    }
}
