//! "Is one of the values in `[lo, hi]`?", alone or in the three steps of a batch.
//!
//! A query waits for at most two things: the directory line, which is hot, and then the lines of one record, which
//! are asked for together. Where the low parts of a bucket stand is guessed from its place in the slice before the
//! high part has arrived; the guess is off by a few values at most, mostly within a line.

use super::directory::Record;
use super::layout::Layout;
use super::record::{Run, run_in_window};
use super::spill::Spill;
use crate::arch::{Isa, Kernel, prefetch};
use crate::bytes::{ONE_LOAD_BITS, bits_at, byte_of, load_u64, low_mask};

/// Low parts that are compared without looking at how many there are.
const EAGER_LOWS: u64 = 4;
/// A mask for the bytes at which they start, counted from the first: three times 57 bits and 7 before them.
const EAGER_PLACES: usize = 31;
/// Bytes that hold them, with the whole load for the last.
const EAGER_BYTES: usize = EAGER_PLACES + 8;

/// A question whose cache lines are on their way: from [`Layout::prepare`] to [`Layout::finish`]. The default is one
/// that no value answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Probe {
    lo: u64,
    hi: u64,
    record: Record,
    path: Path,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Path {
    /// The answer is "none".
    #[default]
    Empty,
    /// Both ends lie in one bucket of a light slice.
    OneBucket,
    /// The ends lie in two buckets of one light slice.
    OneSlice,
    /// Anything else.
    General,
}

/// A slice of either kind.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slice {
    Light(Record),
    Heavy(Spill),
}

impl Layout {
    /// Whether a value lies in `lo..=hi`; both may lie beyond [`last`](Self::last). Of damaged bytes any answer may
    /// come, "yes" where the damage shows.
    #[inline(always)]
    pub fn any_in<I: Isa>(&self, isa: I, bytes: &[u8], lo: u64, hi: u64) -> bool {
        let probe = self.prepare(isa, bytes, lo, hi);
        self.finish(isa, bytes, &probe)
    }

    /// Reads the directory and asks for the lines of the record: the second of three steps of a batch.
    #[inline(always)]
    pub fn prepare<I: Isa>(&self, _isa: I, bytes: &[u8], lo: u64, hi: u64) -> Probe {
        let hi = hi.min(self.last);
        if lo > hi {
            return Probe::default();
        }
        let slice = self.slice_of(lo);
        let record = self.record(bytes, slice);
        self.prefetch_record(bytes, record, self.bucket_in_slice(lo));
        let one_bucket = lo >> self.low_bits == hi >> self.low_bits;
        let light = record.count > 0 || self.spill_count == 0;
        let path = match light && slice == self.slice_of(hi) {
            true if one_bucket => Path::OneBucket,
            true => Path::OneSlice,
            false => Path::General,
        };
        Probe { lo, hi, record, path }
    }

    /// Answers a prepared question: the last of three steps of a batch.
    #[inline(always)]
    pub fn finish<I: Isa>(&self, isa: I, bytes: &[u8], probe: &Probe) -> bool {
        let answer = match probe.path {
            Path::OneBucket => self.any_in_short_bucket(isa, bytes, probe),
            Path::OneSlice => self.any_in_two_buckets(isa, bytes, probe),
            Path::Empty => Some(false),
            Path::General => None,
        };
        match answer {
            Some(answer) => answer,
            None => isa.run_apart(AnyInSlices { layout: self, bytes, lo: probe.lo, hi: probe.hi }),
        }
    }

