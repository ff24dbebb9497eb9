//! Rectangles of points, for any filter over Z-order keys (use case 3 of the paper).
//!
//! [`Zorder`](lacuna_base::Zorder) makes one key of two coordinates by interleaving their bits, so a square whose side
//! is a power of two is one range of keys, and a rectangle is several: the points with `2 <= x <= 3` and `1 <= y <= 2`
//! are the keys 9, 11, 12 and 14. The squares are found in order of their keys, from the largest down, without a stack:
//! a square that is settled is followed by the largest that starts after it. Squares of a given side are not split
//! any more, so that a large rectangle costs no more questions than a small one; they cover a little more than the
//! rectangle, which may turn a "no" into a "maybe" and never the other way.

use lacuna_base::{DynFilter, TypedKey, U64Range, Zorder};

/// A rectangle is asked in squares of about a sixteenth of its longer side.
const SQUARES_LOG2: u32 = 4;

/// All points between two coordinates of x and two of y, ends included.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, DynFilter, FilterSpec, SortedKeys, TypedKey, Zorder};
/// use lacuna_families::{RencoderSpec, Rectangle};
///
/// let mut keys: Vec<u64> = (0..1_000).map(|i| Zorder { x: i * 50, y: i * 70 }.to_key()).collect();
/// keys.sort_unstable();
/// let plan = BuildPlan::<u64>::new(Budget::bits_per_key(20.0)?);
/// let sealed = RencoderSpec::new().build(SortedKeys::integers(&keys)?, &plan)?;
/// let filter = lacuna_families::open::<u64, _>(sealed)?;
///
/// let around = Rectangle::new((90, 110), (130, 150)).expect("not inverted");
/// assert!(around.may_hold_any(&*filter));
/// let beside = Rectangle::new((104, 109), (131, 138)).expect("not inverted");
/// assert!(!beside.may_hold_any(&*filter));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rectangle {
    x: (u32, u32),
    y: (u32, u32),
}

/// The position of a square relative to a rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overlap {
    Nothing,
    Part,
    Whole,
}

impl Rectangle {
    /// The points with x and y between these ends, or `None` if one pair is inverted.
    pub fn new(x: (u32, u32), y: (u32, u32)) -> Option<Self> {
        if x.0 <= x.1 && y.0 <= y.1 { Some(Self { x, y }) } else { None }
    }

    /// Whether `filter`, over Z-order keys, may hold a point of the rectangle; `false` proves that it holds none.
    pub fn may_hold_any(self, filter: &DynFilter<u64>) -> bool {
        let longer = (self.x.1 - self.x.0).max(self.y.1 - self.y.0);
        let finest = longer.checked_ilog2().unwrap_or(0).saturating_sub(SQUARES_LOG2);
        self.ranges(finest).any(|range| filter.may_contain_range(range))
    }

    /// Ascending ranges of keys that hold all points of the rectangle, with a gap between any two. Squares of side
    /// `2^finest` (0 to 32) are not split; at 0 the ranges hold nothing else.
    pub fn ranges(self, finest: u32) -> impl Iterator<Item = U64Range> {
        let corner = Zorder { x: self.x.0, y: self.y.0 }.to_key();
        let mut from = Some(corner & u64::MAX.checked_shl(2 * finest).unwrap_or(0));
        std::iter::from_fn(move || {
            let (start, mut last) = self.next_square(from?, finest)?;
            from = loop {
                let Some(behind) = last.checked_add(1) else { break None };
                match self.next_square(behind, finest) {
                    Some((next, next_last)) if next == behind => last = next_last,
                    other => break other.map(|(next, _)| next),
                }
            };
            U64Range::new(start, last)
        })
    }

    /// First and last key of the first square at or after `from` that belongs to the rectangle.
    fn next_square(self, mut from: u64, finest: u32) -> Option<(u64, u64)> {
        let end = Zorder { x: self.x.1, y: self.y.1 }.to_key();
        let mut height = height_at(from);
        while from <= end {
            let more = if height == 32 { u64::MAX } else { (1 << (2 * height)) - 1 };
            match self.overlap(from, height) {
                Overlap::Nothing => {
                    from = (from + more).checked_add(1)?;
                    height = height_at(from);
                }
                Overlap::Part if height > finest => height -= 1,
                Overlap::Part | Overlap::Whole => return Some((from, from + more)),
            }
        }
        None
    }

