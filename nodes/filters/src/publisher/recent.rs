//! New keys, until every node that relies on this one knows them.
//!
//! A row can be read before its write is acknowledged. A client that has read it must not get "empty" afterwards from a node
//! whose copy lacks the key: so a read of a recent key waits as its acknowledgement does, and a read of any other key does
//! not. For example, delta 5 announces key 7: a read that finds it waits until delta 5 is known, a read of key 8 does not wait.
//! Key 9 has the same fingerprint as key 7, so it is not announced when it is written: delta 5 announces it too.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem;

use crate::key_id::{KeyId, TableId};

/// Keys kept; beyond, every key counts as recent.
const MAX_KEYS: usize = 1 << 14;
/// Names of twins kept: of a key, and of each bucket that a row is in.
const MAX_NAMES: usize = 8 * MAX_KEYS;
/// Names or keys that are forgotten at once where none have come.
const FORGOTTEN: usize = 1 << 10;
/// Names or keys for which little memory is taken.
const FEW: usize = 1 << 9;

/// The deltas that announce keys, and whole tables.
#[derive(Debug)]
pub(super) struct Recent {
    keys: Barriers,
    /// What stands in the filters for them.
    names: Barriers,
    tables: BTreeMap<TableId, u64>,
    all: u64,
    /// The highest barrier so far.
    last: u64,
}

/// What waits for which delta, up to a number of notes.
#[derive(Debug)]
struct Barriers {
    by_name: HashMap<(TableId, u64), u64>,
    /// In the order in which they came, so that none has to be looked for to be forgotten.
    order: VecDeque<((TableId, u64), u64)>,
    /// Since some were forgotten.
    noted: usize,
    max: usize,
}

impl Barriers {
    fn new(max: usize) -> Self {
        Self { by_name: HashMap::new(), order: VecDeque::new(), noted: 0, max }
    }

    fn get(&self, name: (TableId, u64)) -> Option<u64> {
        self.by_name.get(&name).copied()
    }

    /// Notes a barrier, no lower than one that is noted; `false` if all had to be forgotten for it.
    fn note(&mut self, name: (TableId, u64), barrier: u64) -> bool {
        let noted = self.get(name);
        if noted.is_some_and(|noted| noted >= barrier) {
            return true;
        }
        let has_room = self.order.len() < self.max;
        if !has_room {
            self.by_name.clear();
            self.order.clear();
        }
        if self.order.len() == FEW {
            // Once and for all: to move many takes milliseconds.
            self.by_name.reserve(self.max);
            self.order.reserve(self.max);
        }
        self.by_name.insert(name, barrier);
        self.order.push_back((name, barrier));
        self.noted += 1;
        has_room
    }

    /// Forgets those up to `known`, but for some that came out of order, and for many until the next call: twice as many as have come
    /// since the last one, and some more.
    fn forget(&mut self, known: u64) {
        for _ in 0..FORGOTTEN + 2 * mem::take(&mut self.noted) {
            let Some(&(name, barrier)) = self.order.front().filter(|(_, barrier)| *barrier <= known) else {
                return;
            };
            self.order.pop_front();
            if self.get(name) == Some(barrier) {
                self.by_name.remove(&name);
            }
        }
    }
}

impl Default for Recent {
    fn default() -> Self {
        let (keys, names) = (Barriers::new(MAX_KEYS), Barriers::new(MAX_NAMES));
        Self { keys, names, tables: BTreeMap::new(), all: 0, last: 0 }
    }
}

impl Recent {
    /// Delta `barrier` will announce something new in the partition.
    pub(super) fn note(&mut self, table: TableId, partition: KeyId, barrier: u64) {
        self.last = self.last.max(barrier);
        if !self.keys.note((table, partition.hash()), barrier) {
            // The barrier of a twin may be lower than those so far.
            self.all = self.last;
        }
    }

    /// Delta `barrier` will announce something that has this name in the table's filter.
    pub(super) fn note_name(&mut self, table: TableId, name: u64, barrier: u64) {
        self.last = self.last.max(barrier);
        if !self.names.note((table, name), barrier) {
            self.all = self.last;
        }
    }

