//! Transactions that are in the log, but not visible to all yet.
//!
//! PostgreSQL writes a commit into the log, waits for its replicas (`synchronous_standby_names`), makes the
//! changes visible, and then releases the lock that each transaction has on its own number. An alarm before the
//! changes are visible would drop old results, and they would be cached once more. So a foreign write is reported
//! at the first look at which its lock is released: until it is visible, old rows are correct.

use std::collections::{BTreeMap, BTreeSet};

/// Numbers of foreign transactions, and the tables that they touch.
#[derive(Debug, Default)]
pub(super) struct Pending(BTreeMap<String, BTreeSet<String>>);

impl Pending {
    pub(super) fn add(&mut self, xid: String, tables: BTreeSet<String>) {
        self.0.entry(xid).or_default().extend(tables);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tables of transactions that have released their locks, if `locked` was read after their commits; each is
    /// reported once.
    pub(super) fn shown(&mut self, locked: &BTreeSet<String>) -> BTreeSet<String> {
        let all = std::mem::take(&mut self.0);
        let (waiting, shown): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|(xid, _)| locked.contains(xid));
        self.0 = waiting;
        shown.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_stranger_is_told_of_once_it_is_shown() {
        let mut pending = Pending::default();
        assert!(pending.is_empty() && pending.shown(&set(&["6"])).is_empty());
        pending.add("7".to_owned(), set(&["people"]));
        pending.add("8".to_owned(), set(&["orders", "people"]));
        pending.add("9".to_owned(), set(&["items"]));
        assert_eq!(pending.shown(&set(&["6", "7", "9"])), set(&["orders", "people"]));
        assert!(pending.shown(&set(&["7", "9"])).is_empty() && !pending.is_empty());
        assert_eq!(pending.shown(&set(&["10"])), set(&["items", "people"]));
        assert!(pending.is_empty());
    }
}
