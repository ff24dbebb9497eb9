//! Filters as bytes: whole, for a file of this node's, and in pieces, for peers that fetch a copy. A snapshot is dropped when no peer has asked for it for some time, or
//! when there are too many.

use lacuna_base::Result;

use crate::config::Config;
use crate::key_id::TableId;
use crate::message::{CHUNK_BYTES, Message, Version};
use crate::presence::NodeFilter;
use crate::wire::reader;

use super::{Own, Publisher};

/// A filter as bytes, as it was when a peer began to fetch it.
#[derive(Debug)]
pub(super) struct Snapshot {
    version: Version,
    generation: u64,
    check: u32,
    bytes: Vec<u8>,
    asked_at: u64,
}

impl Publisher {
    /// A ready filter, unless it says nothing.
    pub(crate) fn saved(&self, table: TableId) -> Option<Vec<u8>> {
        let own = self.tables.get(&table)?;
        (own.is_ready && !own.filter.is_unknown()).then(|| own.filter.to_bytes())
    }

    /// The reverse, for a filter that is not ready and holds nothing yet.
    pub(crate) fn restore(&mut self, table: TableId, bytes: &[u8], keeps_dead: bool) -> Result<bool> {
        let mut filter = NodeFilter::read_from(&mut reader(bytes))?;
        if !keeps_dead {
            filter.forget_deletions();
        }
        let is_new =
            |own: &&mut Own| !own.is_ready && own.filter.key_count() == 0 && !own.filter.is_unknown();
        let Some(own) = self.tables.get_mut(&table).filter(is_new) else { return Ok(false) };
        if filter.is_unknown() {
            return Ok(false);
        }
        own.filter = filter;
        own.shrink();
        self.renew(table);
        Ok(true)
    }

    /// A piece of a snapshot; the first piece if `sequence` does not name the one that is here. Other peers can use that one too
    /// while the deltas since it are kept: so peers that fetch at the same time share it.
    pub(crate) fn chunk(
        &mut self,
        config: &Config,
        now: u64,
        (table, sequence, index): (TableId, u64, u64),
    ) -> Option<Message> {
        let own = self.tables.get(&table).filter(|own| own.is_ready)?;
        let kept = self.snapshots.get(&table);
        let is_kept = kept.is_some_and(|kept| kept.version.sequence == sequence);
        let is_shared = kept.is_some_and(|kept| {
            kept.asked_at + config.interval > now && self.has_deltas_behind(kept.version.sequence)
        });
        if !is_kept && !is_shared {
            let bytes = own.filter.to_bytes();
            let (version, generation) = (self.version, own.announced_generation());
            let snapshot =
                Snapshot { version, generation, check: crc32c::crc32c(&bytes), bytes, asked_at: now };
            self.snapshots.insert(table, snapshot);
            self.make_room(config, table);
        }
        let Snapshot { version, generation, check, bytes, asked_at } = self.snapshots.get_mut(&table)?;
        *asked_at = now;
        let index = if is_kept { index } else { 0 };
        let count = bytes.len().div_ceil(CHUNK_BYTES).max(1) as u64;
        let piece = bytes.chunks(CHUNK_BYTES).nth(usize::try_from(index).ok()?).unwrap_or_default().to_vec();
        let (version, generation, check) = (*version, *generation, *check);
        (index < count).then_some(Message::Chunk {
            table,
            version,
            generation,
            index,
            count,
            check,
            bytes: piece,
        })
    }

    /// Drops the snapshots that no peer has asked for since `before`: a peer that still fetches one begins again.
    pub(crate) fn forget_snapshots(&mut self, before: u64) {
        self.snapshots.retain(|_, kept| kept.asked_at >= before);
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
            self.snapshots.remove(&oldest);
        }
    }
}
