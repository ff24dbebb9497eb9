//! Marks, taken in pieces between which they change.
//!
//! Pieces are taken in the order of marks. While a copy is under way the table notes the marks that change, and what these are at the end
//! takes the place of what they were: what comes out is what was there at the moment of the last piece.

use std::collections::BTreeMap;
use std::mem;

use super::marks::{Mark, MarkTable};

/// Marks that are taken in the time of one changed mark, which may wait for memory.
const MARKS_A_CHANGE: usize = 8;

/// A copy of a [`MarkTable`] that is under way, or whole.
#[derive(Debug, Default)]
pub struct MarkCopy {
    taken: Vec<(Mark, u64)>,
    /// Where the next piece begins; none after the last.
    next: Option<Mark>,
    changed: BTreeMap<Mark, Option<u64>>,
}

impl MarkCopy {
    /// The marks with their numbers, ascending, once the copy is finished. O(n log n).
    pub fn into_marks(mut self) -> Vec<((u64, u64), u64)> {
        self.taken.retain(|(mark, _)| !self.changed.contains_key(mark));
        self.taken.extend(self.changed.into_iter().filter_map(|(mark, number)| Some((mark, number?))));
        self.taken.sort_unstable();
        self.taken
    }
}

impl MarkTable {
    /// Begins a copy. One at a time: another one takes its place.
    pub fn begin_copy(&mut self) -> MarkCopy {
        self.changed = Some(Vec::new());
        MarkCopy { next: Some((0, 0)), ..MarkCopy::default() }
    }

    /// Takes the next `count` marks; `true` if no other is missing, and none that has changed, so that the copy can be
    /// [finished](Self::finish_copy). O(`count`).
    pub fn copy_more(&mut self, copy: &mut MarkCopy, count: usize) -> bool {
        let (count, changes) = (count.max(1), count / MARKS_A_CHANGE);
        if self.changed.is_none() {
            *copy = self.begin_copy();
        }
        let Some(first) = copy.next else { return self.copy_changed(copy, changes) };
        let before = copy.taken.len();
        {
            let mut marks = self.from(first);
            copy.taken.extend(marks.by_ref().take(count));
            copy.next = marks.next().map(|(mark, _)| mark);
        }
        copy.next.is_none() && copy.taken.len() - before < count && self.copy_changed(copy, changes)
    }

    /// Finishes a copy for which the last [`copy_more`](Self::copy_more) was `true`, with nothing in between.
    pub fn finish_copy(&mut self, copy: &mut MarkCopy) {
        self.copy_changed(copy, usize::MAX);
        self.changed = None;
    }

    /// Looks at `count` marks again that have changed; `true` if none is left.
    fn copy_changed(&mut self, copy: &mut MarkCopy, count: usize) -> bool {
        let mut changed = mem::take(&mut self.changed).unwrap_or_default();
        let later = changed.split_off(changed.len().min(count.max(1)));
        for mark in changed {
            copy.changed.insert(mark, self.get(mark));
        }
        let is_done = later.is_empty();
        self.changed = Some(later);
        is_done
    }
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    #[test]
    fn a_copy_has_the_marks_of_its_last_moment() {
        for (seed, count, spread) in
            [(1, 0, 10), (2, 300, 1 << 20), (3, 100_000, u64::MAX), (4, 100_000, 2_000)]
        {
            let (mut rng, mut marks) = (Rng::new(seed), MarkTable::default());
            let draw = |rng: &mut Rng| (rng.below(spread).wrapping_mul(0x9E37_79B9_7F4A_7C15), rng.below(60));
            for number in 0..count {
                marks.insert(draw(&mut rng), number);
            }
            let mut copy = marks.begin_copy();
            let mut steps = 0;
            while !marks.copy_more(&mut copy, 4_000) || steps < 30 {
                steps += 1;
                for _ in 0..rng.below(500) {
                    let mark = draw(&mut rng);
                    if rng.below(3) == 0 {
                        let known = marks.from(mark).next().map_or(mark, |(known, _)| known);
                        marks.remove(known);
                    } else {
                        marks.insert(mark, rng.below(1_000));
                    }
                }
            }
            marks.finish_copy(&mut copy);
            assert!(copy.into_marks() == marks.iter().collect::<Vec<_>>(), "seed {seed}");
        }
    }
}
