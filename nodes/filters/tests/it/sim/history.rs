//! What clients did, and whether "empty" was a lie.
//!
//! A read that began after a write was acknowledged may be empty only if a deletion that is not older was sent by then.

use std::collections::BTreeMap;

use super::network::Change;

#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) key: u64,
    pub(crate) change: Change,
    /// What the store compares by.
    pub(crate) time: u64,
    /// The owners of whom one each, or most of each, must have acknowledged, once the operation went out.
    pub(crate) needed: [Vec<usize>; 2],
    pub(crate) acknowledged_by: Vec<usize>,
    pub(crate) acknowledged_at: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    /// Whether most owners have to acknowledge, not one.
    quorum: bool,
    /// Whether a row that a read has shown counts as acknowledged.
    shown_counts: bool,
    pub(crate) operations: BTreeMap<u64, Operation>,
    by_key: BTreeMap<u64, Vec<u64>>,
    next: u64,
}

/// More than half.
pub(crate) fn quorum_of(owners: &[usize]) -> usize {
    owners.len() / 2 + 1
}

impl History {
    pub(crate) fn new(quorum: bool, shown_counts: bool) -> Self {
        Self { quorum, shown_counts, ..Self::default() }
    }

    pub(crate) fn begin(&mut self, operation: Operation) -> u64 {
        self.next += 1;
        self.by_key.entry(operation.key).or_default().push(self.next);
        self.operations.insert(self.next, operation);
        self.next
    }

    pub(crate) fn acknowledge(&mut self, now: u64, operation: u64, by: usize) {
        let operation = self.operations.get_mut(&operation).unwrap();
        operation.acknowledged_by.push(by);
        let has = |owners: &Vec<usize>| {
            let acknowledged = owners.iter().filter(|owner| operation.acknowledged_by.contains(owner));
            acknowledged.count() >= if self.quorum { quorum_of(owners) } else { 1 }
        };
        if operation.needed.iter().all(has) {
            operation.acknowledged_at.get_or_insert(now);
        }
    }

    /// A read has shown a key's row of a time; whether no client was sure of it before.
    pub(crate) fn reveal(&mut self, now: u64, key: u64, time: u64) -> bool {
        let mut is_first = false;
        for number in self.by_key.get(&key).into_iter().flatten().filter(|_| self.shown_counts) {
            let operation = self.operations.get_mut(number).unwrap();
            if operation.change == Change::Write
                && operation.time == time
                && operation.acknowledged_at.is_none()
            {
                operation.acknowledged_at = Some(now);
                is_first = true;
            }
        }
        is_first
    }

    /// When the write was acknowledged that an empty answer to a read denies, if it denies one.
    pub(crate) fn denied(&self, key: u64, began: u64) -> Option<u64> {
        let operations =
            || self.by_key.get(&key).into_iter().flatten().map(|number| &self.operations[number]);
        let deleted = operations()
            .filter(|operation| operation.change == Change::Delete)
            .map(|delete| delete.time)
            .max();
        let writes = operations()
            .filter(|operation| operation.change == Change::Write && Some(operation.time) > deleted);
        writes.filter_map(|write| write.acknowledged_at).filter(|at| *at < began).min()
    }

    /// Whether the key was never written.
    pub(crate) fn is_untouched(&self, key: u64) -> bool {
        !self.by_key.contains_key(&key)
    }
}
