//! Exact marks: 128 bits of hash and a number for each, in at most 32 bytes.
//!
//! Entries stand in order of their hash, as near after the place that the hash names as others let them (linear probing
//! that keeps order). A search ends at the first larger entry, so even at 90 % load it looks at a handful, and a removal
//! closes the hole it leaves.

use lacuna_base::hash::reduce;

/// Places kept free, in percent.
const LOAD_PERCENT: usize = 90;
/// Share of the places below which a removal gives some back: at this one an entry still takes less than 32 bytes, and the next
/// growth leaves more.
const MIN_LOAD_PERCENT: usize = 78;
/// Places at the beginning.
const MIN: usize = 16;
/// Changed marks from which on a copy begins anew.
const MAX_CHANGED: usize = 1 << 20;

/// A hash of 128 bits: the first half names its place, the second distinguishes it from others there.
pub(crate) type Mark = (u64, u64);

/// A map from hashes of 128 bits to a number, about 30 bytes an entry.
///
/// ```
/// let mut marks = lacuna_families::MarkTable::default();
/// assert_eq!(marks.insert((7, 9), 40), None);
/// assert_eq!(marks.get((7, 9)), Some(40));
/// assert_eq!(marks.remove((7, 9)), Some(40));
/// assert_eq!((marks.len(), marks.get((7, 9))), (0, None));
/// ```
#[derive(Debug, Clone, Default)]
pub struct MarkTable {
    /// Ascending where occupied, and each at or after its place.
    entries: Vec<Option<Entry>>,
    /// Places that hashes name; a few more follow.
    places: usize,
    len: usize,
    /// Marks that have changed since a copy was begun, if one is under way.
    pub(super) changed: Option<Vec<Mark>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    mark: Mark,
    /// Kept as one more than it is, so that an empty place costs nothing.
    number: std::num::NonZeroU64,
}

impl MarkTable {
    /// The number of `mark`.
    pub fn get(&self, mark: (u64, u64)) -> Option<u64> {
        let at = self.find(mark).ok()?;
        self.entries[at].map(|entry| entry.number.get() - 1)
    }

    /// The marks with this first half.
    pub fn marks_of(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        let from = self.find((hash, 0)).unwrap_or_else(|at| at);
        let entries = self.entries.get(from..).unwrap_or_default().iter();
        entries.map_while(|entry| entry.map(|entry| entry.mark)).take_while(move |mark| mark.0 == hash)
    }

    /// Gives `mark` a number below 2^64 - 1; the one it had before comes back.
    pub fn insert(&mut self, mark: (u64, u64), number: u64) -> Option<u64> {
        if self.len * 100 >= self.places * LOAD_PERCENT {
            self.resize(self.places + self.places / 8 + MIN);
        }
        self.note(mark);
        let number = std::num::NonZeroU64::new(number.saturating_add(1)).expect("one more than a number");
        match self.find(mark) {
            Ok(at) => self.entries[at].replace(Entry { mark, number }).map(|old| old.number.get() - 1),
            Err(at) => {
                self.shift_in(at, Entry { mark, number });
                self.len += 1;
                None
            }
        }
    }

    /// Forgets `mark`; its number comes back.
    pub fn remove(&mut self, mark: (u64, u64)) -> Option<u64> {
        let mut hole = self.find(mark).ok()?;
        self.note(mark);
        let removed = self.entries[hole].take();
        while let Some(next) = self.entries.get(hole + 1).copied().flatten()
            && self.place_of(next.mark) <= hole
        {
            self.entries.swap(hole, hole + 1);
            hole += 1;
        }
        self.len -= 1;
        if self.len * 100 < self.places * MIN_LOAD_PERCENT && self.places > 4 * MIN {
            self.resize(self.len + self.len / 6 + MIN);
        }
        removed.map(|entry| entry.number.get() - 1)
    }

