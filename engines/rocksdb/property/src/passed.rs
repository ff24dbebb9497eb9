//! Which tables let a scan pass: counts by level, and tags where gaps are learned.

use std::array;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use lacuna_guard::{FileTag, LEVELS, MAX_FILES};

/// Answers "maybe" of one scan. RocksDB asks from the thread that iterates, which is also the one that reads this.
pub(crate) struct Passed {
    /// By level; the last place is for tables whose level is not known.
    by_level: [AtomicU32; LEVELS + 1],
    /// `None` unless gaps are learned.
    tags: Option<Tags>,
}

/// Tags of the first tables.
struct Tags {
    count: AtomicUsize,
    halves: [[AtomicU64; 2]; MAX_FILES],
}

impl Passed {
    pub(crate) fn new(with_tags: bool) -> Self {
        let tags = || Tags {
            count: AtomicUsize::new(0),
            halves: array::from_fn(|_| [const { AtomicU64::new(0) }; 2]),
        };
        Self { by_level: array::from_fn(|_| AtomicU32::new(0)), tags: with_tags.then(tags) }
    }

    pub(crate) fn note(&self, level: Option<usize>, tag: Option<FileTag>) {
        self.by_level[place(level)].fetch_add(1, Relaxed);
        if let (Some(tags), Some(tag)) = (&self.tags, tag) {
            let halves = tags.halves.get(tags.count.fetch_add(1, Relaxed));
            let halves = halves.into_iter().flatten();
            halves.zip(tag.halves()).for_each(|(half, number)| half.store(number, Relaxed));
        }
    }

    /// Tables by level.
    pub(crate) fn by_level(&self) -> impl Iterator<Item = (Option<usize>, u64)> {
        let count = |(place, passed): (usize, &AtomicU32)| (level_at(place), u64::from(passed.load(Relaxed)));
        self.by_level.iter().enumerate().map(count)
    }

    /// Tags of the first tables; empty unless gaps are learned.
    pub(crate) fn tags(&self) -> Vec<FileTag> {
        let Some(tags) = &self.tags else { return Vec::new() };
        let noted = tags.halves.iter().take(tags.count.load(Relaxed));
        noted.map(|halves| FileTag::from_halves(halves.each_ref().map(|half| half.load(Relaxed)))).collect()
    }
}

fn place(level: Option<usize>) -> usize {
    level.map_or(LEVELS, |level| level.min(LEVELS - 1))
}

fn level_at(place: usize) -> Option<usize> {
    Some(place).filter(|&place| place < LEVELS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tables_are_noted_and_all_are_counted() {
        let passed = Passed::new(true);
        let tag = |number: usize| FileTag([u8::try_from(number).unwrap(); 16]);
        (0..100).for_each(|number| passed.note(Some(number % 2), Some(tag(number))));
        passed.note(None, None);
        assert_eq!(passed.tags(), (0..MAX_FILES).map(tag).collect::<Vec<_>>());
        let counts: Vec<_> = passed.by_level().filter(|&(_, count)| count > 0).collect();
        assert_eq!(counts, [(Some(0), 50), (Some(1), 50), (None, 1)]);
        let silent = Passed::new(false);
        silent.note(None, Some(tag(1)));
        assert!(silent.tags().is_empty());
    }
}
