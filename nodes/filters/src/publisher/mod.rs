//! The side of a node that other nodes rely on: its own filters, their deltas, and the lease holders.

mod changes;
mod holders;
mod ingest;
mod pending;
mod recent;
mod snapshots;

pub use snapshots::{EncodedFilter, Saved, SavedFilter, WholeFilter};

use std::collections::{BTreeMap, VecDeque};

use lacuna_base::hash::hash_bytes;

use self::holders::Holder;
use self::ingest::Ingest;
use self::pending::Pending;
use self::recent::Recent;
use self::snapshots::{Copying, Snapshot};
use crate::buckets::Buckets;
use crate::config::Config;
use crate::key_id::{KeyId, NodeId, TableId};
use crate::margins::Side;
use crate::message::{Message, Version};
use crate::presence::NodeFilter;
use crate::slots::Slots;
use crate::water_mark;

/// Deltas that are sent again at once.
pub(crate) const MAX_REPEATED: usize = 256;

/// Low bits of a generation in messages that say how rows are put into buckets.
const BUCKETS_BITS: u32 = 24;

/// Digests kept, to tell whether an acknowledgement is one of what was sent.
const MAX_DIGESTS: usize = 1 << 12;

/// A filter of this node.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) filter: NodeFilter,
    pub(crate) buckets: Option<Buckets>,
    pub(crate) generation: u64,
    pub(crate) is_ready: bool,
    /// Memory that the filter may take.
    pub(crate) max_bytes: usize,
    /// The filter that is being rebuilt; writes go to both.
    next: Option<NodeFilter>,
    ingest: Ingest,
}

impl Own {
    /// Keeps the filter within its memory, and the one that is being rebuilt: `true` if copies of the filter are of no use then.
    fn shrink(&mut self) -> bool {
        if let Some(next) = self.next.as_mut().filter(|next| next.memory_bytes() > self.max_bytes) {
            next.shrink_to(self.max_bytes);
        }
        self.filter.memory_bytes() > self.max_bytes && self.filter.shrink_to(self.max_bytes)
    }

    /// Memory of the filter that is being rebuilt.
    pub(crate) fn next_bytes(&self) -> usize {
        self.next.as_ref().map_or(0, NodeFilter::memory_bytes)
    }

    /// Makes what has a name live, in the filter that is being rebuilt too; whether others have to learn of it.
    fn write(&mut self, config: &Config, id: KeyId, is_margin: bool) -> bool {
        let is_new = if is_margin {
            self.filter.end_margin(id);
            !is_flawed!(config, MarginsEndQuietly)
        } else if is_flawed!(config, WriteKeepsDead) && self.filter.is_dead(id) {
            false
        } else {
            self.filter.write(id)
        };
        if let Some(next) = &mut self.next {
            next.write(id);
        }
        // No peer has a copy of a filter that is not ready, and a snapshot has all its keys.
        is_new && self.is_ready
    }

    /// Slots that are open for a stream of new keys.
    pub(crate) fn open_slots(&self) -> Slots {
        self.ingest.slots()
    }

    /// The margins and water marks that a row at `place` ends.
    fn margins_at(&self, config: &Config, partition: KeyId, place: Option<u64>) -> Vec<KeyId> {
        let (Some(buckets), Some(place), true) = (self.buckets, place, self.filter.has_margins()) else {
            return Vec::new();
        };
        let bucket = buckets.finest_of(place);
        let at = place - buckets.first_in(bucket);
        let named = Side::BOTH.into_iter().map(|side| (side, partition.margin(side, bucket)));
        let is_ended = |(side, id): &(Side, KeyId)| {
            self.filter.margin(*id).is_some_and(|inner| side.holds(inner, at))
                && !is_flawed!(config, WriteKeepsMargins)
        };
        let margins = named.filter(is_ended).map(|(_, id)| id);
        let marks = Side::BOTH.into_iter().map(|side| (side, partition.water_mark(side)));
        let is_under = |(side, id): &(Side, KeyId)| {
            let pair = self.filter.margin(*id);
            pair.is_some_and(|pair| water_mark::holds(*side, pair, place))
                && !is_flawed!(config, WriteKeepsWaterMarks)
        };
        margins.chain(marks.filter(is_under).map(|(_, id)| id)).collect()
    }

    /// The generation as messages have it, with how rows are put into buckets.
    fn announced_generation(&self) -> u64 {
        self.generation << BUCKETS_BITS | self.buckets.map_or(0, Buckets::code)
    }
}

