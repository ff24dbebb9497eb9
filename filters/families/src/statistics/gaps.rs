//! How far neighbouring keys are apart: all gaps in a few hundred counters.
//!
//! Both integer families that hash or cut the key space ask one question about gaps: how many keys' worth of space do
//! the stretches of `width` after all keys cover, where those that overlap count once? With the keys 0, 3 and 50 and a
//! width of 10 that is `3 + 10 + 10`. It is the sum over all gaps of the smaller of gap and width, computed from counts by
//! quarters of powers of two.

use lacuna_succinct::threads::on_threads;

use crate::threads::{Threads, piece_of};

/// Counters: four for each power of two.
const CLASSES: usize = 256;

/// Gaps by size, each standing for `weight` of all gaps.
#[derive(Debug, Clone)]
pub(crate) struct GapCounts {
    counts: [u64; CLASSES],
    /// Sum of all gaps of smaller classes.
    below: [f64; CLASSES + 1],
    /// Number of gaps in this and larger classes.
    from: [u64; CLASSES + 1],
    weight: f64,
}

/// The class of a gap of at least 1: its length in bits and the two bits after the first.
fn class(gap: u64) -> usize {
    let zeros = gap.leading_zeros();
    let quarter = ((gap << zeros) >> 61) as usize & 3;
    (63 - zeros as usize) * 4 + quarter
}

/// First gap of a class, as a number: the class of 1, 1.25, 1.5 and so on times a power of two.
fn start(class: usize) -> f64 {
    (1u64 << (class / 4)) as f64 * (1.0 + 0.25 * (class % 4) as f64)
}

/// Number and sum of the gaps of each class: whole numbers, so that pieces may be added in any order.
struct Tally {
    counts: [u64; CLASSES],
    sums: [u128; CLASSES],
}

impl Tally {
    fn of(gaps: impl Iterator<Item = u64>) -> Self {
        let mut tally = Self { counts: [0; CLASSES], sums: [0; CLASSES] };
        for gap in gaps {
            let class = class(gap);
            tally.counts[class] += 1;
            tally.sums[class] += u128::from(gap);
        }
        tally
    }

    /// Both together.
    fn and(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, more)| *sum += more);
        self
    }
}

impl GapCounts {
    /// Counts gaps of at least 1.
    pub(crate) fn of(gaps: impl Iterator<Item = u64>, weight: f64) -> Self {
        Self::of_tally(&Tally::of(gaps), weight)
    }

    /// Counts the gaps between neighbours of ascending `keys`.
    pub(crate) fn between(keys: &[u64], threads: Threads) -> Self {
        let pieces = threads.pieces(keys.len());
        let tallies = on_threads(pieces, |index| {
            let piece = piece_of(keys.len(), pieces, index);
            // With the first key of the next piece.
            let keys = &keys[piece.start..(piece.end + 1).min(keys.len())];
            Tally::of(keys.windows(2).map(|pair| pair[1] - pair[0]))
        });
        let all = tallies.into_iter().reduce(Tally::and).expect("there is one piece at least");
        Self::of_tally(&all, 1.0)
    }

    fn of_tally(tally: &Tally, weight: f64) -> Self {
        let Tally { counts, sums } = *tally;
        let (mut below, mut from) = ([0.0; CLASSES + 1], [0; CLASSES + 1]);
        for class in 0..CLASSES {
            below[class + 1] = below[class] + sums[class] as f64;
        }
        for class in (0..CLASSES).rev() {
            from[class] = from[class + 1] + counts[class];
        }
        Self { counts, below, from, weight }
    }

    /// Whether [`without`](Self::without) is exact for gaps that add up to `covered`: every gap was counted, not a sample of
    /// them, and the sum is no larger than floating point keeps.
    pub(crate) fn is_exact(&self, covered: u64) -> bool {
        self.weight <= 1.0 && covered < 1 << f64::MANTISSA_DIGITS
    }

    /// How many gaps have `2^gap_log2` keys or more, and the sum of all others.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a number of keys and a part of their span; casts saturate"
    )]
    pub(crate) fn without(&self, gap_log2: u32) -> (u64, u64) {
        let class = gap_log2 as usize * 4;
        let count = (self.from[class] as f64 * self.weight).round();
        (count as u64, (self.below[class] * self.weight).round() as u64)
    }

    /// Sum over all gaps of the smaller of the gap and `width`.
    pub(crate) fn covered(&self, width: f64) -> f64 {
        if width < 1.0 {
            return self.weight * self.from[0] as f64 * width.max(0.0);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at least 1; larger ones saturate")]
        let class = class(width as u64);
        let (first, next) =
            (start(class), if class + 1 < CLASSES { start(class + 1) } else { 2f64.powi(64) });
        // Within the class of the width, gaps are taken to be spread evenly.
        let smaller = ((width - first) / (next - first)).clamp(0.0, 1.0);
        let here = self.counts[class] as f64;
        let cut = here * (smaller * (first + width) / 2.0 + (1.0 - smaller) * width);
        self.weight * (self.below[class] + cut + self.from[class + 1] as f64 * width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_start_where_they_say() {
        for gap in (1..5_000).chain([u64::MAX / 3, u64::MAX]) {
            let class = class(gap);
            assert!(start(class) <= gap as f64, "{gap}");
            assert!(class + 1 >= CLASSES || (gap as f64) < start(class + 1), "{gap}");
        }
    }

    #[test]
    fn large_gaps_are_counted_apart() {
        let counts = GapCounts::of([1, 7, 8, 9, 4_095, 4_096, 1 << 40].into_iter(), 1.0);
        assert_eq!(counts.without(3), (5, 8));
        assert_eq!(counts.without(12), (2, 4_120));
        assert_eq!(counts.without(63), (0, 4_120 + 4_096 + (1 << 40)));
        assert!(counts.is_exact(1 << 52) && !counts.is_exact(1 << 53));
    }

    #[test]
    fn threads_count_every_gap_once() {
        let keys: Vec<u64> = (0..3_000_u64).map(|i| (i << 50) + i * i).collect();
        let one = GapCounts::between(&keys, Threads::ONE);
        for threads in [2, 3, 7, 3_000] {
            let counts = GapCounts::between(&keys, Threads::forced(threads));
            assert_eq!((counts.counts, counts.below, counts.from), (one.counts, one.below, one.from));
        }
    }

    #[test]
    fn covered_space_is_about_right() {
        let gaps: Vec<u64> = (0..20_000u64).map(|i| 1 + (i * i * i) % 1_000_003).collect();
        let counts = GapCounts::of(gaps.iter().copied(), 2.0);
        for width in [0.5, 1.0, 3.0, 100.0, 4_097.0, 333_333.0, 2e6, 1e19] {
            let exact: f64 = gaps.iter().map(|&gap| 2.0 * (gap as f64).min(width)).sum();
            let told = counts.covered(width);
            assert!((told / exact - 1.0).abs() < 0.02, "width {width}: {told}, exactly {exact}");
        }
    }
}
