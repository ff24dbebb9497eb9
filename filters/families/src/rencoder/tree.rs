//! Asking one mini-tree: which of its leaves may hold a key?
//!
//! Each stored level of a block of 64 leaves is one word with a bit at the first leaf of every node. Multiplying by a
//! run of ones fills each node's bit over all its leaves, so the AND of all levels, over all hash functions, leaves
//! exactly the leaves whose whole path is set: the depth-first verification of the paper, for 64 leaves at once,
//! without a branch.

use lacuna_succinct::bytes::load_u64;

use super::lines::Lines;
use crate::probes::note_probe;

/// Leaves of a block.
pub(crate) const BLOCK: u64 = 64;
/// Blocks of the largest mini-tree.
pub(crate) const MAX_BLOCKS: usize = 4;

/// For each level, the first leaf of every node in a block.
const FIRST_LEAVES: [u64; 8] = [
    u64::MAX,
    0x5555_5555_5555_5555,
    0x1111_1111_1111_1111,
    0x0101_0101_0101_0101,
    0x0001_0001_0001_0001,
    0x0000_0001_0000_0001,
    1,
    1,
];
/// For each level, as many ones as a node has leaves in a block.
const NODE_LEAVES: [u64; 8] = [1, 3, 0xF, 0xFF, 0xFFFF, 0xFFFF_FFFF, u64::MAX, u64::MAX];

/// The block in which the bit of a node that holds `block` stands.
#[inline(always)]
pub(crate) fn home_block(level: u32, block: usize) -> usize {
    // Only nodes of 128 leaves reach over two blocks.
    if level < 7 { block } else { block & !1 }
}

/// How mini-trees of one group are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeShape {
    pub(crate) lines: Lines,
    pub(crate) hash_count: u32,
    /// Stored levels of the mini-tree, from its leaves upwards, at most 8.
    pub(crate) levels: u32,
}

impl TreeShape {
    /// Those of the `wanted` leaves of `block` that may hold a key.
    #[inline(always)]
    pub(crate) fn alive(self, body: &[u8], tree_hash: u64, block: usize, wanted: u64) -> u64 {
        let mut alive = wanted;
        for function in 0..self.hash_count {
            let placement = self.lines.placement(tree_hash, function);
            for level in 0..self.levels {
                let (offset, turn) = self.lines.word(placement, level, home_block(level, block));
                let nodes = load_u64(body, offset).rotate_right(turn);
                let kind = level as usize & 7;
                alive &= (nodes & FIRST_LEAVES[kind]).wrapping_mul(NODE_LEAVES[kind]);
            }
            if alive == 0 {
                return 0;
            }
        }
        alive
    }

    /// Whether one of the leaves `first..=last` may hold a key.
    #[inline(always)]
    pub(crate) fn any_alive(self, body: &[u8], tree_hash: u64, first: u64, last: u64) -> bool {
        note_probe();
        let (first_block, last_block) = (first / BLOCK, last / BLOCK);
        (first_block..=last_block).any(|block| {
            self.alive(body, tree_hash, block_index(block), leaves_between(block, first, last)) != 0
        })
    }
}

#[inline(always)]
pub(crate) fn block_index(block: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "a mini-tree has at most four blocks")]
    let index = block as usize;
    index
}

/// The leaves of `block` that lie in `first..=last`, which reaches into it.
#[inline(always)]
pub(crate) fn leaves_between(block: u64, first: u64, last: u64) -> u64 {
    let start = block * BLOCK;
    let from = u64::MAX << (first.max(start) & 63);
    let to = u64::MAX >> (63 - (last.min(start + 63) & 63));
    from & to
}
