//! Filters as bytes, in pieces, for whoever fetches a copy.

use crate::key_id::TableId;
use crate::message::{CHUNK_BYTES, Message, Version};
use crate::wire::Writer;

use super::Publisher;

/// A filter as bytes, as it was when a peer began to fetch it.
#[derive(Debug)]
pub(super) struct Snapshot {
    version: Version,
    generation: u64,
    check: u32,
    bytes: Vec<u8>,
}

impl Publisher {
    /// A piece of a snapshot; a new snapshot if `sequence` names none that is still here.
    pub(crate) fn chunk(&mut self, table: TableId, sequence: u64, index: u64) -> Option<Message> {
        let own = self.tables.get(&table).filter(|own| own.is_ready)?;
        let is_kept = self.snapshots.get(&table).is_some_and(|kept| kept.version.sequence == sequence);
        if !is_kept {
            let mut writer = Writer::default();
            own.filter.write_to(&mut writer);
            let bytes = writer.into_bytes();
            let (version, generation) = (self.version, own.generation);
            let snapshot = Snapshot { version, generation, check: crc32c::crc32c(&bytes), bytes };
            self.snapshots.insert(table, snapshot);
        }
        let Snapshot { version, generation, check, bytes } = &self.snapshots[&table];
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
}