/// How the rows of a copy are put into buckets, from the generation in its messages.
pub(crate) const fn buckets_code(generation: u64) -> u64 {
    generation & ((1 << BUCKETS_BITS) - 1)
}

/// What a write puts into a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brings {
    Life,
    /// The same from a file: nothing waits for it, so it opens no slot.
    LifeOfFile,
    /// Its deletion, and nothing else.
    Death,
}

#[derive(Debug)]
pub(crate) struct Publisher {
    pub(crate) tables: BTreeMap<TableId, Own>,
    last_generation: u64,
    version: Version,
    pending: Pending,
    /// Deltas that were closed because they were large, and have not been sent.
    closed: Vec<Vec<u8>>,
    log: VecDeque<(u64, Vec<u8>)>,
    /// The digests up to the last deltas.
    digests: VecDeque<u64>,
    log_bytes: usize,
    holders: BTreeMap<NodeId, Holder>,
    /// The last of the deltas that went out at a time, and that time.
    sent: VecDeque<(u64, u64)>,
    snapshots: BTreeMap<TableId, Snapshot>,
    /// Filters that are being copied.
    copying: BTreeMap<TableId, Copying>,
    freed: Vec<Vec<u8>>,
    /// Filters as bytes, for files by their numbers: none while they are being copied.
    saved: BTreeMap<TableId, (u64, Option<Vec<u8>>)>,
    last_file: u64,
    recent: Recent,
    boot_until: u64,
    /// Slots that were opened.
    pub(crate) slots_opened: u64,
    /// Writes of something new into open slots.
    pub(crate) writes_streamed: u64,
}

