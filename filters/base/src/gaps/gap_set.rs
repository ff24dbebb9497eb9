//! Gaps between integers.

use std::fmt;

use super::intervals::{Interval, Intervals};
use crate::range::U64Range;

/// A bounded set of disjoint closed intervals of integers proven empty for one immutable file.
///
/// ```
/// use lacuna_base::{GapSet, U64Range};
///
/// let gaps = GapSet::within(4_096);
/// gaps.learn(U64Range::new(4, 6).expect("4 <= 6"));
/// gaps.learn(U64Range::point(8));
/// assert!(gaps.is_known_empty(U64Range::new(5, 6).expect("5 <= 6")));
/// assert!(!gaps.is_known_empty(U64Range::new(6, 8).expect("6 <= 8")));
/// ```
pub struct GapSet {
    intervals: Intervals<1>,
}

impl GapSet {
    /// Bytes one interval takes: two ends and its clock bit.
    pub const INTERVAL_BYTES: usize = Intervals::<1>::INTERVAL_BYTES;

    /// A set that takes at most `memory_bytes` of memory, itself included; if that is too little for an interval, it
    /// learns nothing.
    pub fn within(memory_bytes: usize) -> Self {
        Self { intervals: Intervals::within(memory_bytes.saturating_sub(size_of::<Self>())) }
    }

    /// Whether `range` lies in an interval that was learned. Takes no lock and allocates nothing.
    pub fn is_known_empty(&self, range: U64Range) -> bool {
        self.intervals.holds(|| Some(interval(range)))
    }

    /// Notes that the file holds no key in `gap`.
    pub fn learn(&self, gap: U64Range) {
        self.intervals.add(|| Some(interval(gap)));
    }

    /// Notes that the file holds no key between its keys `below` and `above`, neither of which is in the gap; `None`
    /// where it holds none at all on that side. Two keys side by side have no gap between them.
    pub fn learn_between(&self, below: Option<u64>, above: Option<u64>) {
        let lo = below.map_or(Some(0), |key| key.checked_add(1));
        let hi = above.map_or(Some(u64::MAX), |key| key.checked_sub(1));
        if let Some(gap) = lo.zip(hi).and_then(|(lo, hi)| U64Range::new(lo, hi)) {
            self.learn(gap);
        }
    }

    /// Forgets everything, for the use by another file.
    pub fn clear(&self) {
        self.intervals.clear(|| ());
    }

    /// Number of intervals.
    pub fn len(&self) -> usize {
        self.intervals.len()
    }

    /// Whether nothing was learned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most intervals it can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.intervals.capacity()
    }

    /// Bytes of memory it takes, however many intervals it holds.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.intervals.memory_bytes()
    }

    /// The intervals, ascending, as they stand between two changes.
    pub fn intervals(&self) -> Vec<U64Range> {
        let intervals = self.intervals.list().into_iter();
        intervals.filter_map(|Interval { lo: [lo], hi: [hi] }| U64Range::new(lo, hi)).collect()
    }
}

fn interval(range: U64Range) -> Interval<1> {
    Interval { lo: [range.lo()], hi: [range.hi()] }
}

impl fmt::Debug for GapSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GapSet").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

#[cfg(test)]
#[path = "gap_set_tests.rs"]
mod tests;
