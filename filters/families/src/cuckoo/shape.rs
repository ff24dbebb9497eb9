//! Where a fingerprint may stand: everything that follows from a hash by arithmetic.
//!
//! A hash gives a *class* (its high bits, scaled to the number of buckets at the beginning) and a *fingerprint* (its low
//! bits). The lowest eight bits of a fingerprint, its *core*, are never 0 together; they alone decide the offset between the
//! two classes and the way through growth, so the bits above them can be dropped later.

use lacuna_base::hash::reduce;

/// Slots of a bucket: with four, 95 % of all slots can be filled (Fan and others, section 5.1).
pub(crate) const SLOTS: u64 = 4;
/// Bits of a fingerprint that are never dropped.
const CORE_BITS: u32 = 8;
/// Spreads the core over 64 bits; odd, from the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Widths and number of buckets of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bits of a fingerprint, 4 to 32.
    pub(crate) fingerprint_bits: u32,
    /// Bits that are never 0 together: 8, or all if there are fewer.
    pub(crate) core_bits: u32,
    /// Buckets at the beginning, at least 1.
    pub(crate) base: u64,
}

impl Shape {
    /// Fewest bits of a fingerprint.
    pub(crate) const MIN_BITS: u32 = 4;
    /// Most bits of a fingerprint.
    pub(crate) const MAX_BITS: u32 = 32;

    /// A shape with `base` buckets and fingerprints of 4 to 32 bits.
    pub(crate) fn new(fingerprint_bits: u32, base: u64) -> Self {
        let fingerprint_bits = fingerprint_bits.clamp(Self::MIN_BITS, Self::MAX_BITS);
        Self { fingerprint_bits, core_bits: fingerprint_bits.min(CORE_BITS), base: base.max(1) }
    }

    /// The class of a hash, below `base`.
    #[inline(always)]
    pub(crate) fn class(self, hash: u64) -> u64 {
        reduce(hash, self.base)
    }

    /// The fingerprint of a hash; never 0.
    #[inline(always)]
    pub(crate) fn fingerprint(self, hash: u64) -> u64 {
        let low = hash & 0xFFFF_FFFF;
        let core = ((low * ((1 << self.core_bits) - 1)) >> 32) + 1;
        let above = low & ((1 << (self.fingerprint_bits - self.core_bits)) - 1);
        above << self.core_bits | core
    }

    /// The other class of a fingerprint; the other of the other is the first.
    #[inline(always)]
    pub(crate) fn other_class(self, class: u64, fingerprint: u64) -> u64 {
        let offset = reduce(self.core(fingerprint).wrapping_mul(SPREAD), self.base);
        if offset >= class { offset - class } else { offset + self.base - class }
    }

    /// The bucket of a fingerprint of `class` among `buckets` (linear hashing): bits of a hash of core and class say
    /// which of the buckets that the class has by now. The two classes of a fingerprint have different bits, so that
    /// no part of a growing table is separate from the rest.
    #[inline(always)]
    pub(crate) fn bucket(self, class: u64, fingerprint: u64, buckets: u64) -> u64 {
        if buckets == self.base {
            return class;
        }
        let (mut span, mut mask) = (self.base, 0);
        while span * 2 <= buckets {
            span *= 2;
            mask = mask * 2 + 1;
        }
        let mixed = (class << 8 | self.core(fingerprint)).wrapping_mul(SPREAD);
        let bits = (mixed ^ (mixed >> 29)).wrapping_mul(SPREAD) >> 40;
        let split = class + self.base * (bits & (mask * 2 + 1));
        if split < buckets { split } else { class + self.base * (bits & mask) }
    }

    /// The bucket that bucket `new`, the last of a growing table, takes fingerprints from.
    pub(crate) fn parent(self, new: u64) -> u64 {
        let mut span = self.base;
        while span * 2 <= new {
            span *= 2;
        }
        new - span
    }

    /// The class whose fingerprints stand in `bucket`.
    pub(crate) fn class_of_bucket(self, bucket: u64) -> u64 {
        bucket % self.base
    }

    /// Most buckets: far fewer for each class than there are cores to distinguish them.
    pub(crate) fn max_buckets(self) -> u64 {
        self.base << (self.core_bits - 2)
    }

    /// Bits of a bucket.
    #[inline(always)]
    pub(crate) fn bucket_bits(self) -> u64 {
        SLOTS * u64::from(self.fingerprint_bits)
    }

    /// Bytes of `buckets` buckets side by side.
    pub(crate) fn bytes_of(self, buckets: u64) -> u64 {
        (buckets * self.bucket_bits()).div_ceil(8)
    }

    /// Number of fingerprints there are.
    pub(crate) fn fingerprints(self) -> f64 {
        let core = ((1u64 << self.core_bits) - 1) as f64;
        core * (1u64 << (self.fingerprint_bits - self.core_bits)) as f64
    }

    /// Expected share of absent keys that are "maybe" with this many fingerprints. They stand in a pair of classes each, and
    /// so do questions; how many buckets a class has grown to does not matter.
    pub(crate) fn rate(self, stored: f64) -> f64 {
        1.0 - libm::exp(-2.0 * stored / self.base as f64 / self.fingerprints())
    }

    #[inline(always)]
    fn core(self, fingerprint: u64) -> u64 {
        fingerprint & ((1 << self.core_bits) - 1)
    }
}
