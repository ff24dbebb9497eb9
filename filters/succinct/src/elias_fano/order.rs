//! Rank, selection and neighbours: queries for places rather than for a yes or no.

use super::layout::Layout;
use super::query::Slice;
use crate::arch::Isa;

impl Layout {
    /// Number of stored values below `value`.
    pub fn rank<I: Isa>(&self, isa: I, bytes: &[u8], value: u64) -> u64 {
        if value > self.last {
            return self.len;
        }
        let slice = self.slice_of(value);
        let low = value & self.low_mask;
        let (lows_bit, run) = match self.slice(bytes, slice) {
            Slice::Light(record) => {
                (self.lows_bit(record), self.light_run(isa, bytes, record, self.bucket_in_slice(value)))
            }
            Slice::Heavy(spill) => (spill.lows_bit(self), spill.run(bytes, self.bucket_in_slice(value))),
        };
        let in_slice = run.map_or(0, |run| self.partition_lows(bytes, lows_bit, run, |stored| stored < low));
        (self.values_before(bytes, slice) + in_slice).min(self.len)
    }

    /// The value at `index` in ascending order; `None` past the end. Looks at about `log2(slices)` directory entries.
    pub fn get<I: Isa>(&self, isa: I, bytes: &[u8], index: u64) -> Option<u64> {
        if index >= self.len {
            return None;
        }
        let slice = self.slice_of_index(bytes, index);
        self.value_in_slice(isa, bytes, slice, index.checked_sub(self.values_before(bytes, slice))?)
    }

    /// The largest stored value that is at most `value`.
    pub fn predecessor<I: Isa>(&self, isa: I, bytes: &[u8], value: u64) -> Option<u64> {
        let through = match value.checked_add(1) {
            Some(above) => self.rank(isa, bytes, above),
            None => self.len,
        };
        self.get(isa, bytes, through.checked_sub(1)?)
    }

    /// The smallest stored value that is at least `value`.
    pub fn successor<I: Isa>(&self, isa: I, bytes: &[u8], value: u64) -> Option<u64> {
        self.get(isa, bytes, self.rank(isa, bytes, value))
    }

    /// The value at `index` of slice `slice`.
    pub(super) fn value_in_slice<I: Isa>(&self, isa: I, bytes: &[u8], slice: u64, index: u64) -> Option<u64> {
        let (bucket, lows_bit) = match self.slice(bytes, slice) {
            Slice::Light(record) => (self.light_bucket_of(isa, bytes, record, index)?, self.lows_bit(record)),
            Slice::Heavy(spill) => (spill.bucket_of(self, bytes, index)?, spill.lows_bit(self)),
        };
        let high = (slice << self.slice_buckets_log2) + bucket;
        Some(high << self.low_bits | self.low_at(bytes, lows_bit, index))
    }

    /// Values before slice `slice`.
    fn values_before(&self, bytes: &[u8], slice: u64) -> u64 {
        let spilled = match self.spill_count {
            0 => 0,
            _ => self.spilled_before(bytes, self.first_spill_from(bytes, slice)),
        };
        self.light_counts(bytes, slice).0 + spilled
    }

    /// The last slice that starts at or before the value at `index`.
    fn slice_of_index(&self, bytes: &[u8], index: u64) -> u64 {
        let (mut start, mut end) = (0, self.slices - 1);
        while start < end {
            let middle = start + (end - start).div_ceil(2);
            if self.values_before(bytes, middle) <= index { start = middle } else { end = middle - 1 }
        }
        start
    }
}
