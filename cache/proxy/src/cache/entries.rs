//! Replies in memory: found by their whole identity, dropped by their interval, and the least used ones by size.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::IntervalTree;

use super::results::Walked;
use super::span::{ColumnId, Span, Spans};

/// What an entry takes beside its key and its reply, nearly: two maps, the tree and the queue.
const OVERHEAD: usize = 340;
/// What each interval but the first takes, nearly.
const OVERHEAD_OF_SPAN: usize = 100;

/// The bytes of a statement's identity.
pub(crate) type Key = Arc<[u8]>;

/// What people are shown of an entry.
#[derive(Debug, Clone)]
pub(crate) struct About {
    /// The shape of its statement.
    pub(crate) shape: Arc<str>,
    /// Time that the server took for it.
    pub(crate) took: Duration,
}

/// A reply that is there.
#[derive(Debug)]
pub(crate) struct Entry {
    number: u64,
    pub(crate) column: ColumnId,
    pub(crate) spans: Spans,
    pub(crate) reply: Arc<[u8]>,
    pub(crate) about: About,
    /// How often it was asked for.
    pub(crate) hits: u64,
    /// Whether it was asked for since the queue last passed it.
    is_used: bool,
}

/// The entries of all registered columns.
#[derive(Debug)]
pub(crate) struct Entries {
    by_key: HashMap<Key, Entry>,
    keys: BTreeMap<u64, Key>,
    trees: Vec<IntervalTree<i64, u64>>,
    /// The order in which they are asked to leave; numbers of entries that have gone are skipped.
    queue: VecDeque<u64>,
    next: u64,
    bytes: usize,
    max_bytes: usize,
}

impl Entries {
    pub(crate) fn new(column_count: usize, max_bytes: usize) -> Self {
        Self {
            by_key: HashMap::new(),
            keys: BTreeMap::new(),
            trees: (0..column_count).map(|_| IntervalTree::new()).collect(),
            queue: VecDeque::new(),
            next: 0,
            bytes: 0,
            max_bytes,
        }
    }

    pub(crate) fn get(&mut self, key: &[u8]) -> Option<&Entry> {
        let entry = self.by_key.get_mut(key)?;
        entry.is_used = true;
        entry.hits += 1;
        Some(entry)
    }

    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.by_key.contains_key(key)
    }

    pub(crate) fn insert(
        &mut self,
        key: Key,
        (column, spans): (ColumnId, Spans),
        reply: Arc<[u8]>,
        about: About,
    ) {
        self.remove(&key);
        let size = size(&key, &reply, &spans);
        if size > self.max_bytes {
            return;
        }
        self.make_room(self.max_bytes - size);
        let number = self.next;
        self.next += 1;
        self.bytes += size;
        for span in spans.iter() {
            self.trees[column].insert(span.interval(), number);
        }
        self.keys.insert(number, key.clone());
        self.queue.push_back(number);
        self.by_key.insert(key, Entry { number, column, spans, reply, about, hits: 0, is_used: false });
    }

    /// Adds up to `max` entries from this number on, and returns the number from which others may follow.
    pub(crate) fn walk(&self, from: u64, max: usize, to: &mut Vec<Walked>) -> Option<u64> {
        let mut last = None;
        for (number, key) in self.keys.range(from..).take(max) {
            last = Some(number + 1).filter(|_| to.len() + 1 == max);
            if let Some(Entry { column, spans, about, reply, hits, .. }) = self.by_key.get(key) {
                let About { shape, took } = about.clone();
                let (spans, bytes) = (spans.clone(), size(key, reply, spans));
                to.push(Walked { column: *column, spans, shape, took, hits: *hits, bytes });
            }
        }
        last
    }

    /// Drops what overlaps these intervals, and returns how many there were.
    pub(crate) fn drop_touched(&mut self, spans: &[(ColumnId, Span)]) -> usize {
        let before = self.len();
        for (column, span) in spans {
            let interval = span.interval();
            let numbers: Vec<u64> =
                self.trees[*column].overlapping(&interval).map(|entry| entry.value).collect();
            numbers.into_iter().for_each(|number| self.remove_number(number));
        }
        before - self.len()
    }

    /// Drops all, and returns it: to free it takes as long as there are many.
    #[must_use]
    pub(crate) fn clear(&mut self) -> Self {
        let empty = Self { next: self.next, ..Self::new(self.trees.len(), self.max_bytes) };
        mem::replace(self, empty)
    }

    /// Makes room for columns up to this number of them.
    pub(crate) fn grow(&mut self, column_count: usize) {
        self.trees.resize_with(column_count.max(self.trees.len()), IntervalTree::new);
    }

    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Second chance: an entry that was asked for goes to the end of the queue once.
    fn make_room(&mut self, bytes: usize) {
        while self.bytes > bytes {
            let Some(number) = self.queue.pop_front() else { return };
            let Some(key) = self.keys.get(&number).cloned() else { continue };
            match self.by_key.get_mut(&key) {
                Some(entry) if entry.is_used => {
                    entry.is_used = false;
                    self.queue.push_back(number);
                }
                _ => self.remove(&key),
            }
        }
        if self.queue.len() > 2 * self.keys.len() + 1_000 {
            self.queue.retain(|number| self.keys.contains_key(number));
        }
    }

    fn remove_number(&mut self, number: u64) {
        if let Some(key) = self.keys.get(&number).cloned() {
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(Entry { number, column, spans, reply, .. }) = self.by_key.remove(key) {
            for span in spans.iter() {
                self.trees[column].remove(&span.interval(), number);
            }
            self.keys.remove(&number);
            self.bytes -= size(key, &reply, &spans);
        }
    }
}