    /// The same for something of which the holders know otherwise that it may be there: only another one with its name waits.
    pub(super) fn note_twins(&mut self, table: TableId, name: u64, barrier: u64) {
        if !self.names.note((table, name), barrier) {
            self.last = self.last.max(barrier);
            self.all = self.last;
        }
    }

    /// The delta that announces what has this name.
    pub(super) fn barrier_of_name(&self, table: TableId, name: u64) -> Option<u64> {
        self.names.get((table, name))
    }

    /// Delta `barrier` will void all copies of a table.
    pub(super) fn note_table(&mut self, table: TableId, barrier: u64) {
        self.tables.insert(table, barrier);
        self.last = self.last.max(barrier);
    }

    /// The delta that a read of the partition has to wait for; 0 for none.
    pub(super) fn barrier_of(&self, table: TableId, partition: KeyId) -> u64 {
        let of_key = self.keys.get((table, partition.hash())).unwrap_or(0);
        let of_table = self.tables.get(&table).copied().unwrap_or(0);
        of_key.max(of_table).max(self.all)
    }

    /// The last delta that a read of any partition has to wait for; 0 for none.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Forgets what is known to all.
    pub(super) fn forget(&mut self, known: u64) {
        self.keys.forget(known);
        self.names.forget(known);
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
        for number in 0..MAX_KEYS {
            recent.note(table, key(number), 3);
        }
        assert_eq!([recent.barrier_of(table, key(0)), recent.barrier_of(table, key(MAX_KEYS))], [3, 0]);
        recent.note(table, key(MAX_KEYS), 4);
        assert_eq!([recent.barrier_of(table, key(0)), recent.barrier_of(TableId(2), key(0))], [4; 2]);
        assert!(recent.keys.by_name.len() <= MAX_KEYS);
    }

    #[test]
    fn a_twin_of_an_older_key_too_many_lowers_no_barrier() {
        let (mut recent, table) = (Recent::default(), TableId(1));
        let key = |number: usize| KeyId::of_partition(&number.to_le_bytes());
        (0..MAX_KEYS).for_each(|number| recent.note(table, key(number), 7));
        recent.note(table, key(MAX_KEYS), 6);
        assert_eq!([0, 1, MAX_KEYS].map(|number| recent.barrier_of(table, key(number))), [7; 3]);
    }

    #[test]
    fn more_names_than_fit_make_every_key_wait() {
        let (mut recent, table) = (Recent::default(), TableId(1));
        (0..MAX_NAMES as u64).for_each(|name| recent.note_name(table, name, 7));
        let key = KeyId::of_partition(b"ada");
        assert_eq!((recent.barrier_of_name(table, 3), recent.barrier_of(table, key)), (Some(7), 0));
        recent.note_name(table, u64::MAX, 8);
        assert_eq!((recent.barrier_of_name(table, 3), recent.barrier_of(table, key)), (None, 8));
        recent.forget(8);
        assert!(recent.names.by_name.is_empty());
    }

    /// What streams into an open slot raises no flag, unless there is more of it than fits.
    #[test]
    fn only_twins_wait_for_what_came_to_an_open_slot() {
        let (mut recent, table) = (Recent::default(), TableId(1));
        (0..MAX_NAMES as u64).for_each(|name| recent.note_twins(table, name, 7));
        assert_eq!((recent.barrier_of_name(table, 3), recent.last()), (Some(7), 0));
        recent.note_twins(table, u64::MAX, 8);
        let key = KeyId::of_partition(b"ada");
        assert_eq!((recent.barrier_of(table, key), recent.last()), (8, 8));
    }

    #[test]
    fn a_key_waits_for_the_last_of_what_tells_of_it() {
        let (mut recent, key) = (Recent::default(), KeyId::of_partition(b"ada"));
        [3, 5, 4].into_iter().for_each(|barrier| recent.note(TableId(1), key, barrier));
        assert_eq!(recent.barrier_of(TableId(1), key), 5);
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
