//! The index of buffered writes (`BuWrInT`): acknowledged, logged, and not yet in the store.
//!
//! Each has a log sequence number (LSN), and the store applies them in that order, without gaps. This order
//! respects every dependence (overlapping writes are numbered in the order they were made) without a graph, and
//! one number, the last applied, says what is left for a new owner to apply. A query that misses needs the store
//! to have all writes that overlap it: it waits for the last of them. With buffered writes 5 of `[10, 12]` and 6
//! of `[30, 30]`, a query of `[11, 20]` waits for 5.

use std::collections::BTreeMap;

use crate::interval::Interval;
use crate::message::Command;
use crate::query::Touched;
use crate::range_key::RangeKey;
use crate::tree::IntervalTree;

/// A buffered write as the owner knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferedWrite {
    /// The intervals it touches.
    pub touched: Vec<Touched>,
    /// What it does; `None` once it was set aside.
    pub command: Option<Command>,
    /// Whether all copies of the log have it, or the store takes it without them.
    pub may_apply: bool,
}

/// Buffered writes by number and by interval.
#[derive(Debug, Clone)]
pub struct BufferedWrites {
    domains: Vec<IntervalTree<RangeKey, u64>>,
    writes: BTreeMap<u64, BufferedWrite>,
}

impl BufferedWrites {
    /// An index over `domain_count` domains.
    pub fn new(domain_count: usize) -> Self {
        Self { domains: (0..domain_count).map(|_| IntervalTree::new()).collect(), writes: BTreeMap::new() }
    }

    /// Adds the write with number `lsn`.
    pub fn insert(&mut self, lsn: u64, write: BufferedWrite) {
        for (domain, interval) in &write.touched {
            self.domains[*domain].insert(interval.clone(), lsn);
        }
        self.writes.insert(lsn, write);
    }

    /// Takes out the write with number `lsn`: exactly this one, whatever else overlaps it (P6).
    pub fn remove(&mut self, lsn: u64) -> Option<BufferedWrite> {
        let write = self.writes.remove(&lsn)?;
        for (domain, interval) in &write.touched {
            self.domains[*domain].remove(interval, lsn);
        }
        Some(write)
    }

    /// The write with number `lsn`, mutably.
    pub(crate) fn get_mut(&mut self, lsn: u64) -> Option<&mut BufferedWrite> {
        self.writes.get_mut(&lsn)
    }

    /// Numbers of the writes that overlap an interval.
    pub fn overlapping(&self, domain: usize, interval: &Interval<RangeKey>) -> Vec<u64> {
        self.domains[domain].overlapping(interval).map(|entry| entry.value).collect()
    }

    /// Number of the last write that overlaps any of `touched`.
    pub(crate) fn last_overlapping(&self, touched: &[Touched]) -> Option<u64> {
        self.last_overlapping_before(u64::MAX, touched)
    }

    /// The same of writes before the one with number `lsn`. O(log n + overlapping writes).
    pub(crate) fn last_overlapping_before(&self, lsn: u64, touched: &[Touched]) -> Option<u64> {
        let overlapping = |(domain, interval): &Touched| {
            let numbers = self.domains[*domain].overlapping(interval).map(|entry| entry.value);
            numbers.filter(|number| *number < lsn).max()
        };
        touched.iter().filter_map(overlapping).max()
    }

    /// The first writes in order, at most `max`, up to the first that may not be applied yet.
    pub(crate) fn next_to_apply(&self, max: usize) -> impl Iterator<Item = (u64, &BufferedWrite)> {
        self.writes
            .iter()
            .take_while(|(_, write)| write.may_apply)
            .take(max)
            .map(|(lsn, write)| (*lsn, write))
    }

    /// The write with number `lsn` and the later writes that overlap it or, in turn, one of these: all that must
    /// not be applied without it.
    pub(crate) fn dependants(&self, lsn: u64) -> Vec<u64> {
        let mut found = vec![lsn];
        for (later, write) in self.writes.range(lsn + 1..) {
            let depends = |earlier: &u64| {
                let earlier = &self.writes[earlier].touched;
                earlier.iter().any(|a| write.touched.iter().any(|b| a.0 == b.0 && a.1.overlaps(&b.1)))
            };
            if found.iter().any(depends) {
                found.push(*later);
            }
        }
        found
    }

    /// The number of the first write.
    pub fn first(&self) -> Option<u64> {
        self.writes.keys().next().copied()
    }

    /// Bytes of the commands of those that come first, up to `max` of them: counted anew by each call.
    pub fn command_bytes(&self, max: usize) -> usize {
        let commands = self.writes.values().take(max).filter_map(|write| write.command.as_ref());
        commands.map(|command| command.as_bytes().len()).sum()
    }

    /// Number of buffered writes.
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether the store has everything.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(lo: u64, hi: u64) -> BufferedWrite {
        let interval = Interval::closed(lo.into(), hi.into()).expect("lo <= hi");
        BufferedWrite {
            touched: vec![(0, interval)],
            command: Some(Command::new(&lo.to_le_bytes())),
            may_apply: true,
        }
    }

    #[test]
    fn the_example_of_section_4_is_applied_in_order() {
        let mut buffered = BufferedWrites::new(1);
        buffered.insert(1, write(10, 12));
        buffered.insert(2, write(9, 11));
        buffered.insert(3, write(40, 40));
        assert_eq!(buffered.last_overlapping(&write(9, 9).touched), Some(2));
        assert_eq!(buffered.next_to_apply(2).map(|(lsn, _)| lsn).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(buffered.dependants(1), [1, 2]);
    }

    #[test]
    fn dependants_follow_chains() {
        let mut buffered = BufferedWrites::new(1);
        for (lsn, (lo, hi)) in (1..).zip([(1, 2), (2, 3), (50, 60), (3, 4), (4, 5)]) {
            buffered.insert(lsn, write(lo, hi));
        }
        assert_eq!(buffered.dependants(1), [1, 2, 4, 5]);
    }

    #[test]
    fn only_what_is_removed_is_gone() {
        let mut buffered = BufferedWrites::new(1);
        buffered.insert(1, write(1, 5));
        buffered.insert(2, write(1, 5));
        assert!(buffered.remove(1).is_some() && buffered.remove(1).is_none());
        assert_eq!(buffered.last_overlapping(&write(3, 3).touched), Some(2));
    }

    #[test]
    fn a_write_that_is_not_in_all_logs_holds_later_ones_back() {
        let mut buffered = BufferedWrites::new(1);
        buffered.insert(1, BufferedWrite { may_apply: false, ..write(1, 1) });
        buffered.insert(2, write(2, 2));
        assert!(buffered.next_to_apply(10).next().is_none());
        buffered.get_mut(1).expect("inserted above").may_apply = true;
        assert_eq!(buffered.next_to_apply(10).count(), 2);
    }
}
