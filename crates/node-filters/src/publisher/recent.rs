//! Keys that are new, until everybody who relies on this node knows them.
//!
//! A row can be read before its write is acknowledged. Whoever has seen it must not be told "empty" afterwards, by a node
//! whose copy has not heard of it: so a read of a recent key waits as its acknowledgement does, a read of any other key does
//! not. For example, key 7 is told by delta 5: a read that finds it waits until delta 5 is known, one of key 8 for nothing.

use std::collections::BTreeMap;

use crate::key_id::{KeyId, TableId};

/// Keys kept; beyond, every key counts as recent.
const MOST_KEYS: usize = 1 << 14;

/// The deltas that tell of keys, and of whole tables.
#[derive(Debug, Default)]
pub(super) struct Recent {
    keys: BTreeMap<(TableId, u64), u64>,
    tables: BTreeMap<TableId, u64>,
    all: u64,
}

impl Recent {
    /// Delta `barrier` will tell of something new in the partition.
    pub(super) fn note(&mut self, table: TableId, partition: KeyId, barrier: u64) {
        if self.keys.len() >= MOST_KEYS {
            self.keys.clear();
            self.all = barrier;
        }
        self.keys.insert((table, partition.hash()), barrier);
    }

    /// Delta `barrier` will void all copies of a table.
    pub(super) fn note_table(&mut self, table: TableId, barrier: u64) {
        self.tables.insert(table, barrier);
    }

    /// The delta that a read of the partition has to wait for; 0 for none.
    pub(super) fn barrier_of(&self, table: TableId, partition: KeyId) -> u64 {
        let of_key = self.keys.get(&(table, partition.hash())).copied().unwrap_or(0);
        let of_table = self.tables.get(&table).copied().unwrap_or(0);
        of_key.max(of_table).max(self.all)
    }

    /// Forgets what is known to all.
    pub(super) fn forget(&mut self, known: u64) {
        self.keys.retain(|_, barrier| *barrier > known);
        self.tables.retain(|_, barrier| *barrier > known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_keys_than_fit_make_every_key_wait() {
        let (mut recent, table) = (Recent::default(), TableId(1));
        let key = |number: usize| KeyId::of_partition(&number.to_le_bytes());
        for number in 0..MOST_KEYS {
            recent.note(table, key(number), 3);
        }
        assert_eq!([recent.barrier_of(table, key(0)), recent.barrier_of(table, key(MOST_KEYS))], [3, 0]);
        recent.note(table, key(MOST_KEYS), 4);
        assert_eq!([recent.barrier_of(table, key(0)), recent.barrier_of(TableId(2), key(0))], [4; 2]);
        assert!(recent.keys.len() <= MOST_KEYS);
    }

    #[test]
    fn what_all_know_is_forgotten() {
        let (mut recent, key) = (Recent::default(), KeyId::of_partition(b"ada"));
        recent.note(TableId(1), key, 3);
        recent.note_table(TableId(2), 5);
        recent.forget(3);
        assert_eq!([recent.barrier_of(TableId(1), key), recent.barrier_of(TableId(2), key)], [0, 5]);
    }
}
