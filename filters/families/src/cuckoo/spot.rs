//! A bucket in memory: where its bits start, how they are read and written.

use std::sync::atomic::Ordering;

use lacuna_succinct::arch::prefetch;

use super::table::{CuckooTable, Segment};

/// Where a bucket starts: its segment, and a bit there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    segment: &'a Segment,
    bit: u64,
}

impl CuckooTable {
    /// Where a bucket is.
    #[inline(always)]
    pub(crate) fn spot(&self, bucket: u64) -> Spot<'_> {
        if bucket < self.shape.base {
            return Spot { segment: &self.base, bit: bucket * self.shape.bucket_bits() };
        }
        let beyond = bucket - self.shape.base;
        let (list, at) = list_of(beyond >> self.segment_log2);
        let list = self.later[list].get().expect("buckets are counted after they are there");
        let segment = list[at].get().expect("buckets are counted after they are there");
        let at = beyond & ((1 << self.segment_log2) - 1);
        Spot { segment, bit: at * self.shape.bucket_bits() }
    }

    /// The bits of a bucket, whatever its width; further bits after them.
    pub(crate) fn read(&self, bucket: u64) -> u128 {
        if self.fields.is_narrow() {
            u128::from(self.spot(bucket).narrow())
        } else {
            self.spot(bucket).wide()
        }
    }
}

impl<'a> Spot<'a> {
    /// The segment that the bucket is in.
    pub(crate) const fn segment(self) -> &'a Segment {
        self.segment
    }
}

impl Spot<'_> {
    /// Bits from the start of the bucket on, 64 of them.
    #[inline(always)]
    pub(crate) fn narrow(self) -> u64 {
        let (word, shift) = (index(self.bit >> 6), self.bit & 63);
        let (low, high) = (self.word(word), self.word(word + 1));
        low >> shift | (high << 1) << (63 - shift)
    }

    /// Bits from the start of the bucket on, 128 of them.
    #[inline(always)]
    pub(crate) fn wide(self) -> u128 {
        let (word, shift) = (index(self.bit >> 6), self.bit & 63);
        let (low, middle, high) = (self.word(word), self.word(word + 1), self.word(word + 2));
        (u128::from(low) | u128::from(middle) << 64) >> shift | (u128::from(high) << 1) << (127 - shift)
    }

    /// Asks for the line that the bucket starts in, without waiting for it.
    #[inline(always)]
    pub(crate) fn prefetch(self) {
        prefetch(self.segment, index(self.bit >> 6));
    }

    #[inline(always)]
    fn word(self, at: usize) -> u64 {
        self.segment[at].load(Ordering::Relaxed)
    }

    /// Turns bits of the bucket over, from bit `offset` of it on: at most 32 of them. With the fingerprint that stands
    /// in a slot and the one that shall stand there, put together by XOR, this writes the slot; 0 stands in a free one.
    #[inline(always)]
    pub(crate) fn turn(self, offset: u64, bits: u64) {
        let bit = self.bit + offset;
        let (word, shift) = (index(bit >> 6), bit & 63);
        self.segment[word].store(self.word(word) ^ bits << shift, Ordering::Relaxed);
        let beyond = (bits >> 1) >> (63 - shift);
        self.segment[word + 1].store(self.word(word + 1) ^ beyond, Ordering::Relaxed);
    }
}

/// The list of a later segment, and its place there.
#[inline(always)]
pub(crate) fn list_of(segment: u64) -> (usize, usize) {
    let list = (segment / 8 + 1).ilog2();
    (list as usize, index(segment - 8 * ((1 << list) - 1)))
}

/// An index into a slice in memory.
#[inline(always)]
pub(crate) fn index(word: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "words lie in memory")]
    let word = word as usize;
    word
}
