//! Heavy slices: the ones with more values than the directory can count.
//!
//! They stand after the stream, each found by binary search in the spill directory. A table gives for each bucket
//! how many values stand before its end, so a bucket is two fields of the table, and only the low parts of that
//! bucket are searched.

use super::directory::field;
use super::geometry::SPILL_ENTRY_BYTES;
use super::layout::Layout;
use super::record::Run;
use crate::bytes::bits_at;
use crate::packed::width_for;

/// A heavy slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spill {
    /// First bit of the table.
    table_bit: u64,
    /// Number of values.
    pub(super) count: u64,
    /// Bits of an entry of the table.
    width: u32,
}

impl Spill {
    /// First bit of the low parts.
    #[inline]
    pub(super) fn lows_bit(&self, layout: &Layout) -> u64 {
        self.table_bit + (u64::from(self.width) << layout.slice_buckets_log2)
    }

    /// The values of `bucket`; `None` if the bytes are damaged.
    #[inline]
    pub(super) fn run(&self, bytes: &[u8], bucket: u32) -> Option<Run> {
        let end = self.end(bytes, u64::from(bucket));
        let start = if bucket == 0 { 0 } else { self.end(bytes, u64::from(bucket) - 1) };
        if end > self.count {
            return None;
        }
        Some(Run { end, len: end.checked_sub(start)? })
    }

    /// Bucket of the value at `index`.
    pub(super) fn bucket_of(&self, layout: &Layout, bytes: &[u8], index: u64) -> Option<u64> {
        let (mut start, mut end) = (0, layout.slice_buckets());
        while start < end {
            let middle = start.midpoint(end);
            if self.end(bytes, middle) <= index { start = middle + 1 } else { end = middle }
        }
        Some(start).filter(|&bucket| bucket < layout.slice_buckets())
    }

    fn end(&self, bytes: &[u8], bucket: u64) -> u64 {
        bits_at(bytes, self.table_bit.saturating_add(bucket * u64::from(self.width)), self.width)
    }
}

impl Layout {
    /// The first heavy slice not before `slice`, as an index into the spill directory.
    #[inline]
    pub(super) fn first_spill_from(&self, bytes: &[u8], slice: u64) -> u32 {
        let (mut start, mut end) = (0, self.spill_count);
        while start < end {
            let middle = start.midpoint(end);
            if self.spill_field(bytes, middle, 0) < slice { start = middle + 1 } else { end = middle }
        }
        start
    }

    /// The data of `slice`, if it is heavy.
    #[inline]
    pub(super) fn spill(&self, bytes: &[u8], slice: u64) -> Option<Spill> {
        if self.spill_count == 0 {
            return None;
        }
        let index = self.first_spill_from(bytes, slice);
        if index == self.spill_count || self.spill_field(bytes, index, 0) != slice {
            return None;
        }
        let count = self.spilled_before(bytes, index + 1).saturating_sub(self.spilled_before(bytes, index));
        let data_at = self.spill_at + self.spill_count as usize * SPILL_ENTRY_BYTES;
        // A damaged place is moved to the end of the bytes, where everything reads as zero.
        let place =
            (data_at as u64).saturating_add(self.spill_field(bytes, index, 1)).min(bytes.len() as u64);
        Some(Spill { table_bit: place * 8, count, width: width_for(count) })
    }

    /// Values in the heavy slices before the one at `index` of the spill directory.
    #[inline]
    pub(super) fn spilled_before(&self, bytes: &[u8], index: u32) -> u64 {
        if index < self.spill_count {
            self.spill_field(bytes, index, 2).min(self.spilled)
        } else {
            self.spilled
        }
    }

    #[inline]
    fn spill_field(&self, bytes: &[u8], index: u32, part: usize) -> u64 {
        field(bytes, self.spill_at + index as usize * SPILL_ENTRY_BYTES, part)
    }
}
