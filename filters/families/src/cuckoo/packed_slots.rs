//! Four fingerprints side by side in a number, compared all at once.
//!
//! A bucket of up to 16-bit fingerprints is a `u64`, of up to 32-bit ones a `u128`. "Is one of the four x?" is the question
//! whether a field of `bucket xor xxxx` is 0, answered for all fields by one subtraction: only a field of 0 borrows into
//! its own highest bit, and fields above it do not matter once there is one.

use super::shape::{SLOTS, Shape};
use super::spot::Spot;

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

    /// Fingerprint number `slot` of a bucket; 0 if the slot is free.
    #[inline(always)]
    pub(crate) fn slot(self, bucket: u128, slot: u64) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "a fingerprint has at most 32 bits")]
        let low = (bucket >> (slot * u64::from(self.bits))) as u64;
        low & ((1 << self.bits) - 1)
    }
}

/// The bits of a bucket, followed by those after it.
pub(crate) trait Bits: Copy + Default + PartialOrd {
    /// The bits at a place.
    fn read(spot: Spot<'_>) -> Self;

    /// The four fields that are `fingerprint`, each by its highest bit. 0 if there is none; else the lowest of these bits
    /// is right, and higher ones may not be.
    fn fields_of(self, fields: Fields, fingerprint: u64) -> Self;

    /// Where the field starts that the lowest of these bits ends.
    fn first(self, fields: Fields) -> u64;

    /// Fingerprint number `slot`; 0 if the slot is free.
    fn slot(self, fields: Fields, slot: u64) -> u64;

    /// Whether one of the four is `fingerprint`.
    #[inline(always)]
    fn holds(self, fields: Fields, fingerprint: u64) -> bool {
        self.fields_of(fields, fingerprint) > Self::default()
    }
}

impl Bits for u64 {
    #[inline(always)]
    fn read(spot: Spot<'_>) -> Self {
        spot.narrow()
    }

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the patterns of narrow buckets have at most 64 bits"
    )]
    fn fields_of(self, fields: Fields, fingerprint: u64) -> Self {
        let (ones, highs) = (fields.ones as u64, fields.highs as u64);
        let zero_where_equal = self ^ ones.wrapping_mul(fingerprint);
        zero_where_equal.wrapping_sub(ones) & !zero_where_equal & highs
    }

    #[inline(always)]
    fn first(self, fields: Fields) -> u64 {
        u64::from(self.trailing_zeros() + 1 - fields.bits)
    }

    #[inline(always)]
    fn slot(self, fields: Fields, slot: u64) -> u64 {
        self >> (slot * u64::from(fields.bits)) & ((1 << fields.bits) - 1)
    }
}

impl Bits for u128 {
    #[inline(always)]
    fn read(spot: Spot<'_>) -> Self {
        spot.wide()
    }

    #[inline(always)]
    fn fields_of(self, fields: Fields, fingerprint: u64) -> Self {
        let zero_where_equal = self ^ fields.ones.wrapping_mul(Self::from(fingerprint));
        zero_where_equal.wrapping_sub(fields.ones) & !zero_where_equal & fields.highs
    }

    #[inline(always)]
    fn first(self, fields: Fields) -> u64 {
        u64::from(self.trailing_zeros() + 1 - fields.bits)
    }

    #[inline(always)]
    fn slot(self, fields: Fields, slot: u64) -> u64 {
        fields.slot(self, slot)
    }
}
