//! How a sequence is cut, and how many bytes that takes.
//!
//! Everything here depends on the number of values and on their bound alone, so that a filter can ask for the size of
//! a universe before it has hashed a key into it.

use super::directory::SLICES_PER_BASE;
use crate::bytes::{PADDING_BYTES, address};
use crate::packed::width_for;

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 32;
/// Bytes of one entry of the spill directory: slice, place of its data, values before it.
pub(super) const SPILL_ENTRY_BYTES: usize = 24;
/// Bytes before the spill directory: the length of the spill data.
pub(super) const SPILL_HEADER_BYTES: usize = 8;
/// Largest `slice_buckets_log2`: 256 buckets.
pub(super) const MAX_SLICE_BUCKETS_LOG2: u32 = 8;
/// Largest `heavy`. Directory counts wrap at 2^16, and [`SLICES_PER_BASE`] slices of this many values plus the
/// rounding of a base, 2^11 - 1, stay below that.
pub(super) const MAX_HEAVY: u32 = 2047;

/// How values are grouped. The default is what filters use; tests choose tiny ones to reach every path with few keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    pub(super) slice_buckets_log2: u32,
    pub(super) heavy: u32,
}

impl Geometry {
    /// Slices of `2^slice_buckets_log2` buckets (at most 256), spilled if they hold more than `heavy` values (1 to
    /// 2047); values outside are moved to the nearest possible.
    pub fn new(slice_buckets_log2: u32, heavy: u32) -> Self {
        Self {
            slice_buckets_log2: slice_buckets_log2.min(MAX_SLICE_BUCKETS_LOG2),
            heavy: heavy.clamp(1, MAX_HEAVY),
        }
    }
}

impl Default for Geometry {
    /// 128 buckets: with about one value a bucket, the high part of a slice is half a cache line.
    fn default() -> Self {
        Self::new(7, MAX_HEAVY)
    }
}

/// An upper bound on the bytes of [`encode`](super::encode) for any `count` values up to `last`: exact unless a slice
/// is heavy, and growing with `last`. Costs a few dozen operations.
///
/// ```
/// use lacuna_succinct::elias_fano::{Geometry, encoded_len};
///
/// // A million values in a universe of 2^10 times that: 10 + 2.14 bits each.
/// let bytes = encoded_len(1_000_000, (1_000_000 << 10) - 1, Geometry::default());
/// assert!((bytes as f64) * 8.0 / 1e6 < 12.15);
/// ```
pub fn encoded_len(count: u64, last: u64, geometry: Geometry) -> usize {
    let cut = Cut::choose(count, last, geometry);
    address(cut.byte_len(count).saturating_add(max_growth(count, geometry)))
}

/// The values' bits divided: `low_bits` of each in the low part, the rest as buckets in slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) low_bits: u32,
    pub(super) slice_buckets_log2: u32,
    pub(super) slices: u64,
}

impl Cut {
    /// The cheapest cut for `count` values up to `last`.
    pub(super) fn choose(count: u64, last: u64, geometry: Geometry) -> Self {
        let average_gap = last / count.max(1);
        let about = average_gap.checked_ilog2().unwrap_or(0);
        (about.saturating_sub(1)..=(about + 2).min(63))
            .map(|low_bits| Self::with_low_bits(low_bits, last, geometry))
            .min_by_key(|cut| cut.byte_len(count))
            .expect("the range of candidates is not empty")
    }

    /// The cut with the given number of low bits; a single slice is no larger than its buckets ask for.
    pub(super) fn with_low_bits(low_bits: u32, last: u64, geometry: Geometry) -> Self {
        let last_bucket = last >> low_bits;
        let slice_buckets_log2 = geometry.slice_buckets_log2.min(width_for(last_bucket));
        // Below 2^64: a bucket number has at most 63 bits or slices have more than one bucket, except for tiny tests.
        let slices = (last_bucket >> slice_buckets_log2).saturating_add(1);
        Self { low_bits, slice_buckets_log2, slices }
    }

