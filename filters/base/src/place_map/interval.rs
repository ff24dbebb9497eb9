//! Intervals of integers and their division.

use super::ROW_LOG2;

/// Narrower intervals are not divided: a unit of a row is two integers or more above it, one of them for the gap.
const MIN_WIDTH: u64 = 2 << ROW_LOG2;
/// Share of an interval that its gap takes, as a power of two.
const GAP_LOG2: u32 = 8;

/// The integers from `lo`, `width` of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    pub(super) lo: u64,
    width: u64,
}

impl Interval {
    /// All integers but the last.
    pub(super) const ALL: Self = Self { lo: 0, width: u64::MAX };

    /// Whether it is wide enough to be divided.
    #[inline(always)]
    pub(super) fn is_divisible(self) -> bool {
        self.width >= MIN_WIDTH
    }

    /// The units `start..end` of `2^log2`; not empty if `start < end` and the interval is divisible. Wraps for numbers
    /// that no builder wrote.
    #[inline(always)]
    pub(super) fn units(self, start: u32, end: u32, log2: u32) -> Self {
        let unit = self.width >> log2;
        let lo = self.lo.wrapping_add(unit.wrapping_mul(u64::from(start)));
        Self { lo, width: unit.wrapping_mul(u64::from(end.saturating_sub(start))) }
    }

    /// Without its gap.
    #[inline(always)]
    pub(super) fn inner(self) -> Self {
        Self { width: self.width - self.gap_width(), ..self }
    }

    /// The first integer of its gap.
    #[inline(always)]
    pub(super) fn gap(self) -> u64 {
        self.lo.wrapping_add(self.width - self.gap_width())
    }

    /// Without a gap at either end: what is left for strings that go on as a label says.
    #[inline(always)]
    pub(super) fn between_gaps(self) -> Self {
        let gap = self.gap_width();
        Self { lo: self.lo.wrapping_add(gap), width: self.width.saturating_sub(2 * gap) }
    }

    #[inline(always)]
    fn gap_width(self) -> u64 {
        (self.width >> GAP_LOG2).max(1).min(self.width)
    }
}
