//! A file in the queue of a seek: where its keys begin, as far as is known, and which of two files comes first.

use std::cmp::Ordering;
use std::ops::Bound;

/// Which way a seek goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the smallest key of the range upwards.
    Forward,
    /// From the largest key of the range downwards.
    Backward,
}

/// What happens to a file whose candidate equals a key that another file is known to hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ties {
    /// It is opened before the key is named: for files that hold versions of one key, where the newest counts.
    #[default]
    Every,
    /// It stays closed while the key is named: for files that share no keys, or when any holder will do. A caller that reads on
    /// past the key may meet it again in that file.
    Any,
}

impl Direction {
    /// Which of two keys is met first.
    pub(super) fn compare<T: Ord>(self, left: &T, right: &T) -> Ordering {
        match self {
            Self::Forward => left.cmp(right),
            Self::Backward => right.cmp(left),
        }
    }

    /// Which of two places is met first: without a bound at the very start, then key by key, a key before what lies
    /// strictly beyond it.
    pub(super) fn compare_places<T: Ord>(self, left: &Bound<T>, right: &Bound<T>) -> Ordering {
        let (Some((left, left_excluded)), Some((right, right_excluded))) = (parts(left), parts(right)) else {
            return parts(left).is_some().cmp(&parts(right).is_some());
        };
        self.compare(left, right).then(left_excluded.cmp(&right_excluded))
    }

    /// Whether every key at `place` or beyond it is beyond `end` too.
    pub(super) fn is_behind<T: Ord>(self, place: &Bound<T>, end: &Bound<T>) -> bool {
        let (Some((place, place_excluded)), Some((end, end_excluded))) = (parts(place), parts(end)) else {
            return false;
        };
        match self.compare(place, end) {
            Ordering::Less => false,
            Ordering::Equal => place_excluded || end_excluded,
            Ordering::Greater => true,
        }
    }
}

/// The key of a bound, and whether it is excluded.
fn parts<T>(bound: &Bound<T>) -> Option<(&T, bool)> {
    match bound {
        Bound::Included(key) => Some((key, false)),
        Bound::Excluded(key) => Some((key, true)),
        Bound::Unbounded => None,
    }
}

/// A file in the queue; the greatest entry is the one whose turn it is.
#[derive(Debug, Clone)]
pub(super) struct Entry<T> {
    pub(super) file: usize,
    /// Closed: all its keys are here or beyond. Open: its next key.
    pub(super) place: Bound<T>,
    pub(super) is_open: bool,
    pub(super) direction: Direction,
    pub(super) ties: Ties,
}

impl<T> Entry<T> {
    /// Whether it is this entry's turn before that of others at the same place.
    fn goes_first(&self) -> bool {
        match self.ties {
            Ties::Every => !self.is_open,
            Ties::Any => self.is_open,
        }
    }
}

impl<T: Ord> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let places = self.direction.compare_places(&other.place, &self.place);
        // Among equals the order in which files are numbered, so that every run is the same.
        places.then(self.goes_first().cmp(&other.goes_first())).then(other.file.cmp(&self.file))
    }
}

impl<T: Ord> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: Ord> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::*;

    #[test]
    fn places_are_met_in_order() {
        let forward = [Unbounded, Included(3), Excluded(3), Included(4)];
        let backward = [Unbounded, Included(4), Excluded(4), Included(3), Excluded(3)];
        for pair in forward.windows(2) {
            assert_eq!(Direction::Forward.compare_places(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
        }
        for pair in backward.windows(2) {
            assert_eq!(Direction::Backward.compare_places(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(Direction::Backward.compare_places(&Included(4), &Included(4)), Ordering::Equal);
    }

    #[test]
    fn places_behind_the_end_hold_nothing() {
        let forward = |place, end| Direction::Forward.is_behind(&place, &end);
        assert!(!forward(Included(4), Included(4)) && forward(Included(5), Included(4)));
        assert!(forward(Excluded(4), Included(4)) && forward(Included(4), Excluded(4)));
        assert!(!forward(Unbounded, Included(4)) && !forward(Included(4), Unbounded));
        let backward = |place, end| Direction::Backward.is_behind(&place, &end);
        assert!(!backward(Included(4), Included(4)) && backward(Included(3), Included(4)));
        assert!(backward(Excluded(4), Included(4)) && !backward(Excluded(5), Included(4)));
    }
}
