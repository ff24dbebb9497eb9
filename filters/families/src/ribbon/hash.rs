//! The hashes of a block: one for each layer, and one that its value is hidden under.

use lacuna_base::hash::reduce;

use crate::hashing::BlockHasher;

/// Odd multiplier that mixes a hash into the next.
const NEXT: u64 = 0xD6E8_FEB8_6659_FD93;

/// The hash of a block in one layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockHash {
    hash: u64,
    mask: u32,
}

impl BlockHash {
    /// The hash in the first layer. Blocks that share one fit no layer together, and one of them is spilled.
    #[inline(always)]
    pub(crate) fn new(hasher: BlockHasher, block: u64) -> Self {
        let hash = hasher.hash(block);
        Self { hash, mask: hasher.mask(block, hash) }
    }

    /// The hash in the next layer.
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self { hash: (self.hash ^ (self.hash >> 32)).wrapping_mul(NEXT), ..self }
    }

    /// The hash in layer `layer`, given the one in the first.
    #[inline(always)]
    pub(crate) fn in_layer(self, layer: usize) -> Self {
        (0..layer).fold(self, |hash, _| hash.next())
    }

    /// A number below `bound`.
    #[inline(always)]
    pub(crate) fn below(self, bound: u64) -> u64 {
        reduce(self.hash, bound)
    }

    /// The rows of a window that the block's value is the sum of; the first always is.
    #[inline(always)]
    pub(crate) fn coefficients(self, window: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
        let low = self.hash as u32;
        (low & (u32::MAX >> (32 - window))) | 1
    }

    /// The mask of the block's value, in every layer. Positions of keys may be anything, all zero for instance: under the mask,
    /// what is stored is random, and so is what a block without a key finds.
    #[inline(always)]
    pub(crate) fn mask(self) -> u32 {
        self.mask
    }
}