    /// The answer for one bucket of a light slice, if the bucket has few values and ends early in its record.
    #[inline(always)]
    fn any_in_short_bucket<I: Isa>(&self, isa: I, bytes: &[u8], probe: &Probe) -> Option<bool> {
        let run = run_in_window(isa, bytes, probe.record.start_bit, self.bucket_in_slice(probe.lo))?;
        if run.len > EAGER_LOWS || self.low_bits > ONE_LOAD_BITS {
            return None;
        }
        // The low parts before the run are read too: they are in the bytes, and `back <= run.len` ignores them.
        let low_bits = u64::from(self.low_bits);
        let first_bit =
            (self.lows_bit(probe.record) + run.end * low_bits).wrapping_sub(EAGER_LOWS * low_bits);
        let window: &[u8; EAGER_BYTES] = bytes.get(byte_of(first_bit)..)?.first_chunk()?;
        let lo = probe.lo & self.low_mask;
        let span = probe.hi - probe.lo;
        let low_is_between = |place: u64| {
            let bit = (first_bit & 7) + place * low_bits;
            let low = load_u64(window, byte_of(bit) & EAGER_PLACES) >> (bit & 7) & self.low_mask;
            (low.wrapping_sub(lo) <= span) & (place + run.len >= EAGER_LOWS)
        };
        Some(low_is_between(0) | low_is_between(1) | low_is_between(2) | low_is_between(3))
    }

    /// Asks for the high part and the line where the low parts of `bucket` should stand.
    #[inline(always)]
    fn prefetch_record(&self, bytes: &[u8], record: Record, bucket: u32) {
        let at = byte_of(record.start_bit);
        prefetch(bytes, at);
        prefetch(bytes, byte_of(self.lows_bit(record)));
        let before = (u64::from(record.count) * u64::from(bucket)) >> self.slice_buckets_log2;
        prefetch(bytes, byte_of(self.lows_bit(record) + before * u64::from(self.low_bits)));
    }

    /// Whether a value of a light slice lies in `lo..=hi`, both in this slice.
    #[inline(always)]
    fn any_in_light<I: Isa>(&self, isa: I, bytes: &[u8], record: Record, lo: u64, hi: u64) -> bool {
        let (first, last) = (self.bucket_in_slice(lo), self.bucket_in_slice(hi));
        let Some(run) = self.light_run(isa, bytes, record, first) else { return true };
        let lows_bit = self.lows_bit(record);
        if first == last {
            return self.any_low_in(bytes, lows_bit, run, lo & self.low_mask, hi & self.low_mask);
        }
        let Some(run_of_last) = self.light_run(isa, bytes, record, last) else { return true };
        self.any_between_runs(bytes, lows_bit, run, run_of_last, lo, hi)
    }

    /// Whether a value from `lo` in the bucket of `first` to `hi` in the bucket of `last` exists; `first < last`.
    #[inline(always)]
    fn any_between_runs(&self, bytes: &[u8], lows_bit: u64, first: Run, last: Run, lo: u64, hi: u64) -> bool {
        // Both low parts are read even where a bucket is empty: a length is a poor guess for a branch.
        let above_lo = self.low_at(bytes, lows_bit, first.end.wrapping_sub(1)) >= (lo & self.low_mask);
        let below_hi = self.low_at(bytes, lows_bit, last.start()) <= (hi & self.low_mask);
        let between = last.start() > first.end;
        between | (above_lo & (first.len > 0)) | (below_hi & (last.len > 0))
    }

    /// Whether a low part of `run` lies in `lo..=hi`.
    #[inline(always)]
    fn any_low_in(&self, bytes: &[u8], lows_bit: u64, run: Run, lo: u64, hi: u64) -> bool {
        let from = self.partition_lows(bytes, lows_bit, run, |low| low < lo);
        from < run.end && self.low_at(bytes, lows_bit, from) <= hi
    }

    /// The first position of `run` whose low part does not satisfy `before`.
    #[inline]
    pub(super) fn partition_lows(
        &self,
        bytes: &[u8],
        lows_bit: u64,
        run: Run,
        before: impl Fn(u64) -> bool,
    ) -> u64 {
        let (mut start, mut end) = (run.start(), run.end);
        while start < end {
            let middle = start.midpoint(end);
            if before(self.low_at(bytes, lows_bit, middle)) { start = middle + 1 } else { end = middle }
        }
        start
    }