    /// Bytes of the whole structure if no slice is heavy.
    pub(super) fn byte_len(self, count: u64) -> u64 {
        let stream_bytes = self.stream_bits(count).div_ceil(8);
        ((HEADER_BYTES + PADDING_BYTES) as u64)
            .saturating_add(self.directory_bytes())
            .saturating_add(stream_bytes)
    }

    /// Bytes of bases and counts together.
    pub(super) fn directory_bytes(self) -> u64 {
        self.base_bytes().saturating_add(self.count_bytes())
    }

    /// Bytes of the bases; none for a single slice.
    pub(super) fn base_bytes(self) -> u64 {
        if self.slices == 1 { 0 } else { self.slices.div_ceil(SLICES_PER_BASE) * 4 }
    }

    fn count_bytes(self) -> u64 {
        if self.slices == 1 { 0 } else { self.slices.saturating_add(1).saturating_mul(2) }
    }

    /// Bits of all records with `light_count` values: one for each bucket and `low_bits + 1` for each value.
    pub(super) fn stream_bits(self, light_count: u64) -> u64 {
        let buckets = self.slices.saturating_mul(1 << self.slice_buckets_log2);
        buckets.saturating_add(light_count.saturating_mul(u64::from(self.low_bits) + 1))
    }
}

/// Bytes by which spilling can make the structure larger, at most. A spilled slice of `c` values saves `c` bits of
/// high part and pays its table; with the default geometry that never costs, since 128 * 12 + 327 bits < 2048.
fn max_growth(count: u64, geometry: Geometry) -> u64 {
    let smallest = u64::from(geometry.heavy) + 1;
    if count < smallest {
        return 0;
    }
    // The worst slice of each width of table is the smallest one; both areas end in a rounded byte.
    let fixed = ((SPILL_ENTRY_BYTES + SPILL_HEADER_BYTES) * 8 + 7) as u64;
    let growth = |width: u32| {
        let count = smallest.max(1 << (width - 1));
        (fixed + (u64::from(width) << geometry.slice_buckets_log2)).saturating_sub(count)
    };
    let worst = (width_for(smallest)..64).map(growth).max().unwrap_or(0);
    (count / smallest).saturating_mul(worst).div_ceil(8)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "bounds of test sequences are far below 2^64")]

    use super::*;

    #[test]
    fn overhead_stays_below_the_bar() {
        let count = 10_000_000_u64;
        for step in 0..=2_000 {
            let ratio = 2_f64.powf(f64::from(step) / 100.0);
            let last = (count as f64 * ratio) as u64;
            let bits_per_value = encoded_len(count, last, Geometry::default()) as f64 * 8.0 / count as f64;
            let overhead = bits_per_value - ratio.log2();
            assert!(overhead <= 2.18005, "{overhead} at log2 ratio {}", ratio.log2());
        }
    }

    #[test]
    fn no_other_cut_is_cheaper() {
        let mut last = 1_u64;
        while last < 1 << 62 {
            for count in [0, 1, 2, 7, 100, 129, 5_000, 1_000_000, 1 << 33] {
                let chosen = Cut::choose(count, last, Geometry::default()).byte_len(count);
                let best = (0..64)
                    .map(|low_bits| Cut::with_low_bits(low_bits, last, Geometry::default()).byte_len(count))
                    .min();
                assert_eq!(Some(chosen), best, "count {count}, last {last}");
            }
            last += last / 3 + 1;
        }
    }

    #[test]
    fn size_grows_with_the_bound() {
        for count in [1, 3, 100, 4_000] {
            let mut before = 0;
            for last in (0..200_000).step_by(7) {
                let bytes = encoded_len(count, last, Geometry::default());
                assert!(bytes >= before, "count {count}, last {last}");
                before = bytes;
            }
        }
    }

    #[test]
    fn default_geometry_never_grows_by_spilling() {
        assert_eq!(max_growth(u64::MAX, Geometry::default()), 0);
        assert!(max_growth(u64::MAX, Geometry::new(2, 1)) > 0);
    }

    #[test]
    fn one_value_stays_small() {
        assert!(encoded_len(1, 0, Geometry::default()) <= 41);
        assert!(encoded_len(1, u64::MAX, Geometry::default()) <= 56);
    }
}
