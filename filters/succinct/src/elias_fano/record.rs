//! A light slice: finding the values of a bucket in the record.
//!
//! The high part has one 0 for each value and a 1 at the end of each bucket: buckets with 2, 0 and 1 values read
//! `0 0 1 1 0 1`. So bucket b ends at the b-th one, `end = place - b` values stand before that end, and the zeros
//! right below the one are the bucket's own values.
//!
//! A record starts at any bit. Its words are read from the byte that holds this bit; the ones of the previous record
//! in that byte are counted and added to the rank, which is cheaper than shifting every word. Five words hold the
//! end of nearly every bucket of a slice with evenly spread values, and they are examined without a branch.

use std::hint::select_unpredictable;

use super::directory::Record;
use super::layout::Layout;
use crate::arch::Isa;
use crate::bytes::{byte_of, load_u64, low_half, low_mask};

/// The values of one bucket, by position in their slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// One past the last value.
    pub(super) end: u64,
    /// Number of values.
    pub(super) len: u64,
}

impl Run {
    #[inline(always)]
    pub(super) fn start(self) -> u64 {
        self.end - self.len
    }
}

/// Words examined at once.
const WINDOW_WORDS: usize = 5;
/// Bytes before them, for looking back from a bucket's end. The header is longer, so they exist.
const BACK_BYTES: usize = 8;
/// Longest run found by looking back; one load holds 57 bits below the end at least.
const MAX_RUN: u32 = 56;

impl Layout {
    /// First bit of the low parts of `record`.
    #[inline(always)]
    pub(super) fn lows_bit(&self, record: Record) -> u64 {
        record.start_bit + self.slice_buckets() + u64::from(record.count)
    }

    /// The values of `bucket` in `record`; `None` if the bytes are damaged.
    #[inline(always)]
    pub(super) fn light_run<I: Isa>(&self, isa: I, bytes: &[u8], record: Record, bucket: u32) -> Option<Run> {
        match run_in_window(isa, bytes, record.start_bit, bucket) {
            Some(run) => Some(run),
            None => self.run_by_scan(isa, bytes, record, bucket),
        }
    }

    /// The values of `bucket`, wherever it ends.
    fn run_by_scan<I: Isa>(&self, isa: I, bytes: &[u8], record: Record, bucket: u32) -> Option<Run> {
        let end = self.select_high(isa, bytes, record, Mark::Bucket, u64::from(bucket))?;
        let start = match bucket {
            0 => 0,
            _ => self.select_high(isa, bytes, record, Mark::Bucket, u64::from(bucket) - 1)?,
        };
        Some(Run { end, len: end.checked_sub(start)? })
    }

    /// Bucket of the value at `index` of `record`.
    pub(super) fn light_bucket_of<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        record: Record,
        index: u64,
    ) -> Option<u64> {
        self.select_high(isa, bytes, record, Mark::Value, index)
            .filter(|&bucket| bucket < self.slice_buckets())
    }

    /// Number of marks of the other kind before the `rank`-th mark of kind `mark`, word by word.
    fn select_high<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        record: Record,
        mark: Mark,
        rank: u64,
    ) -> Option<u64> {
        let end_bit = self.lows_bit(record);
        let mut word_bit = record.start_bit & !7;
        let mut hidden = low_mask((record.start_bit & 7) as u32);
        let mut rest = rank;
        while word_bit < end_bit {
            let word = load_u64(bytes, byte_of(word_bit));
            let marks = !hidden & if mark == Mark::Bucket { word } else { !word };
            let count = u64::from(isa.count_ones(marks));
            if rest < count {
                let place = word_bit + u64::from(isa.select_in_word(marks, low_half(rest)));
                return (place - record.start_bit).checked_sub(rank);
            }
            rest -= count;
            word_bit += 64;
            hidden = 0;
        }
        None
    }
}

/// What a bit of the high part stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// A one: the end of a bucket.
    Bucket,
    /// A zero: a value.
    Value,
}

/// The values of `bucket` of the record at `start_bit`, if it ends in the first words and the bytes go on after them.
#[inline(always)]
pub(super) fn run_in_window<I: Isa>(isa: I, bytes: &[u8], start_bit: u64, bucket: u32) -> Option<Run> {
    let back_at = byte_of(start_bit).wrapping_sub(BACK_BYTES);
    let window: &[u8; BACK_BYTES + WINDOW_WORDS * 8] = bytes.get(back_at..)?.first_chunk()?;
    let words: [u64; WINDOW_WORDS] = std::array::from_fn(|index| load_u64(window, BACK_BYTES + index * 8));
    let shift = (start_bit & 7) as u32;
    let rank = bucket + isa.count_ones(words[0] & low_mask(shift));
    let (mut passed_ones, mut word, mut word_bit) = (0, words[0], 0);
    let mut ones = isa.count_ones(words[0]);
    // Counted by hand: iterator adaptors here are not unrolled, and cost more than the words themselves.
    let mut index = 1;
    while index < WINDOW_WORDS {
        let passed = rank >= ones;
        passed_ones = select_unpredictable(passed, ones, passed_ones);
        word = select_unpredictable(passed, words[index], word);
        word_bit = select_unpredictable(passed, low_half(index as u64 * 64), word_bit);
        ones += isa.count_ones(words[index]);
        index += 1;
    }
    if rank >= ones {
        return None;
    }
    let end_bit: u32 = word_bit + isa.select_in_word(word, rank - passed_ones);
    let below_end = load_u64(window, 1 + (end_bit / 8) as usize) << (8 - end_bit % 8);
    let zeros = below_end.leading_zeros();
    let end = end_bit.wrapping_sub(shift + bucket);
    // Zeros of the previous record may stand right below the first bucket, but never more than `end` are our own.
    if zeros > MAX_RUN { None } else { Some(Run { end: u64::from(end), len: u64::from(zeros.min(end)) }) }
}