    /// The low part at `index` of a slice whose low parts start at `lows_bit`.
    #[inline(always)]
    pub(super) fn low_at(&self, bytes: &[u8], lows_bit: u64, index: u64) -> u64 {
        let bit = lows_bit.wrapping_add(index.wrapping_mul(u64::from(self.low_bits)));
        if self.low_bits <= ONE_LOAD_BITS {
            load_u64(bytes, byte_of(bit)) >> (bit & 7) & self.low_mask
        } else {
            bits_at(bytes, bit, self.low_bits)
        }
    }

    /// The answer for two buckets of a light slice, if both end early in its record.
    #[inline(always)]
    fn any_in_two_buckets<I: Isa>(&self, isa: I, bytes: &[u8], probe: &Probe) -> Option<bool> {
        let start_bit = probe.record.start_bit;
        let first = run_in_window(isa, bytes, start_bit, self.bucket_in_slice(probe.lo))?;
        let last = run_in_window(isa, bytes, start_bit, self.bucket_in_slice(probe.hi))?;
        Some(self.any_between_runs(bytes, self.lows_bit(probe.record), first, last, probe.lo, probe.hi))
    }

    /// The slice numbered `slice`, of either kind.
    #[inline]
    pub(super) fn slice(&self, bytes: &[u8], slice: u64) -> Slice {
        let record = self.record(bytes, slice);
        let heavy = if record.count == 0 { self.spill(bytes, slice) } else { None };
        heavy.map_or(Slice::Light(record), Slice::Heavy)
    }

    /// Whether a value lies in `lo..=hi`, both at most `last`, in any number of slices of any kind.
    #[inline(always)]
    fn any_in_slices<I: Isa>(&self, isa: I, bytes: &[u8], lo: u64, hi: u64) -> bool {
        let (first, last) = (self.slice_of(lo), self.slice_of(hi));
        if first == last {
            return self.any_in_slice(isa, bytes, lo, hi);
        }
        let slice_mask = low_mask(self.low_bits + self.slice_buckets_log2);
        self.any_in_slice(isa, bytes, lo, lo | slice_mask)
            || self.any_in_slice(isa, bytes, hi & !slice_mask, hi)
            || self.any_in_whole_slices(bytes, first + 1, last)
    }

    /// Whether a value lies in `lo..=hi`, both in one slice of any kind.
    #[inline(always)]
    fn any_in_slice<I: Isa>(&self, isa: I, bytes: &[u8], lo: u64, hi: u64) -> bool {
        let spill = match self.slice(bytes, self.slice_of(lo)) {
            Slice::Light(record) => return self.any_in_light(isa, bytes, record, lo, hi),
            Slice::Heavy(spill) => spill,
        };
        let (first, last) = (self.bucket_in_slice(lo), self.bucket_in_slice(hi));
        let Some(run) = spill.run(bytes, first) else { return true };
        let lows_bit = spill.lows_bit(self);
        if first == last {
            return self.any_low_in(bytes, lows_bit, run, lo & self.low_mask, hi & self.low_mask);
        }
        let Some(run_of_last) = spill.run(bytes, last) else { return true };
        self.any_between_runs(bytes, lows_bit, run, run_of_last, lo, hi)
    }

    /// Whether a slice of `first..end` holds any value.
    fn any_in_whole_slices(&self, bytes: &[u8], first: u64, end: u64) -> bool {
        let light = first < end && self.light_counts(bytes, first).0 != self.light_counts(bytes, end).0;
        light || self.first_spill_from(bytes, first) != self.first_spill_from(bytes, end)
    }
}

/// A question of any kind.
struct AnyInSlices<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    lo: u64,
    hi: u64,
}

impl Kernel for AnyInSlices<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.layout.any_in_slices(isa, self.bytes, self.lo, self.hi)
    }
}