fn size(key: &[u8], reply: &[u8], spans: &Spans) -> usize {
    key.len() + reply.len() + OVERHEAD + (spans.iter().len() - 1) * OVERHEAD_OF_SPAN
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(number: u8) -> Key {
        Arc::from([number; 10])
    }

    fn about() -> About {
        About { shape: "".into(), took: Duration::ZERO }
    }

    fn add(entries: &mut Entries, number: u8, column: ColumnId, low: i64, high: i64) {
        entries.insert(key(number), (column, Span { low, high }.into()), Arc::from([number; 20]), about());
    }

    fn touching(column: ColumnId, low: i64, high: i64) -> [(ColumnId, Span); 1] {
        [(column, Span { low, high })]
    }

    #[test]
    fn a_write_drops_what_overlaps_it() {
        let mut entries = Entries::new(2, 1 << 20);
        for (number, low) in [(1, 10), (2, 20), (3, 30)] {
            add(&mut entries, number, 0, low, low + 5);
        }
        add(&mut entries, 4, 1, 20, 25);
        assert_eq!(entries.drop_touched(&touching(0, 25, 30)), 2);
        assert!(entries.get(&key(2)).is_none() && entries.get(&key(3)).is_none());
        assert!(entries.get(&key(1)).is_some() && entries.get(&key(4)).is_some());
        assert_eq!(entries.clear().len(), 2);
        assert_eq!((entries.len(), entries.bytes()), (0, 0));
    }

    #[test]
    fn a_write_between_the_intervals_of_an_entry_leaves_it() {
        let mut entries = Entries::new(1, 1 << 20);
        let listed = Spans::union([3, 7, 9].map(|value| Span { low: value, high: value }).into()).unwrap();
        for (number, touched) in [(1, 3), (2, 7), (3, 9)] {
            entries.insert(key(number), (0, listed.clone()), Arc::from([number; 20]), about());
            for between in [2, 4, 8, 10] {
                assert_eq!(entries.drop_touched(&touching(0, between, between)), 0, "{between}");
            }
            assert_eq!(entries.drop_touched(&touching(0, touched, touched)), 1, "{touched}");
            assert_eq!((entries.len(), entries.bytes(), entries.trees[0].len()), (0, 0, 0));
        }
    }

    #[test]
    fn the_least_used_leave_first() {
        let one = size(&[0; 10], &[0; 20], &Span::ALL.into());
        let mut entries = Entries::new(1, 3 * one);
        (1..=3).for_each(|number| add(&mut entries, number, 0, 0, 0));
        assert!(entries.get(&key(1)).is_some());
        add(&mut entries, 4, 0, 0, 0);
        assert!(entries.get(&key(2)).is_none(), "it was not asked for");
        assert!(entries.get(&key(1)).is_some() && entries.get(&key(4)).is_some());
        assert_eq!(entries.bytes(), 3 * one);
        entries.insert(key(9), (0, Span::ALL.into()), vec![0; 4 * one].into(), about());
        assert_eq!(entries.len(), 3, "a reply that is larger than all room is not kept");
    }

    proptest! {
        #[test]
        fn entries_are_those_of_a_plain_list(
            steps in prop::collection::vec((0u8..4, any::<u8>(), 0i64..50, 0i64..9), 0..200),
        ) {
            let mut entries = Entries::new(1, 1 << 20);
            let mut model: HashMap<u8, Span> = HashMap::new();
            for (step, number, low, len) in steps {
                let span = Span { low, high: low + len };
                if step == 0 {
                    entries.drop_touched(&touching(0, low, low + len));
                    model.retain(|_, of| !of.overlaps(span));
                } else {
                    add(&mut entries, number, 0, low, low + len);
                    model.insert(number, span);
                }
                prop_assert_eq!(entries.len(), model.len());
                prop_assert_eq!(entries.keys.len(), model.len());
                for number in model.keys() {
                    prop_assert!(entries.get(&key(*number)).is_some());
                }
            }
        }
    }
}
