//! How many positions fit the budget.
//!
//! A block costs its low bits, a one for each key, and the zeros that its differences need. How many zeros that is
//! depends on how evenly the keys lie, so a few blocks are measured exactly and stand for all. The builder then measures
//! the whole, and comes back for [fewer positions](Fit::fewer) in the rare case that the few were cheaper than the rest.

use lacuna_succinct::packed::width_for;
use lacuna_succinct::rice::{MAX_LOW_BITS, RiceList};

use super::codec::{HEADER_BYTES, Header, MAX_POSITIONS, MAX_ZEROS};
use super::spline::Segment;
use crate::integer_build::TooSmall;
use crate::largest::largest_within;

/// Blocks that are measured to choose the number of positions.
const MEASURED_BLOCKS: usize = 16;
/// Bytes of an empty table of packed integers.
const TABLE_BYTES: usize = 16;

/// Ascending keys, cut into segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut<'a> {
    pub(crate) keys: &'a [u64],
    pub(crate) block_keys: usize,
}

impl<'a> Cut<'a> {
    pub(crate) fn block_count(self) -> usize {
        (self.keys.len() - 1).div_ceil(self.block_keys)
    }

    /// Both knots of segment `block` and the keys between them.
    pub(crate) fn block(self, block: usize) -> (u64, &'a [u64], u64) {
        let first = block * self.block_keys;
        let last = (first + self.block_keys).min(self.keys.len() - 1);
        (self.keys[first], &self.keys[first + 1..last], self.keys[last])
    }

    /// The positions of the keys of `block`.
    pub(crate) fn positions(
        self,
        block: usize,
        max_positions: u64,
    ) -> impl ExactSizeIterator<Item = u64> + Clone {
        let (knot, inner, next_knot) = self.block(block);
        let segment = Segment::new(knot, next_knot, max_positions);
        inner.iter().map(move |&key| segment.position(key))
    }

    /// Keys that are not knots.
    pub(crate) fn inner_keys(self) -> u64 {
        (self.keys.len() - 1 - self.block_count()) as u64
    }

    fn widest(self) -> u64 {
        let widths = (0..self.block_count()).map(|block| {
            let (knot, _, next_knot) = self.block(block);
            next_knot - knot
        });
        widths.max().unwrap_or(1)
    }

    /// Bytes of a body whose blocks take `code_bits`.
    pub(crate) fn body_bytes(self, code_bits: u64) -> usize {
        let tables = self.block_count() - 1;
        let span = self.keys[self.keys.len() - 1] - self.keys[0];
        let table_bytes = |width: u32| TABLE_BYTES + (tables * width as usize).div_ceil(8);
        let code_bytes = usize::try_from(code_bits.div_ceil(8)).unwrap_or(usize::MAX);
        (HEADER_BYTES + table_bytes(width_for(span)) + table_bytes(width_for(code_bits)))
            .saturating_add(code_bytes)
    }
}

/// A number of positions and the low bits that go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) positions: u64,
    pub(crate) low_bits: u32,
}

impl Fit {
    /// The most positions whose estimated body fits `max_bytes`.
    pub(crate) fn within(cut: Cut<'_>, max_bytes: usize) -> Result<Self, TooSmall> {
        let bits_per_key = (max_bytes as u64 * 8 / cut.keys.len() as u64).min(53);
        let max = (cut.block_keys as u64) << bits_per_key;
        let max = max.min(cut.widest()).min(MAX_POSITIONS);
        let fits = |positions: u64| Self::measured(cut, positions + 1).1 <= max_bytes;
        let min = largest_within(max - 1, fits);
        let smallest_bytes = || cut.body_bytes(cut.inner_keys());
        let positions = min.ok_or_else(|| TooSmall { smallest_bytes: smallest_bytes() })? + 1;
        Ok(Self::measured(cut, positions).0)
    }

    /// The best low bits for this many positions, and the estimated bytes of the body.
    fn measured(cut: Cut<'_>, positions: u64) -> (Self, usize) {
        let step = cut.block_count().div_ceil(MEASURED_BLOCKS);
        let blocks = (0..cut.block_count()).step_by(step);
        let measured: Vec<Vec<u64>> = blocks.map(|block| cut.positions(block, positions).collect()).collect();
        let measured_keys: u64 = measured.iter().map(|block| block.len() as u64).sum();
        let bits = |low_bits: u32| -> u64 {
            let block_bits = |block: &Vec<u64>| {
                RiceList::new(block.len() as u64, low_bits).len_bits(block.iter().copied())
            };
            measured.iter().map(block_bits).sum()
        };
        let mut best = (min_low_bits(positions, cut.block_keys as u64), u64::MAX);
        for low_bits in best.0..=MAX_LOW_BITS {
            let bits = bits(low_bits);
            if bits > best.1 {
                break;
            }
            best = (low_bits, bits);
        }
        let (low_bits, bits) = best;
        let all = u128::from(bits) * u128::from(cut.inner_keys());
        let all_bits = u64::try_from(all.div_ceil(u128::from(measured_keys.max(1)))).unwrap_or(u64::MAX);
        (Self { positions, low_bits }, cut.body_bytes(all_bits))
    }

    /// Estimated bytes of the body.
    pub(crate) fn body_bytes(self, cut: Cut<'_>) -> usize {
        Self::measured(cut, self.positions).1
    }

    /// A design whose body is smaller, after this one was `excess_bits` too large.
    pub(crate) fn fewer(self, cut: Cut<'_>, excess_bits: u64) -> Self {
        // A bit a key halves the positions. At least a part in 64 goes, so that this ends soon.
        let share = (excess_bits.saturating_mul(1_024) / cut.inner_keys().max(1)).clamp(16, 512);
        let less = (u128::from(self.positions) * u128::from(share)).div_ceil(1_024);
        let less = u64::try_from(less).expect("at most half");
        Self::measured(cut, self.positions.saturating_sub(less).max(1)).0
    }

    /// The header of a body of this design.
    pub(crate) fn header(self, cut: Cut<'_>) -> Header {
        let is_exact = (0..cut.block_count()).all(|block| {
            let (knot, _, next_knot) = cut.block(block);
            Segment::new(knot, next_knot, self.positions).is_exact()
        });
        Header {
            count: cut.keys.len() as u64,
            positions: self.positions,
            block_keys: u32::try_from(cut.block_keys).expect("at most 1,024"),
            low_bits: self.low_bits,
            is_exact,
        }
    }
}

/// The fewest low bits with at most [`MAX_ZEROS`] zeros a key.
fn min_low_bits(positions: u64, block_keys: u64) -> u32 {
    width_for(positions / (MAX_ZEROS * block_keys))
}
