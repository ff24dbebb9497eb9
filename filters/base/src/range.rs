//! Ranges that hold at least one key by construction.

use std::ops::Bound;

/// A closed range `[lo, hi]` of integers with `lo <= hi`.
///
/// ```
/// use lacuna_base::U64Range;
/// use std::ops::Bound;
///
/// assert_eq!(U64Range::from_bounds(Bound::Excluded(4), Bound::Excluded(6)), U64Range::new(5, 5));
/// assert_eq!(U64Range::from_bounds(Bound::Excluded(4), Bound::Excluded(5)), None);
/// assert_eq!(U64Range::from_bounds(Bound::Unbounded, Bound::Unbounded), U64Range::new(0, u64::MAX));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct U64Range {
    lo: u64,
    hi: u64,
}

impl U64Range {
    /// The range `[lo, hi]`, or `None` if it is inverted.
    #[inline]
    pub fn new(lo: u64, hi: u64) -> Option<Self> {
        if lo <= hi { Some(Self { lo, hi }) } else { None }
    }

    /// The range of one key.
    #[inline]
    pub fn point(key: u64) -> Self {
        Self { lo: key, hi: key }
    }

    /// The keys between two bounds of any kind, or `None` if there is none.
    pub fn from_bounds(lo: Bound<u64>, hi: Bound<u64>) -> Option<Self> {
        let lo = match lo {
            Bound::Included(lo) => lo,
            Bound::Excluded(lo) => lo.checked_add(1)?,
            Bound::Unbounded => 0,
        };
        let hi = match hi {
            Bound::Included(hi) => hi,
            Bound::Excluded(hi) => hi.checked_sub(1)?,
            Bound::Unbounded => u64::MAX,
        };
        Self::new(lo, hi)
    }

    /// Smallest key of the range.
    #[inline]
    pub fn lo(self) -> u64 {
        self.lo
    }

    /// Largest key of the range.
    #[inline]
    pub fn hi(self) -> u64 {
        self.hi
    }

    /// Whether `key` lies in the range.
    #[inline]
    pub fn contains(self, key: u64) -> bool {
        self.lo <= key && key <= self.hi
    }
}

/// A range of byte strings that holds at least one: `lo` first, up to `hi` or without an upper end.
///
/// Byte strings have no predecessor, so an excluded end cannot be turned into an included one; the range keeps the
/// difference, and a filter that cannot use it looks at the closed range, which holds it.
///
/// ```
/// use lacuna_base::ByteRange;
/// use std::ops::Bound;
///
/// let after = ByteRange::from_bounds(Bound::Excluded(b"b"), Bound::Unbounded).expect("holds \"b\\0\"");
/// assert!(after.contains(b"ba") && !after.contains(b"b"));
/// assert!(ByteRange::from_bounds(Bound::Included(b"b"), Bound::Excluded(b"b")).is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ByteRange<'a> {
    lo: &'a [u8],
    lo_excluded: bool,
    hi: Option<&'a [u8]>,
    hi_excluded: bool,
}

impl<'a> ByteRange<'a> {
    /// The closed range `[lo, hi]`, or `None` if it is inverted.
    pub fn new(lo: &'a [u8], hi: &'a [u8]) -> Option<Self> {
        Self::from_bounds(Bound::Included(lo), Bound::Included(hi))
    }

    /// The range of one key.
    pub fn point(key: &'a [u8]) -> Self {
        Self { lo: key, lo_excluded: false, hi: Some(key), hi_excluded: false }
    }

    /// The keys between two bounds of any kind, or `None` if there is none.
    pub fn from_bounds(lo: Bound<&'a [u8]>, hi: Bound<&'a [u8]>) -> Option<Self> {
        let (lo, lo_excluded) = match lo {
            Bound::Included(lo) => (lo, false),
            Bound::Excluded(lo) => (lo, true),
            Bound::Unbounded => (&[][..], false),
        };
        let (hi, hi_excluded) = match hi {
            Bound::Included(hi) => (Some(hi), false),
            Bound::Excluded(hi) => (Some(hi), true),
            Bound::Unbounded => (None, false),
        };
        let range = Self { lo, lo_excluded, hi, hi_excluded };
        if range.holds_a_key() { Some(range) } else { None }
    }

    fn holds_a_key(&self) -> bool {
        let Some(hi) = self.hi else { return true };
        match (self.lo_excluded, self.hi_excluded) {
            (false, false) => self.lo <= hi,
            (true, true) => self.lo < hi && !is_immediate_successor(self.lo, hi),
            (true, false) | (false, true) => self.lo < hi,
        }
    }

    /// Smallest end, whether or not it is excluded.
    #[inline]
    pub fn lo(self) -> &'a [u8] {
        self.lo
    }

    /// Whether the smallest end itself is outside.
    #[inline]
    pub fn lo_excluded(self) -> bool {
        self.lo_excluded
    }

    /// Largest end, whether or not it is excluded; `None` means that the range has no upper end.
    #[inline]
    pub fn hi(self) -> Option<&'a [u8]> {
        self.hi
    }

    /// Whether the largest end itself is outside.
    #[inline]
    pub fn hi_excluded(self) -> bool {
        self.hi_excluded
    }

    /// The one key of the range, if it is closed and both ends are equal.
    #[inline]
    pub fn as_point(self) -> Option<&'a [u8]> {
        let closed = !self.lo_excluded && !self.hi_excluded;
        if closed && self.hi == Some(self.lo) { Some(self.lo) } else { None }
    }

    /// Whether `key` lies in the range.
    pub fn contains(self, key: &[u8]) -> bool {
        let above_lo = if self.lo_excluded { self.lo < key } else { self.lo <= key };
        let below_hi = match self.hi {
            Some(hi) if self.hi_excluded => key < hi,
            Some(hi) => key <= hi,
            None => true,
        };
        above_lo && below_hi
    }
}

/// Whether no byte string lies strictly between `lo` and `hi`: `hi` is `lo` with a zero byte appended.
fn is_immediate_successor(lo: &[u8], hi: &[u8]) -> bool {
    hi.split_last() == Some((&0, lo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_neighbours_leave_nothing() {
        let range = |lo: &'static [u8], hi: &'static [u8]| {
            ByteRange::from_bounds(Bound::Excluded(lo), Bound::Excluded(hi))
        };
        assert!(range(b"a", b"a\0").is_none());
        assert!(range(b"a", b"a\0\0").is_some());
        assert!(range(b"", b"\0").is_none());
        assert!(range(b"a", b"a").is_none());
    }

    #[test]
    fn integer_bounds_at_the_rim_stay_inside() {
        assert!(U64Range::from_bounds(Bound::Excluded(u64::MAX), Bound::Unbounded).is_none());
        assert!(U64Range::from_bounds(Bound::Unbounded, Bound::Excluded(0)).is_none());
        assert_eq!(U64Range::from_bounds(Bound::Unbounded, Bound::Included(0)), Some(U64Range::point(0)));
    }

    #[test]
    fn a_point_is_recognised() {
        assert_eq!(ByteRange::new(b"k", b"k").and_then(ByteRange::as_point), Some(&b"k"[..]));
        assert_eq!(ByteRange::new(b"k", b"l").and_then(ByteRange::as_point), None);
    }
}
