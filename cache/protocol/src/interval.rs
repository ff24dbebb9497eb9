//! Intervals with closed, open and missing ends, in one shape.
//!
//! An end lies *between* values: `[5, 9)` starts before 5 and ends before 9. Such a position is a [`Cut`], and
//! cuts are ordered, so that every question about two intervals is two comparisons: they overlap exactly if each
//! starts before the other ends. `[5, 9)` and `[9, 12]` do not overlap; `[5, 9]` and `[9, 12]` do.
//!
//! Guarantee: two intervals that share a value overlap. The converse can fail where a domain has no values between
//! two cuts: `(5, 6)` over integers is an interval here although it is empty. That costs a needless invalidation,
//! never a missed one.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

/// A position between the values of an ordered domain.
///
/// ```
/// use lacuna_cache_protocol::Cut;
///
/// assert!(Cut::Before(5) < Cut::After(5) && Cut::After(5) < Cut::Before(6));
/// assert!(Cut::Least < Cut::Before(i64::MIN) && Cut::After(i64::MAX) < Cut::Greatest);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut<B> {
    /// Below every value.
    Least,
    /// Right below a value.
    Before(B),
    /// Right above a value.
    After(B),
    /// Above every value.
    Greatest,
}

impl<B> Cut<B> {
    /// The value next to which it lies.
    #[inline(always)]
    pub fn value(&self) -> Option<&B> {
        match self {
            Self::Before(value) | Self::After(value) => Some(value),
            Self::Least | Self::Greatest => None,
        }
    }

    /// Position among cuts next to the same value, and of those without one.
    #[inline(always)]
    fn rank(&self) -> u8 {
        match self {
            Self::Least => 0,
            Self::Before(_) => 1,
            Self::After(_) => 2,
            Self::Greatest => 3,
        }
    }
}

impl<B: Ord> Ord for Cut<B> {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.value(), other.value()) {
            (Some(a), Some(b)) => a.cmp(b).then_with(|| self.rank().cmp(&other.rank())),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl<B: Ord> PartialOrd for Cut<B> {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An interval that is not empty: it starts at a cut below its end.
///
/// ```
/// use lacuna_cache_protocol::Interval;
/// use std::ops::Bound::{Excluded, Included, Unbounded};
///
/// let young = Interval::new(Included(18), Excluded(20)).expect("18 < 20");
/// assert!(young.contains(&19) && !young.contains(&20));
/// assert!(young.overlaps(&Interval::new(Unbounded, Included(18)).expect("no lower end")));
/// assert!(Interval::closed(20, 18).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval<B> {
    lo: Cut<B>,
    hi: Cut<B>,
}

impl<B: Ord> Ord for Interval<B> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.lo.cmp(&other.lo).then_with(|| self.hi.cmp(&other.hi))
    }
}

impl<B: Ord> PartialOrd for Interval<B> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<B: Ord> Interval<B> {
    /// The interval between two bounds, or `None` if it is inverted or empty.
    pub fn new(lo: Bound<B>, hi: Bound<B>) -> Option<Self> {
        let lo = match lo {
            Bound::Included(value) => Cut::Before(value),
            Bound::Excluded(value) => Cut::After(value),
            Bound::Unbounded => Cut::Least,
        };
        let hi = match hi {
            Bound::Included(value) => Cut::After(value),
            Bound::Excluded(value) => Cut::Before(value),
            Bound::Unbounded => Cut::Greatest,
        };
        Self::between(lo, hi)
    }

    /// The interval between two cuts, or `None` if it is inverted or empty.
    pub fn between(lo: Cut<B>, hi: Cut<B>) -> Option<Self> {
        (lo < hi).then_some(Self { lo, hi })
    }

    /// `[lo, hi]`, or `None` if it is inverted.
    pub fn closed(lo: B, hi: B) -> Option<Self> {
        Self::new(Bound::Included(lo), Bound::Included(hi))
    }

