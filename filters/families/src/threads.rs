//! How many threads a build is worth.

use std::num::NonZeroUsize;
use std::ops::Range;

/// Keys that a thread should have at least, so that starting it is a small part of its time.
const MIN_KEYS: usize = 1 << 15;

/// The threads that a build may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads {
    count: usize,
    /// Keys that a thread should have at least.
    min_keys: usize,
}

impl Threads {
    /// The caller's alone.
    pub(crate) const ONE: Self = Self { count: 1, min_keys: MIN_KEYS };

    /// At most `count`.
    pub(crate) fn up_to(count: NonZeroUsize) -> Self {
        Self { count: count.get(), min_keys: MIN_KEYS }
    }

    /// `count`, however few keys there are.
    #[cfg(test)]
    pub(crate) fn forced(count: usize) -> Self {
        Self { count, min_keys: 1 }
    }

    /// One fewer, but one at least.
    pub(crate) fn less_one(self) -> Self {
        Self { count: self.count.saturating_sub(1).max(1), ..self }
    }

    /// Pieces that `keys` keys are cut into: 1 if they are too few for two threads.
    pub(crate) fn pieces(self, keys: usize) -> usize {
        self.count.min(keys / self.min_keys).max(1)
    }
}

/// The places of piece `index` of `pieces` pieces of `len` items, all of nearly the same length.
pub(crate) fn piece_of(len: usize, pieces: usize, index: usize) -> Range<usize> {
    let start = |index: usize| len / pieces * index + (len % pieces).min(index);
    start(index)..start(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_are_one_piece() {
        let three = Threads::up_to(NonZeroUsize::new(3).expect("not zero"));
        let pieces = [0, 1, MIN_KEYS, 2 * MIN_KEYS - 1, 2 * MIN_KEYS, 3 * MIN_KEYS, usize::MAX];
        assert_eq!(pieces.map(|keys| three.pieces(keys)), [1, 1, 1, 1, 2, 3, 3]);
        assert_eq!(Threads::ONE.pieces(usize::MAX), 1);
        assert_eq!([0, 1, 2, 9].map(|keys| Threads::forced(5).pieces(keys)), [1, 1, 2, 5]);
        assert_eq!(three.less_one().less_one().less_one().pieces(usize::MAX), 1);
    }

    #[test]
    fn pieces_follow_one_another() {
        for (len, pieces) in [(0, 1), (0, 3), (1, 3), (10, 3), (11, 3), (12, 3), (usize::MAX, 7)] {
            let ends: Vec<Range<usize>> = (0..pieces).map(|index| piece_of(len, pieces, index)).collect();
            assert!(ends.windows(2).all(|pair| pair[0].end == pair[1].start), "{ends:?}");
            assert_eq!((ends[0].start, ends[pieces - 1].end), (0, len));
            let longest = ends.iter().map(ExactSizeIterator::len).max();
            assert!(longest.is_some_and(|longest| ends.iter().all(|piece| piece.len() + 1 >= longest)));
        }
    }
}
