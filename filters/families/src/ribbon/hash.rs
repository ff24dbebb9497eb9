//! The hashes of a block: one for each layer, and one that its value is hidden under.

use lacuna_base::hash::{IntegerHasher, reduce};

/// Odd multipliers that mix a hash into the next, and into the mask of a block's value.
const NEXT: u64 = 0xD6E8_FEB8_6659_FD93;
const MASK: u64 = 0xA076_1D64_78BD_642F;

/// The hash of a block in one layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockHash(u64);

impl BlockHash {
    /// The hash in the first layer. Distinct blocks have distinct hashes.
    #[inline(always)]
    pub(crate) fn new(hasher: IntegerHasher, block: u64) -> Self {
        Self(hasher.hash(block))
    }

    /// The hash in the next layer.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self((self.0 ^ (self.0 >> 32)).wrapping_mul(NEXT))
    }

    /// The hash in layer `layer`, given the one in the first.
    #[inline(always)]
    pub(crate) fn in_layer(self, layer: usize) -> Self {
        (0..layer).fold(self, |hash, _| hash.next())
    }

    /// A number below `bound`.
    #[inline(always)]
    pub(crate) fn below(self, bound: u64) -> u64 {
        reduce(self.0, bound)
    }

    /// The rows of a window that the block's value is the sum of; the first always is.
    #[inline(always)]
    pub(crate) fn coefficients(self, window: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
        let low = self.0 as u32;
        (low & (u32::MAX >> (32 - window))) | 1
    }

    /// The mask of the block's value; to be taken from the hash in the first layer. Positions of keys may be anything, all
    /// zero for instance: under the mask, what is stored is random, and so is what a block without a key finds.
    #[inline(always)]
    pub(crate) fn mask(self) -> u32 {
        ((self.0 ^ (self.0 >> 29)).wrapping_mul(MASK) >> 32) as u32
    }
}