impl Publisher {
    pub(crate) fn new(incarnation: u64, boot_until: u64) -> Self {
        let version = Version { incarnation, ..Version::default() };
        Self {
            tables: BTreeMap::new(),
            last_generation: 0,
            version,
            pending: Pending::default(),
            closed: Vec::new(),
            log: VecDeque::new(),
            log_bytes: 0,
            digests: VecDeque::new(),
            holders: BTreeMap::new(),
            sent: VecDeque::new(),
            snapshots: BTreeMap::new(),
            copying: BTreeMap::new(),
            freed: Vec::new(),
            saved: BTreeMap::new(),
            last_file: 0,
            recent: Recent::default(),
            boot_until,
            slots_opened: 0,
            writes_streamed: 0,
        }
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn create(
        &mut self,
        table: TableId,
        filter: NodeFilter,
        buckets: Option<Buckets>,
        max_bytes: usize,
        slot_writes: u64,
    ) {
        let generation = self.next_generation();
        let ingest = Ingest::new(slot_writes);
        let own = Own { filter, buckets, generation, is_ready: false, max_bytes, next: None, ingest };
        self.tables.insert(table, own);
        self.reset(table);
    }

    pub(crate) fn drop_table(&mut self, table: TableId) {
        self.tables.remove(&table);
        self.reset(table);
    }

    /// Closes the slots to which hardly anything comes any more, with all that came to open slots of their tables.
    fn close_slots(&mut self, config: &Config, now: u64) {
        let known = self.known_to_all(now);
        let mut tables = Vec::new();
        for (table, own) in &mut self.tables {
            own.ingest.note_known(known);
            if own.ingest.close(now, config.interval) {
                tables.push((*table, own.ingest.slots()));
            }
        }
        for (table, open) in tables {
            self.announce_put_off(config, table);
            // After the last key, which may be in another delta than the first one.
            self.pending.open(table, open);
        }
    }

    /// Sets how many writes open a slot of a table.
    pub(crate) fn open_slots_at(&mut self, table: TableId, writes: u64) {
        if let Some(own) = self.tables.get_mut(&table) {
            own.ingest.opens_at = writes;
        }
    }

    /// Sets what a table's filter may take.
    pub(crate) fn limit(&mut self, table: TableId, max_bytes: usize) {
        let Some(own) = self.tables.get_mut(&table) else { return };
        own.max_bytes = max_bytes;
        if own.shrink() {
            self.renew(table);
        }
    }

    /// Begins to rebuild a filter: writes go to the old one and to `filter`.
    pub(crate) fn begin_rebuild(&mut self, table: TableId, filter: NodeFilter) {
        if let Some(own) = self.tables.get_mut(&table) {
            own.next = Some(filter);
        }
    }

    pub(crate) fn cancel_rebuild(&mut self, table: TableId) {
        if let Some(own) = self.tables.get_mut(&table) {
            own.next = None;
        }
    }

    /// The filter that is being rebuilt, and what it may take.
    pub(crate) fn rebuilt(&mut self, table: TableId) -> Option<(&mut NodeFilter, usize)> {
        let own = self.tables.get_mut(&table)?;
        Some((own.next.as_mut()?, own.max_bytes))
    }

    pub(crate) fn finish_rebuild(&mut self, config: &Config, table: TableId) {
        let Some(own) = self.tables.get_mut(&table) else { return };
        let Some(mut next) = own.next.take() else { return };
        // What was proven stays proven: writes have taken back what they touched, in the old filter too.
        own.filter.dead().for_each(|(id, time)| next.keep_dead(id, time));
        next.keep_margins(&mut own.filter);
        next.shrink_to(own.max_bytes);
        own.filter = next;
        if is_flawed!(config, RebuildQuietly) {
            return;
        }
        self.renew(table);
    }

    /// Another filter stands for the table: its fingerprints tell keys apart in another way, so peers begin again.
    fn renew(&mut self, table: TableId) {
        let generation = self.next_generation();
        if let Some(own) = self.tables.get_mut(&table) {
            own.generation = generation;
        }
        self.reset(table);
    }

    /// Of any table: a table that was dropped and created again must not be taken for what it was.
    fn next_generation(&mut self) -> u64 {
        self.last_generation += 1;
        self.last_generation
    }

    fn reset(&mut self, table: TableId) {
        if let Some(own) = self.tables.get_mut(&table) {
            own.ingest.clear();
        }
        self.pending.reset(table);
        self.drop_snapshot(table);
        self.copying.remove(&table);
        self.saved.remove(&table);
        self.recent.note_table(table, self.barrier());
    }

    /// Closes the pending changes, as a rule as one delta; the bytes of all deltas that were not sent yet.
    pub(crate) fn flush(&mut self, config: &Config, now: u64) -> Vec<Vec<u8>> {
        self.close_slots(config, now);
        if !self.pending.is_empty() {
            self.close();
        }
        if !self.closed.is_empty() {
            while self.log_bytes > config.log_bytes
                && let Some((_, oldest)) = self.log.pop_front()
            {
                self.log_bytes -= oldest.len();
            }
            self.holders.retain(|_, holder| holder.until > now);
            self.recent.forget(self.known_to_all(now));
            self.note_sent(config, now);
        }
        std::mem::take(&mut self.closed)
    }

    fn close_if_large(&mut self) {
        if self.pending.is_large() {
            self.close();
        }
    }

    fn close(&mut self) {
        self.version.sequence += 1;
        let tables = self.pending.take();
        let (incarnation, sequence) = (self.version.incarnation, self.version.sequence);
        let bytes = Message::Delta { incarnation, sequence, tables }.to_bytes();
        self.version.digest = hash_bytes(&bytes, self.version.digest);
        self.log_bytes += bytes.len();
        self.log.push_back((sequence, bytes.clone()));
        self.closed.push(bytes);
        self.digests.push_back(self.version.digest);
        if self.digests.len() > MAX_DIGESTS {
            self.digests.pop_front();
        }
    }

    /// The deltas after `applied`, or the message that there is a gap.
    pub(crate) fn deltas_behind(&self, applied: Version) -> Vec<Vec<u8>> {
        if applied.incarnation == self.version.incarnation && self.has_deltas_behind(applied.sequence) {
            let first = self.log.partition_point(|(sequence, _)| *sequence <= applied.sequence);
            self.log.range(first..).take(MAX_REPEATED).map(|(_, bytes)| bytes.clone()).collect()
        } else {
            vec![Message::Gap(self.version).to_bytes()]
        }
    }

    fn has_deltas_behind(&self, sequence: u64) -> bool {
        let first = sequence.saturating_add(1);
        first > self.version.sequence || self.log.front().is_some_and(|(oldest, _)| *oldest <= first)
    }

    pub(crate) fn catalog(&self) -> Vec<(TableId, u64)> {
        let ready = self.tables.iter().filter(|(_, own)| own.is_ready);
        ready.map(|(table, own)| (*table, own.announced_generation())).collect()
    }

    /// Keys of all filters.
    pub(crate) fn key_count(&self) -> u64 {
        self.tables.values().map(|own| own.filter.key_count()).sum()
    }
}
