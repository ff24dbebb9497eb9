//! The open slots of a table of this node, and what came to them and is in no delta yet.
//!
//! A slot is opened by the delta that announces the last of some writes of something new, all within an interval. Further writes into it wait
//! for that delta alone, and once every node that relies on this one knows it, for nothing. What they bring is put off: it is announced
//! when a slot of the table is closed, or when it has become much, but nothing waits for it.
//!
//! A key may have a twin in the filter that was put off, in another slot. It is no news here, and yet no holder knows it. So what is put
//! off is kept by its names in the filter, and a twin that is written into a slot that is not open announces it.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::config::Config;
use crate::slots::Slots;

/// Names that are put off at most: to announce them takes less than a millisecond.
const MAX_PUT_OFF: usize = 1 << 12;

/// The slots of one table.
#[derive(Debug, Default)]
pub(super) struct Ingest {
    /// Writes of something new into a slot, within an interval, that open it; 0 for never.
    pub(super) opens_at: u64,
    /// Such writes since `counted_from`, by slot; none before the first.
    writes: Vec<u64>,
    counted_from: u64,
    open: BTreeMap<u8, Opening>,
    /// The name in the filter, and the first half of the name that is announced.
    put_off: BTreeSet<(u64, u64)>,
}

/// What the writes into an open slot have to wait for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    delta: u64,
    is_known: bool,
}

impl Opening {
    /// The delta that says that the slot is open; `None` once every node that relies on this one knows it. A later lease begins with it.
    pub(super) fn barrier(self, config: &Config) -> Option<u64> {
        (!self.is_known && !is_flawed!(config, SlotsOpenEarly)).then_some(self.delta)
    }
}

impl Ingest {
    pub(super) fn new(opens_at: u64) -> Self {
        Self { opens_at, ..Self::default() }
    }

    /// The slots that are open.
    pub(super) fn slots(&self) -> Slots {
        self.open.keys().copied().collect()
    }

    pub(super) fn opening(&self, slot: u8) -> Option<Opening> {
        self.open.get(&slot).copied()
    }

    /// Counts a write of something new, which delta `next` announces at the latest; whether this delta has to open the slot, too.
    pub(super) fn count(&mut self, slot: u8, next: u64) -> bool {
        if self.opens_at == 0 {
            return false;
        }
        if self.writes.is_empty() {
            self.writes = vec![0; Slots::COUNT];
        }
        let writes = &mut self.writes[usize::from(slot)];
        *writes += 1;
        let is_opened = *writes >= self.opens_at && !self.open.contains_key(&slot);
        if is_opened {
            self.open.insert(slot, Opening { delta: next, is_known: false });
        }
        is_opened
    }

    /// All nodes that rely on this one know all deltas up to this one.
    pub(super) fn note_known(&mut self, delta: u64) {
        self.open.values_mut().for_each(|opening| opening.is_known |= opening.delta <= delta);
    }

    /// At the end of an interval, closes the slots to which fewer than half as many writes have come as open one; whether there are any.
    pub(super) fn close(&mut self, now: u64, interval: u64) -> bool {
        if self.writes.is_empty() || now < self.counted_from.saturating_add(interval) {
            return false;
        }
        self.counted_from = now;
        let before = self.open.len();
        let (writes, opens_at) = (&self.writes, self.opens_at);
        self.open.retain(|slot, _| opens_at > 0 && writes[usize::from(*slot)] >= opens_at.div_ceil(2));
        self.writes.fill(0);
        self.open.len() < before
    }

    /// Puts off what a write has brought.
    pub(super) fn put_off(&mut self, name: u64, hash: u64) {
        self.put_off.insert((name, hash));
    }

    /// Whether anything with this name in the filter is put off.
    pub(super) fn has_put_off(&self, name: u64) -> bool {
        self.put_off.range((name, 0)..=(name, u64::MAX)).next().is_some()
    }

