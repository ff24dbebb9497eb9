//! Where the file with a tag has its place, for callers that know only the tag.
//!
//! A table of small numbers, four for each place: a file's stand within eight of where its tag points. Readers take a
//! number as a guess and check it at the place itself, so a number that is being changed may cost a gap but never gives
//! a false answer. Tags are practically random, so a table filled to a quarter almost never overflows; if it does, the
//! file that was there is not found until it learns again.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::learned_gaps::file_tag::FileTag;

/// Most bytes of the table for each place: four numbers, rounded up to a power of two.
pub(super) const INDEX_BYTES: usize = 8 * size_of::<AtomicU32>();
/// Numbers that are looked at for a tag.
const WINDOW: usize = 8;
/// Where no place is noted.
const NONE: u32 = 0;

/// Guesses of places by tag. One writer at a time.
#[derive(Debug)]
pub(super) struct TagIndex {
    /// One more than the place.
    slots: Box<[AtomicU32]>,
}

impl TagIndex {
    pub(super) fn for_places(count: usize) -> Self {
        let slots = if count == 0 { 0 } else { (4 * count).next_power_of_two().max(WINDOW) };
        Self { slots: (0..slots).map(|_| AtomicU32::new(NONE)).collect() }
    }

    /// Places that may be the file's, eight at most.
    pub(super) fn places_of(&self, tag: FileTag) -> impl Iterator<Item = usize> {
        let noted = self.window(tag).map(|slot| slot.load(Relaxed)).filter(|&noted| noted != NONE);
        noted.map(|noted| noted as usize - 1)
    }

    pub(super) fn insert(&self, tag: FileTag, place: usize) {
        let free = self.window(tag).find(|slot| slot.load(Relaxed) == NONE);
        let noted = u32::try_from(place + 1);
        if let (Some(slot), Ok(noted)) = (free.or_else(|| self.window(tag).last()), noted) {
            slot.store(noted, Relaxed);
        }
    }

    /// Notes the place again unless it still is.
    pub(super) fn restore(&self, tag: FileTag, place: usize) {
        if !self.places_of(tag).any(|noted| noted == place) {
            self.insert(tag, place);
        }
    }

    pub(super) fn remove(&self, tag: FileTag, place: usize) {
        let noted = self.window(tag).filter(|slot| slot.load(Relaxed) as usize == place + 1);
        noted.for_each(|slot| slot.store(NONE, Relaxed));
    }

    fn window(&self, tag: FileTag) -> impl Iterator<Item = &AtomicU32> {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits choose a slot")]
        let first = tag.halves()[0] as usize;
        let steps = if self.slots.is_empty() { 0 } else { WINDOW };
        (0..steps).map(move |step| &self.slots[first.wrapping_add(step) & (self.slots.len() - 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(number: u8) -> FileTag {
        FileTag([number; 16])
    }

    #[test]
    fn a_place_is_found_until_it_is_removed() {
        let index = TagIndex::for_places(9);
        index.insert(tag(1), 0);
        index.insert(tag(2), 8);
        assert!(index.places_of(tag(1)).any(|place| place == 0));
        assert!(index.places_of(tag(2)).any(|place| place == 8));
        index.remove(tag(2), 8);
        assert!(!index.places_of(tag(2)).any(|place| place == 8));
        assert!(index.places_of(tag(1)).any(|place| place == 0));
    }

    #[test]
    fn a_full_window_forgets_and_keeps_its_size() {
        let index = TagIndex::for_places(2);
        (0..100).for_each(|place| index.insert(tag(7), place));
        assert_eq!(index.places_of(tag(7)).count(), WINDOW);
        assert!(index.places_of(tag(7)).any(|place| place == 99));
        assert_eq!(TagIndex::for_places(0).places_of(tag(7)).count(), 0);
        for count in 1..300 {
            assert!(size_of_val(&*TagIndex::for_places(count).slots) <= count * INDEX_BYTES);
        }
    }
}
