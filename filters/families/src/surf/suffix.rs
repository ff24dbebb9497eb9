//! The suffix after a kept path: hash bits below, real bits above, in one number.

use std::cmp::Ordering;

use super::key::{PathKey, low_bits};

/// Widths of both parts, and the seed of the hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Suffixes {
    pub(crate) hash_bits: u32,
    pub(crate) real_bits: u32,
    pub(crate) seed: u64,
}

impl Suffixes {
    /// Bits of both parts together.
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.hash_bits + self.real_bits
    }

    /// The number for `key` after its first `depth` bytes.
    #[inline(always)]
    pub(crate) fn of(self, key: &impl PathKey, depth: usize) -> u64 {
        let real = key.bits_behind(depth, self.real_bits);
        if self.hash_bits == 0 {
            return real;
        }
        (real << (self.hash_bits % 64)) | low_bits(key.hash(self.seed), self.hash_bits)
    }

    /// The real part of a stored number.
    #[inline(always)]
    pub(crate) fn real(self, stored: u64) -> u64 {
        if self.real_bits == 0 { 0 } else { stored >> self.hash_bits }
    }

    /// How the stored key compares with `key`, both of which have the same first `depth` bytes; `Equal`: unknown.
    ///
    /// Comparing as if zeros followed the shorter key is right: where the numbers differ, the smaller one has a zero at
    /// the first difference, and the larger key has a byte there.
    #[inline(always)]
    pub(crate) fn compare(self, stored: u64, key: &impl PathKey, depth: usize) -> Ordering {
        self.real(stored).cmp(&key.bits_behind(depth, self.real_bits))
    }
}
