//! Four fingerprints side by side in a number, compared all at once.
//!
//! A bucket of up to 16-bit fingerprints is a `u64`, of up to 32-bit ones a `u128`. "Is one of the four x?" is the question
//! whether a field of `bucket xor xxxx` is 0, answered for all fields by one subtraction: only a field of 0 borrows into
//! its own highest bit, and fields above it do not matter once there is one.

use super::shape::{SLOTS, Shape};

/// The patterns with which buckets of one width are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    bits: u32,
    ones: u128,
    highs: u128,
}

impl Fields {
    pub(crate) fn new(shape: Shape) -> Self {
        let bits = shape.fingerprint_bits;
        let ones = (0..SLOTS).fold(0u128, |ones, _| ones << bits | 1);
        Self { bits, ones, highs: ones << (bits - 1) }
    }

    /// Whether a bucket fits 64 bits.
    #[inline(always)]
    pub(crate) fn is_narrow(self) -> bool {
        self.bits <= 16
    }

    /// Whether one of the four is `fingerprint`; bits behind the fourth do not matter.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the patterns of narrow buckets have at most 64 bits"
    )]
    pub(crate) fn any_narrow(self, bucket: u64, fingerprint: u64) -> bool {
        let (ones, highs) = (self.ones as u64, self.highs as u64);
        let zero_where_equal = bucket ^ ones.wrapping_mul(fingerprint);
        zero_where_equal.wrapping_sub(ones) & !zero_where_equal & highs != 0
    }

    /// As [`any_narrow`](Self::any_narrow), for buckets of up to 128 bits.
    #[inline(always)]
    pub(crate) fn any_wide(self, bucket: u128, fingerprint: u64) -> bool {
        let zero_where_equal = bucket ^ self.ones.wrapping_mul(u128::from(fingerprint));
        zero_where_equal.wrapping_sub(self.ones) & !zero_where_equal & self.highs != 0
    }

    /// Fingerprint number `slot` of a bucket; 0 if the slot is free.
    #[inline(always)]
    pub(crate) fn slot(self, bucket: u128, slot: u64) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "a fingerprint has at most 32 bits")]
        let low = (bucket >> (slot * u64::from(self.bits))) as u64;
        low & ((1 << self.bits) - 1)
    }

    /// Number of the first slot that holds `fingerprint`.
    #[inline(always)]
    pub(crate) fn find(self, bucket: u128, fingerprint: u64) -> Option<u64> {
        (0..SLOTS).find(|&slot| self.slot(bucket, slot) == fingerprint)
    }
}