    /// The whole domain.
    pub const fn all() -> Self {
        Self { lo: Cut::Least, hi: Cut::Greatest }
    }

    /// Where it starts.
    #[inline(always)]
    pub const fn lo(&self) -> &Cut<B> {
        &self.lo
    }

    /// Where it ends.
    #[inline(always)]
    pub const fn hi(&self) -> &Cut<B> {
        &self.hi
    }

    /// Whether `value` lies inside.
    pub fn contains(&self, value: &B) -> bool {
        let above = match &self.lo {
            Cut::Least => true,
            Cut::Before(lo) => lo <= value,
            Cut::After(lo) => lo < value,
            Cut::Greatest => false,
        };
        let below = match &self.hi {
            Cut::Greatest => true,
            Cut::After(hi) => value <= hi,
            Cut::Before(hi) => value < hi,
            Cut::Least => false,
        };
        above && below
    }

    /// Whether the two intervals overlap.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lo < other.hi && other.lo < self.hi
    }

    /// Whether `other` lies inside, ends included.
    #[inline]
    pub fn covers(&self, other: &Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }
}

impl<B> Interval<B> {
    /// Where it starts and where it ends.
    pub(crate) fn into_cuts(self) -> (Cut<B>, Cut<B>) {
        (self.lo, self.hi)
    }
}

impl<B: Ord + Clone> Interval<B> {
    /// `[value, value]`.
    pub fn point(value: B) -> Self {
        Self { lo: Cut::Before(value.clone()), hi: Cut::After(value) }
    }

    /// The overlap of both, if there is one.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let (lo, hi) = (self.lo.clone().max(other.lo.clone()), self.hi.clone().min(other.hi.clone()));
        Self::between(lo, hi)
    }
}

impl<B: fmt::Debug> fmt::Debug for Interval<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.lo {
            Cut::Before(value) => write!(f, "[{value:?}, ")?,
            Cut::After(value) => write!(f, "({value:?}, ")?,
            Cut::Least | Cut::Greatest => f.write_str("(, ")?,
        }
        match &self.hi {
            Cut::After(value) => write!(f, "{value:?}]"),
            Cut::Before(value) => write!(f, "{value:?})"),
            Cut::Least | Cut::Greatest => f.write_str(")"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{self, Excluded, Included, Unbounded};

    use proptest::prelude::*;

    use super::Interval;

    fn bound() -> impl Strategy<Value = Bound<u8>> {
        prop_oneof![(0u8..12).prop_map(Included), (0u8..12).prop_map(Excluded), Just(Unbounded)]
    }

    proptest! {
        #[test]
        fn intervals_that_share_a_value_overlap(a in (bound(), bound()), b in (bound(), bound())) {
            let (Some(a), Some(b)) = (Interval::new(a.0, a.1), Interval::new(b.0, b.1)) else { return Ok(()) };
            let shared: Vec<u8> = (0..=255).filter(|value| a.contains(value) && b.contains(value)).collect();
            prop_assert!(a.overlaps(&b) || shared.is_empty(), "{a:?} {b:?}");
            prop_assert_eq!(a.overlaps(&b), a.intersection(&b).is_some());
            if a.covers(&b) {
                prop_assert!((0..=255).all(|value| a.contains(&value) || !b.contains(&value)), "{a:?} {b:?}");
            }
            if let Some(both) = a.intersection(&b) {
                prop_assert!((0..=255).all(|value| both.contains(&value) == shared.contains(&value)));
            }
        }
    }

    #[test]
    fn inverted_and_empty_intervals_cannot_be_built() {
        assert!(Interval::closed(2, 1).is_none());
        assert!(Interval::new(Included(1), Excluded(1)).is_none());
        assert!(Interval::new(Excluded(1), Excluded(1)).is_none());
        assert!(Interval::closed(1, 1).is_some());
        assert_eq!(format!("{:?}", Interval::new(Excluded(1), Unbounded).expect("no upper end")), "(1, )");
    }
}
