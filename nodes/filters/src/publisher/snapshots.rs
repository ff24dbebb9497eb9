//! Filters as bytes: whole, for a file of this node's, and in pieces, for peers that fetch a copy. They are copied in pieces, between
//! which the node goes on, and written to bytes without it. A snapshot is dropped when no peer has asked for it for some time, or when
//! there are too many.

use lacuna_base::Result;

use crate::config::Config;
use crate::filter_copy::FilterCopy;
use crate::key_id::{NodeId, TableId};
use crate::message::{CHUNK_BYTES, Message, Version};
use crate::presence::NodeFilter;
use crate::slots::Slots;
use crate::wire::reader;

use super::{Own, Publisher};

/// A filter as bytes, as it was after a peer had begun to fetch it.
#[derive(Debug)]
pub(super) struct Snapshot {
    version: Version,
    open: Slots,
    generation: u64,
    check: u32,
    bytes: Vec<u8>,
    asked_at: u64,
}

/// A copy of a filter that is under way.
#[derive(Debug)]
pub(super) struct Copying {
    copy: FilterCopy,
    /// Whether it goes no further.
    is_old: bool,
    /// Peers that have asked for it.
    waiting: Vec<NodeId>,
    /// The last file that has asked for it, by its number.
    file: Option<u64>,
}

/// A filter of one moment, which is not written to bytes yet: that takes long, and needs nothing else.
#[derive(Debug)]
pub struct WholeFilter {
    table: TableId,
    version: Version,
    open: Slots,
    generation: u64,
    copy: FilterCopy,
    waiting: Vec<NodeId>,
    file: Option<u64>,
}

/// The same as bytes.
#[derive(Debug)]
pub struct EncodedFilter {
    table: TableId,
    version: Version,
    open: Slots,
    generation: u64,
    check: u32,
    bytes: Vec<u8>,
    waiting: Vec<NodeId>,
    file: Option<u64>,
}

/// What has become of a filter that is being saved.
#[derive(Debug, PartialEq, Eq)]
pub enum Saved {
    /// Its copy is under way.
    NotYet,
    /// The bytes for a file.
    Bytes(Vec<u8>),
    /// Another filter stands for the table, or none.
    Never,
}

/// A filter that was read from a file and stands for no table yet: reading takes long, and needs no node.
#[derive(Debug)]
pub struct SavedFilter(NodeFilter);

impl SavedFilter {
    /// Reads what an earlier life of a node has [saved](Saved::Bytes), with its dead keys and margins if `keeps_dead`. O(bytes).
    ///
    /// # Errors
    /// If the bytes are no filter.
    pub fn read(bytes: &[u8], keeps_dead: bool) -> Result<Self> {
        let mut filter = NodeFilter::read_from(&mut reader(bytes))?;
        if !keeps_dead {
            filter.forget_deletions();
        }
        Ok(Self(filter))
    }
}

impl WholeFilter {
    /// Writes it to bytes. O(bytes).
    pub fn encode(self) -> EncodedFilter {
        let Self { table, version, open, generation, copy, waiting, file } = self;
        let bytes = copy.into_bytes();
        EncodedFilter {
            table,
            version,
            open,
            generation,
            check: crc32c::crc32c(&bytes),
            bytes,
            waiting,
            file,
        }
    }
}

impl Publisher {
    /// Begins to copy a ready filter for a file; `false` if there is none that says anything.
    pub(crate) fn begin_saving(&mut self, table: TableId) -> bool {
        let says_anything = |own: &&Own| own.is_ready && !own.filter.is_unknown();
        if self.tables.get(&table).filter(says_anything).is_none() {
            return false;
        }
        self.last_file += 1;
        let file = self.last_file;
        self.saved.insert(table, (file, None));
        if let Some(copying) = self.begin_copying(table) {
            copying.file = Some(file);
        }
        true
    }

    /// The copy for a file, once it is there.
    pub(crate) fn take_saved(&mut self, table: TableId) -> Saved {
        match self.saved.get_mut(&table).map(|(_, bytes)| bytes.take()) {
            None => Saved::Never,
            Some(None) => Saved::NotYet,
            Some(Some(bytes)) => {
                self.saved.remove(&table);
                Saved::Bytes(bytes)
            }
        }
    }

    /// The copy of a ready filter that is under way, begun if there is none.
    fn begin_copying(&mut self, table: TableId) -> Option<&mut Copying> {
        let own = self.tables.get_mut(&table).filter(|own| own.is_ready)?;
        let begin =
            || Copying { copy: own.filter.begin_copy(), is_old: false, waiting: Vec::new(), file: None };
        Some(self.copying.entry(table).or_insert_with(begin))
    }

    /// Takes the next piece of a copy: `None` if there is none to take, and the filter once it is whole.
    pub(crate) fn copy_more(&mut self, config: &Config) -> Option<Option<WholeFilter>> {
        let (&table, copying) = self.copying.iter_mut().next()?;
        let Some(own) = self.tables.get_mut(&table) else {
            self.copying.remove(&table);
            return Some(None);
        };
        if is_flawed!(config, CopiesAreOld) && !copying.is_old {
            copying.is_old = true;
            while !own.filter.copy_more(&mut copying.copy, config.copied_bytes) {}
            return Some(None);
        }
        if !copying.is_old && !own.filter.copy_more(&mut copying.copy, config.copied_bytes) {
            return Some(None);
        }
        let (version, generation) = (self.version, own.announced_generation());
        // What comes to them from now on is not in the copy, and a delta brings it only when they are closed.
        let open = if is_flawed!(config, SnapshotsForgetSlots) { Slots::default() } else { own.open_slots() };
        let Copying { copy, waiting, file, .. } = self.copying.remove(&table)?;
        Some(Some(WholeFilter { table, version, open, generation, copy, waiting, file }))
    }

