//! Intervals of integers and their division.

use super::ROW_LOG2;

/// Narrower intervals are not divided: a unit of a row is two integers or more above it, one of them for the gap.
const MIN_WIDTH: u64 = 2 << ROW_LOG2;
/// Share of an interval that its gap takes, as a power of two.
const GAP_LOG2: u32 = 8;

/// An interval of places, as a walk narrows it.
pub(super) trait Interval: Copy {
    /// A place.
    type At: Copy;
    /// All places but the last.
    const ALL: Self;

    /// Its first place.
    fn lo(self) -> Self::At;
    /// Whether it is wide enough to be divided.
    fn is_divisible(self) -> bool;
    /// The units `start..end` of `2^log2`; not empty if `start < end` and the interval is divisible. Wraps for numbers
    /// that no builder wrote.
    fn units(self, start: u32, end: u32, log2: u32) -> Self;
    /// Without its gap.
    fn inner(self) -> Self;
    /// The first place of its gap.
    fn gap(self) -> Self::At;
    /// Without a gap at either end: what is left for strings that go on as a label says.
    fn between_gaps(self) -> Self;
}

/// The integers of a gap of an interval of `width`.
#[inline(always)]
pub(super) fn gap_width(width: u64) -> u64 {
    (width >> GAP_LOG2).max(1).min(width)
}

/// Whether `width` integers can be divided.
#[inline(always)]
pub(super) fn is_divisible(width: u64) -> bool {
    width >= MIN_WIDTH
}

/// The integers from `lo`, `width` of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordInterval {
    lo: u64,
    width: u64,
}

impl Interval for WordInterval {
    type At = u64;
    const ALL: Self = Self { lo: 0, width: u64::MAX };

    #[inline(always)]
    fn lo(self) -> u64 {
        self.lo
    }

    #[inline(always)]
    fn is_divisible(self) -> bool {
        is_divisible(self.width)
    }

    #[inline(always)]
    fn units(self, start: u32, end: u32, log2: u32) -> Self {
        let unit = self.width >> log2;
        let lo = self.lo.wrapping_add(unit.wrapping_mul(u64::from(start)));
        Self { lo, width: unit.wrapping_mul(u64::from(end.saturating_sub(start))) }
    }

    #[inline(always)]
    fn inner(self) -> Self {
        Self { width: self.width - gap_width(self.width), ..self }
    }

    #[inline(always)]
    fn gap(self) -> u64 {
        self.lo.wrapping_add(self.width - gap_width(self.width))
    }

    #[inline(always)]
    fn between_gaps(self) -> Self {
        let gap = gap_width(self.width);
        Self { lo: self.lo.wrapping_add(gap), width: self.width.saturating_sub(2 * gap) }
    }
}