    fn overlap(self, corner: u64, height: u32) -> Overlap {
        let more = if height == 32 { u32::MAX } else { (1 << height) - 1 };
        let sides = [(self.x, gathered(corner >> 1)), (self.y, gathered(corner))];
        let apart = sides.iter().any(|((lo, hi), start)| start > hi || start + more < *lo);
        let inside = sides.iter().all(|((lo, hi), start)| start >= lo && start + more <= *hi);
        match (apart, inside) {
            (true, _) => Overlap::Nothing,
            (_, true) => Overlap::Whole,
            _ => Overlap::Part,
        }
    }
}

/// Height of the largest square whose first key is `key`.
fn height_at(key: u64) -> u32 {
    key.trailing_zeros() / 2
}

/// Every second bit of `key`, from the lowest.
fn gathered(key: u64) -> u32 {
    let mut bits = key & 0x5555_5555_5555_5555;
    bits = (bits | (bits >> 1)) & 0x3333_3333_3333_3333;
    bits = (bits | (bits >> 2)) & 0x0F0F_0F0F_0F0F_0F0F;
    bits = (bits | (bits >> 4)) & 0x00FF_00FF_00FF_00FF;
    bits = (bits | (bits >> 8)) & 0x0000_FFFF_0000_FFFF;
    bits = (bits | (bits >> 16)) & 0x0000_0000_FFFF_FFFF;
    u32::try_from(bits).expect("32 bits were gathered")
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    fn key(x: u32, y: u32) -> u64 {
        Zorder { x, y }.to_key()
    }

    #[test]
    fn bits_are_gathered_as_they_were_spread() {
        let mut rng = Rng::new(1);
        for _ in 0..10_000 {
            let mut end = || u32::try_from(rng.next_u64() >> 32).expect("32 bits");
            let (x, y) = (end(), end());
            assert_eq!((gathered(key(x, y) >> 1), gathered(key(x, y))), (x, y));
        }
    }

    /// All rectangles of a plane of 8 by 8, at the near and the far end of the space.
    #[test]
    fn ranges_hold_exactly_the_points() {
        for base in [0, 1_000_000, u32::MAX - 7] {
            for ends in 0..8u32.pow(4) {
                let [x, xx, y, yy] = [0, 1, 2, 3].map(|digit| base + ends / 8u32.pow(digit) % 8);
                let Some(rectangle) = Rectangle::new((x, xx), (y, yy)) else { continue };
                let points = (x..=xx).flat_map(|x| (y..=yy).map(move |y| key(x, y)));
                let mut expected: Vec<u64> = points.collect();
                expected.sort_unstable();
                let ranges: Vec<U64Range> = rectangle.ranges(0).collect();
                let found: Vec<u64> = ranges.iter().flat_map(|range| range.lo()..=range.hi()).collect();
                assert_eq!(found, expected, "{rectangle:?}");
                assert!(ranges.windows(2).all(|pair| pair[0].hi() + 1 < pair[1].lo()), "{ranges:?}");
            }
        }
    }

    #[test]
    fn coarse_ranges_hold_all_points_and_are_few() {
        let seed = 2;
        let mut rng = Rng::new(seed);
        for _ in 0..300 {
            let mut end = || u32::try_from(rng.next_u64() >> (32 + rng.below(28))).expect("32 bits or fewer");
            let (x, y) = ((end(), end()), (end(), end()));
            let (x, y) = ((x.0.min(x.1), x.0.max(x.1)), (y.0.min(y.1), y.0.max(y.1)));
            let rectangle = Rectangle::new(x, y).expect("ordered");
            let finest = (x.1 - x.0).max(y.1 - y.0).checked_ilog2().unwrap_or(0).saturating_sub(SQUARES_LOG2);
            let ranges: Vec<U64Range> = rectangle.ranges(finest).collect();
            assert!(ranges.len() <= 140, "{} for {rectangle:?}, seed {seed}", ranges.len());
            for _ in 0..100 {
                let (x, y) = (rng.between(x.0.into(), x.1.into()), rng.between(y.0.into(), y.1.into()));
                let point = key(u32::try_from(x).expect("a u32"), u32::try_from(y).expect("a u32"));
                assert!(ranges.iter().any(|range| range.contains(point)), "{rectangle:?}, seed {seed}");
            }
        }
        let whole = Rectangle::new((0, u32::MAX), (0, u32::MAX)).expect("ordered");
        assert_eq!(whole.ranges(0).collect::<Vec<_>>(), [U64Range::new(0, u64::MAX).expect("ordered")]);
    }
}
