//! Where the record of a slice starts and how many values it holds, in 17 bits a slice.
//!
//! With R(j) light values before slice j, the directory keeps R(j) mod 2^16 for every slice and one past the last, and
//! for every 32nd slice a base, R(j) / 2^11 rounded down. Neighbouring counts give the number of values by
//! subtraction, and a count gives R(j) itself because R(j) lies less than 2^16 above its base. Bases are
//! few (one cache line for 512 slices), so a look-up is one line of counts.

use super::layout::Layout;
use crate::bytes::{address, load_u32, load_u64, low_half};

/// Slices that share one base.
pub(super) const SLICES_PER_BASE: u64 = 32;
/// Low bits of R(j) that a base drops: 31 slices of at most 2047 values plus 2^11 - 1 stay below 2^16.
pub(super) const BASE_SHIFT: u32 = 11;

/// The record of a slice: its high part, then its low parts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    /// First bit, counted from the start of the structure.
    pub(super) start_bit: u64,
    /// Number of values.
    pub(super) count: u32,
}

impl Layout {
    /// Light values before slice `slice`, and in it.
    #[inline(always)]
    pub(super) fn light_counts(&self, bytes: &[u8], slice: u64) -> (u64, u32) {
        if self.slices == 1 {
            return (0, self.single_slice_count());
        }
        // Slices were checked to fit the bytes, so none of these products overflows.
        let pair = load_u32(bytes, self.counts_at + address(2 * slice));
        let base =
            u64::from(load_u32(bytes, self.bases_at + address(slice / SLICES_PER_BASE * 4))) << BASE_SHIFT;
        let (before, through) = (pair & 0xFFFF, pair >> 16);
        let above_base = u64::from(before).wrapping_sub(base) & 0xFFFF;
        (base + above_base, through.wrapping_sub(before) & 0xFFFF)
    }

    /// The record of slice `slice`; for a heavy slice, the empty one.
    #[inline(always)]
    pub(super) fn record(&self, bytes: &[u8], slice: u64) -> Record {
        let (before, count) = self.light_counts(bytes, slice);
        let values_bits = before * (u64::from(self.low_bits) + 1);
        Record { start_bit: self.stream_bit + (slice << self.slice_buckets_log2) + values_bits, count }
    }

    /// Asks for the directory line of `value`'s slice: the first of three steps of a batch.
    #[inline(always)]
    pub fn prefetch_directory(&self, bytes: &[u8], value: u64) {
        let slice = self.slice_of(value.min(self.last));
        crate::arch::prefetch(bytes, self.counts_at + address(2 * slice));
    }

    /// Number of values of the only slice, as far as it is light.
    #[inline(always)]
    fn single_slice_count(&self) -> u32 {
        // At most `MAX_HEAVY` in bytes that a builder wrote.
        low_half(self.len - self.spilled)
    }
}

/// Writes the directory of `counts`, the number of light values of each slice, to `out`.
pub(super) fn write(counts: &[u16], out: &mut [u8]) {
    if counts.len() == 1 {
        return;
    }
    let groups = counts.chunks(address(SLICES_PER_BASE));
    let (bases, places) = out.split_at_mut(groups.len() * 4);
    let mut places = places.chunks_exact_mut(2);
    let mut write_place = |before: u64| {
        let place = places.next().expect("one place for each slice and one past the last");
        place.copy_from_slice(&before.to_le_bytes()[..2]);
    };
    let mut before = 0_u64;
    for (base, group) in bases.chunks_exact_mut(4).zip(groups) {
        let rounded = u32::try_from(before >> BASE_SHIFT).expect("at most 2^43 values");
        base.copy_from_slice(&rounded.to_le_bytes());
        for &count in group {
            write_place(before);
            before += u64::from(count);
        }
    }
    write_place(before);
}

/// One field of a spill entry or header.
#[inline(always)]
pub(super) fn field(bytes: &[u8], at: usize, index: usize) -> u64 {
    load_u64(bytes, at.saturating_add(index * 8))
}
