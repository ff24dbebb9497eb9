//! What the next delta will hold.

use std::collections::BTreeMap;
use std::mem;

use crate::key_id::{KeyId, TableId};
use crate::message::{CHUNK_BYTES, TableDelta};
use crate::slots::Slots;

/// Words of eight bytes, one for a key and three for a mark, that close a delta: half a mebibyte, as a piece of a snapshot.
const MAX_WORDS: usize = CHUNK_BYTES / 8;

/// Changes of tables that are in no delta yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    tables: BTreeMap<TableId, TableDelta>,
    words: usize,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether it is as much as one delta may hold.
    pub(super) fn is_large(&self) -> bool {
        self.words >= MAX_WORDS
    }

    /// A key is live.
    pub(super) fn add_key(&mut self, table: TableId, hash: u64) {
        self.tables.entry(table).or_default().keys.push(hash);
        self.words += 1;
    }

    /// A key is dead, or a margin is proven.
    pub(super) fn add_mark(&mut self, table: TableId, id: KeyId, number: u64) {
        self.tables.entry(table).or_default().dead.push((id, number));
        self.words += 3;
    }

    /// A write has taken a mark off since.
    pub(super) fn take_mark_off(&mut self, table: TableId, id: KeyId) {
        if let Some(delta) = self.tables.get_mut(&table) {
            delta.dead.retain(|(dead, _)| *dead != id);
        }
    }

    /// These slots are open.
    pub(super) fn open(&mut self, table: TableId, slots: Slots) {
        self.tables.entry(table).or_default().open = Some(slots);
    }

    /// All that is known of a table is void.
    pub(super) fn reset(&mut self, table: TableId) {
        self.tables.insert(table, TableDelta { is_reset: true, ..TableDelta::default() });
    }

    /// All of it, which is in a delta from now on.
    pub(super) fn take(&mut self) -> Vec<(TableId, TableDelta)> {
        self.words = 0;
        mem::take(&mut self.tables).into_iter().collect()
    }
}
