//! The model: where a key stands between two knots, in integers.
//!
//! The model of the key distribution is a line from knot to knot, and every knot is a key. So a key's rank is known up
//! to its place between two neighbouring keys, and that place is one multiplication and one division. With floating
//! point, rounding could put a key's position after that of a larger key; a quotient of integers with a constant
//! divisor is monotone.

use lacuna_base::testing::cross;

/// Positions up to here are found with 64-bit arithmetic.
const FEW_POSITIONS: u64 = 1 << 28;

/// The keys between two knots, and the positions they are mapped to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    first: u64,
    /// The largest distance of an inner key from the first.
    last_offset: u64,
    positions: u64,
}

impl Segment {
    /// The keys strictly between `knot` and `next_knot`, on at most `max_positions` (at least 1) positions.
    #[inline(always)]
    pub(crate) fn new(knot: u64, next_knot: u64, max_positions: u64) -> Self {
        let last_offset = next_knot.saturating_sub(knot).saturating_sub(2);
        let positions = max_positions.min(last_offset.saturating_add(1));
        Self { first: knot.wrapping_add(1), last_offset, positions }
    }

    /// Whether every key has a position of its own.
    pub(crate) fn is_exact(self) -> bool {
        self.last_offset < self.positions
    }

    /// The position of `key`: below the number of positions, never decreasing with the key.
    #[inline(always)]
    pub(crate) fn position(self, key: u64) -> u64 {
        let offset = key.wrapping_sub(self.first).min(self.last_offset);
        if self.last_offset < self.positions {
            cross("snarf: exact");
            return offset;
        }
        if self.positions < FEW_POSITIONS {
            // Enough low bits are dropped from both that the product fits; what is left is at least 2^36 steps.
            let shift = excess_bits(self.last_offset, self.positions);
            return (offset >> shift) * self.positions / ((self.last_offset >> shift) + 1);
        }
        cross("snarf: wide positions");
        let product = u128::from(offset) * u128::from(self.positions);
        #[expect(clippy::cast_possible_truncation, reason = "below the number of positions")]
        let position = (product / (u128::from(self.last_offset) + 1)) as u64;
        position
    }
}

/// By how many bits a product of two numbers of this size may exceed 64.
#[inline(always)]
fn excess_bits(a: u64, b: u64) -> u32 {
    64u32.saturating_sub(a.leading_zeros() + b.leading_zeros())
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    /// Positions of ascending keys ascend and stay below their number, over segments of every width.
    #[test]
    fn positions_never_decrease() {
        let seed = 1;
        let mut rng = Rng::new(seed);
        for _ in 0..20_000 {
            let knot = rng.next_u64() >> rng.below(64);
            let width = (rng.next_u64() >> rng.below(64)).min(u64::MAX - knot);
            let max = (rng.next_u64() >> rng.between(1, 63)).max(1);
            let segment = Segment::new(knot, knot + width, max);
            if width < 2 {
                continue;
            }
            let mut keys: Vec<u64> = (0..8).map(|_| knot + rng.between(1, width - 1)).collect();
            keys.extend([knot + 1, knot + width - 1]);
            keys.extend(keys.clone().iter().map(|key| (key + 1).min(knot + width - 1)));
            keys.sort_unstable();
            let positions: Vec<u64> = keys.iter().map(|&key| segment.position(key)).collect();
            assert!(positions.is_sorted(), "{segment:?} {keys:?} {positions:?}, seed {seed}");
            assert!(
                positions.iter().all(|&position| position < max.min(width - 1)),
                "{segment:?}, seed {seed}"
            );
            assert_eq!(positions[0], 0);
        }
    }

    /// The last key stands on the last position, within the precision of the arithmetic.
    #[test]
    fn positions_are_used_evenly() {
        for (width, max) in
            [(u64::MAX, 1 << 20), (u64::MAX, 1 << 40), (1 << 40, (1 << 28) - 1), (1_000, 999), (7, 1 << 60)]
        {
            let segment = Segment::new(0, width, max);
            let last = segment.position(width - 1);
            let all = max.min(width - 1);
            assert!(all - last <= 1 + all / 1_000, "{last} of {all}");
            let middle = segment.position(width / 2);
            assert!(middle.abs_diff(all / 2) <= 1 + all / 1_000, "{middle} of {all}");
        }
    }

    #[test]
    fn narrow_segments_are_exact() {
        let segment = Segment::new(10, 20, 9);
        assert!(segment.is_exact());
        assert_eq!(
            (11..20).map(|key| segment.position(key)).collect::<Vec<u64>>(),
            (0..9).collect::<Vec<u64>>()
        );
        assert!(!Segment::new(10, 21, 9).is_exact());
    }
}