    /// Takes a copy as bytes, unless another filter stands for the table by now; its first piece for each peer that has asked.
    pub(crate) fn encoded(
        &mut self,
        config: &Config,
        now: u64,
        encoded: EncodedFilter,
    ) -> Vec<(NodeId, Message)> {
        let EncodedFilter { table, version, open, generation, check, bytes, waiting, file } = encoded;
        let is_same = |own: &Own| own.is_ready && own.announced_generation() == generation;
        if !self.tables.get(&table).is_some_and(is_same) {
            return Vec::new();
        }
        // A copy that was whole before the file asked lacks what was written in between.
        if let Some((_, saved)) = self.saved.get_mut(&table).filter(|(number, _)| Some(*number) == file) {
            if waiting.is_empty() {
                *saved = Some(bytes);
                return Vec::new();
            }
            *saved = Some(bytes.clone());
        }
        if waiting.is_empty() {
            return Vec::new();
        }
        self.drop_snapshot(table);
        self.snapshots.insert(table, Snapshot { version, open, generation, check, bytes, asked_at: now });
        self.make_room(config, table);
        let piece = |peer: NodeId| Some((peer, self.piece(now, (table, 0))?));
        waiting.into_iter().filter_map(piece).collect()
    }

    /// The reverse, for a filter that is not ready and holds nothing yet.
    pub(crate) fn restore(&mut self, table: TableId, SavedFilter(filter): SavedFilter) -> bool {
        let is_new =
            |own: &&mut Own| !own.is_ready && own.filter.key_count() == 0 && !own.filter.is_unknown();
        let Some(own) = self.tables.get_mut(&table).filter(is_new) else { return false };
        if filter.is_unknown() {
            return false;
        }
        own.filter = filter;
        own.shrink();
        self.renew(table);
        true
    }

    /// A piece of a snapshot; the first piece if `sequence` does not name the one that is here. Other peers can use that one too
    /// while the deltas since it are kept: so peers that fetch at the same time share it. If there is none, a copy is begun, and the peer
    /// gets its first piece [later](Self::encoded).
    pub(crate) fn chunk(
        &mut self,
        config: &Config,
        now: u64,
        from: NodeId,
        (table, sequence, index): (TableId, u64, u64),
    ) -> Option<Message> {
        self.tables.get(&table).filter(|own| own.is_ready)?;
        let kept = self.snapshots.get(&table);
        let is_kept = kept.is_some_and(|kept| kept.version.sequence == sequence);
        let is_shared = kept.is_some_and(|kept| {
            kept.asked_at + config.interval > now && self.has_deltas_behind(kept.version.sequence)
        });
        if is_kept || is_shared {
            return self.piece(now, (table, if is_kept { index } else { 0 }));
        }
        let copying = self.begin_copying(table)?;
        if !copying.waiting.contains(&from) {
            copying.waiting.push(from);
        }
        None
    }

    /// A piece of the snapshot that is here.
    fn piece(&mut self, now: u64, (table, index): (TableId, u64)) -> Option<Message> {
        let Snapshot { version, open, generation, check, bytes, asked_at } =
            self.snapshots.get_mut(&table)?;
        *asked_at = now;
        let count = bytes.len().div_ceil(CHUNK_BYTES).max(1) as u64;
        let piece = bytes.chunks(CHUNK_BYTES).nth(usize::try_from(index).ok()?).unwrap_or_default().to_vec();
        let (version, open, generation, check) = (*version, *open, *generation, *check);
        (index < count).then_some(Message::Chunk {
            table,
            version,
            open,
            generation,
            index,
            count,
            check,
            bytes: piece,
        })
    }

    /// Drops the snapshots that no peer has asked for since `before`: a peer that still fetches one begins again.
    pub(crate) fn forget_snapshots(&mut self, before: u64) {
        let is_old = |(_, kept): &(&TableId, &Snapshot)| kept.asked_at < before;
        let old: Vec<TableId> = self.snapshots.iter().filter(is_old).map(|(table, _)| *table).collect();
        old.into_iter().for_each(|table| self.drop_snapshot(table));
    }

    pub(super) fn drop_snapshot(&mut self, table: TableId) {
        self.freed.extend(self.snapshots.remove(&table).map(|kept| kept.bytes));
    }

    /// Bytes that are of no use any more: to give back many takes a millisecond.
    pub(crate) fn take_freed(&mut self) -> Option<Vec<u8>> {
        self.freed.pop()
    }

    /// Bytes of all snapshots.
    pub(crate) fn snapshot_bytes(&self) -> usize {
        self.snapshots.values().map(|kept| kept.bytes.len()).sum()
    }

    /// Drops the others, first those that were asked for longest ago.
    fn make_room(&mut self, config: &Config, newest: TableId) {
        while self.snapshot_bytes() > config.max_snapshot_bytes {
            let others = self.snapshots.iter().filter(|(table, _)| **table != newest);
            let Some(oldest) = others.min_by_key(|(_, kept)| kept.asked_at).map(|(table, _)| *table) else {
                return;
            };
            self.drop_snapshot(oldest);
        }
    }
}