    /// All marks with their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = ((u64, u64), u64)> {
        self.entries.iter().flatten().map(|entry| (entry.mark, entry.number.get() - 1))
    }

    /// The marks from `first` on, ascending.
    pub(super) fn from(&self, first: Mark) -> impl Iterator<Item = (Mark, u64)> {
        let from = self.find(first).unwrap_or_else(|at| at);
        let entries = self.entries.get(from..).unwrap_or_default().iter().flatten();
        entries.map(|entry| (entry.mark, entry.number.get() - 1))
    }

    fn note(&mut self, mark: Mark) {
        if let Some(changed) = &mut self.changed {
            changed.push(mark);
        }
        self.changed.take_if(|changed| changed.len() > MAX_CHANGED);
    }

    /// Number of marks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.entries.capacity() * size_of::<Option<Entry>>()
    }

    fn place_of(&self, mark: Mark) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below the number of places")]
        let place = reduce(mark.0, self.places as u64) as usize;
        place
    }

    /// Where `mark` is, or where it would go.
    fn find(&self, mark: Mark) -> Result<usize, usize> {
        let mut at = self.place_of(mark);
        while let Some(entry) = self.entries.get(at).copied().flatten() {
            if entry.mark >= mark {
                return if entry.mark == mark { Ok(at) } else { Err(at) };
            }
            at += 1;
        }
        Err(at)
    }

    /// Puts `entry` at `at` and moves what stood there one further, and so on.
    fn shift_in(&mut self, mut at: usize, entry: Entry) {
        let mut moving = Some(entry);
        while moving.is_some() {
            if at == self.entries.len() {
                self.entries.push(None);
            }
            std::mem::swap(&mut self.entries[at], &mut moving);
            at += 1;
        }
    }

    fn resize(&mut self, places: usize) {
        let old = std::mem::take(&mut self.entries);
        let spare = places / 64 + MIN;
        self.entries = Vec::with_capacity(places + spare);
        self.entries.resize(places, None);
        self.places = places;
        let mut next = 0;
        for entry in old.into_iter().flatten() {
            next = self.place_of(entry.mark).max(next);
            if next >= self.entries.len() {
                self.entries.resize(next + 1, None);
            }
            self.entries[next] = Some(entry);
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lacuna_workload::Rng;

    use super::*;

    #[test]
    fn marks_are_those_of_a_map() {
        for (seed, spread) in [(1, 3), (2, 40), (3, u64::MAX)] {
            let (mut rng, mut marks, mut model) = (Rng::new(seed), MarkTable::default(), BTreeMap::new());
            for step in 0..20_000 {
                let mark = (rng.below(spread).wrapping_mul(0x9E37_79B9_7F4A_7C15), rng.below(60));
                match rng.below(3) {
                    0 => assert_eq!(marks.remove(mark), model.remove(&mark), "seed {seed}, step {step}"),
                    _ => assert_eq!(
                        marks.insert(mark, step),
                        model.insert(mark, step),
                        "seed {seed}, step {step}"
                    ),
                }
                assert_eq!(marks.get(mark), model.get(&mark).copied());
                assert_eq!(marks.len(), model.len());
            }
            assert!(marks.iter().eq(model.iter().map(|(mark, number)| (*mark, *number))), "seed {seed}");
            for mark in model.keys() {
                assert!(marks.marks_of(mark.0).any(|found| found == *mark));
            }
        }
    }

    #[test]
    fn a_mark_takes_at_most_32_bytes() {
        let (mut rng, mut marks) = (Rng::new(4), MarkTable::default());
        for count in 1..50_000 {
            marks.insert((rng.next_u64(), rng.next_u64()), count);
            assert!(count < 1_000 || marks.memory_bytes() as u64 <= 32 * count, "{count} marks");
        }
        let mut all: Vec<_> = marks.iter().map(|(mark, _)| mark).collect();
        all.sort_by_key(|mark| mark.1);
        for mark in all {
            marks.remove(mark);
            let (bytes, count) = (marks.memory_bytes(), marks.len());
            assert!(bytes <= 32 * count.max(1_000), "{bytes} bytes for {count} marks, others removed");
        }
        assert!(marks.is_empty() && marks.memory_bytes() < 4_000);
    }
}