    /// Whether it has to be announced, although its slots stay open.
    pub(super) fn has_put_off_much(&self) -> bool {
        self.put_off.len() >= MAX_PUT_OFF
    }

    /// One of what was put off, which is announced now; `false` if it is not among them.
    pub(super) fn take(&mut self, name: u64, hash: u64) -> bool {
        self.put_off.remove(&(name, hash))
    }

    /// The same for all with one name in the filter.
    pub(super) fn take_twins(&mut self, name: u64) -> Vec<u64> {
        let hashes: Vec<u64> =
            self.put_off.range((name, 0)..=(name, u64::MAX)).map(|(_, hash)| *hash).collect();
        for hash in &hashes {
            self.put_off.remove(&(name, *hash));
        }
        hashes
    }

    /// The same for all.
    pub(super) fn take_all(&mut self) -> BTreeSet<(u64, u64)> {
        mem::take(&mut self.put_off)
    }

    /// Copies of the filter are void, with its open slots: the next ones have all keys.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.put_off.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes into a slot, then the end of an interval.
    fn interval(ingest: &mut Ingest, now: u64, slot: u8, writes: u64) -> bool {
        (0..writes).for_each(|_| {
            ingest.count(slot, 1);
        });
        ingest.close(now, 10)
    }

    #[test]
    fn a_slot_stays_open_while_half_as_many_writes_come_as_open_it() {
        let mut ingest = Ingest::new(5);
        assert!(!interval(&mut ingest, 10, 7, 4) && ingest.slots() == Slots::default());
        assert!(!interval(&mut ingest, 20, 7, 5) && ingest.slots() == Slots::from_iter([7]));
        assert!(!interval(&mut ingest, 30, 7, 3) && ingest.slots() == Slots::from_iter([7]));
        assert!(
            !interval(&mut ingest, 39, 7, 2) && ingest.slots() == Slots::from_iter([7]),
            "too early to say"
        );
        assert!(interval(&mut ingest, 40, 7, 0) && ingest.slots() == Slots::default());
    }

    #[test]
    fn each_slot_counts_its_own_writes() {
        let mut ingest = Ingest::new(2);
        let opened: Vec<bool> = [3, 4, 3, 5, 3, 4].into_iter().map(|slot| ingest.count(slot, 9)).collect();
        assert_eq!(opened, [false, false, true, false, false, true]);
        assert_eq!(ingest.slots(), Slots::from_iter([3, 4]));
        assert!(!interval(&mut ingest, 20, 3, 1), "slot 5 was not open");
        assert!(interval(&mut ingest, 30, 3, 1), "nothing came to slot 4");
        assert_eq!(ingest.slots(), Slots::from_iter([3]));
    }

    #[test]
    fn none_is_opened_where_none_may_be() {
        let mut ingest = Ingest::new(0);
        assert!(!(0..1_000).any(|_| ingest.count(3, 1)));
        assert_eq!(ingest.slots(), Slots::default());
    }

    #[test]
    fn one_that_may_not_be_open_any_more_is_closed() {
        let mut ingest = Ingest::new(1);
        assert!(ingest.count(3, 1));
        ingest.opens_at = 0;
        assert!(ingest.close(10, 10) && ingest.slots() == Slots::default());
    }

    #[test]
    fn twins_are_taken_together() {
        let mut ingest = Ingest::new(1);
        for (name, hash) in [(1, 10), (2, 20), (2, 21), (3, 30), (2, 21)] {
            ingest.put_off(name, hash);
        }
        assert!(ingest.has_put_off(2) && !ingest.has_put_off(4));
        assert_eq!(ingest.take_twins(2), [20, 21]);
        assert!(!ingest.has_put_off(2) && ingest.take(3, 30) && !ingest.take(3, 30));
        assert_eq!(ingest.take_all().into_iter().collect::<Vec<_>>(), [(1, 10)]);
    }
}
