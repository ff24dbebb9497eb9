//! Sizes: how long each part of a trie is, and where it starts.

use crate::bytes::address;

/// Slots of a block: those of one dense node, or this many sparse labels.
pub(super) const BLOCK_SLOTS: u64 = 256;
/// Bytes before the bits of a block: its leaves and its first child, counted from the group.
pub(super) const COUNT_BYTES: usize = 4;
/// Low bits of the count that hold the leaves: 15 blocks before this one have at most 15 * 257 of them.
pub(super) const LEAF_COUNT_BITS: u32 = 12;
/// Bytes of a dense node: the count and two bitmaps.
pub(super) const DENSE_BYTES: usize = COUNT_BYTES + 64;
/// Bytes of a whole sparse block: the count, two bitmaps and the labels.
pub(super) const SPARSE_BYTES: usize = COUNT_BYTES + 64 + 256;
/// Blocks of a group, as a power of two. The first children of two blocks of a group are at most
/// 15 * 256 * 257 = 986,880 slots apart, which the 20 high bits of the count hold.
pub(super) const GROUP_SHIFT: u64 = 4;
/// Blocks of a group.
pub(super) const GROUP_BLOCKS: u64 = 1 << GROUP_SHIFT;
/// Bytes of a group: its leaves in 48 bits, 16 more, its first child. The 16 bits are one prefix-key bit for each dense
/// node, or the number of sparse nodes that start in the group, at most 16 * 256; 0 if it is not stored.
pub(super) const GROUP_BYTES: usize = 16;
/// Bits of a group's leaves.
pub(super) const GROUP_LEAF_BITS: u32 = 48;
/// Bytes before the groups.
pub(super) const HEADER_BYTES: usize = 32;

/// The numbers that decide where everything stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) dense_nodes: u64,
    pub(super) sparse_slots: u64,
    pub(super) leaves: u64,
    pub(super) value_bits: u32,
}

/// First bytes of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) sparse_groups: usize,
    pub(super) dense: usize,
    pub(super) sparse: usize,
    pub(super) values: usize,
    pub(super) end: usize,
}

impl Geometry {
    /// Sparse blocks, the last of which may be cut short.
    pub(super) fn blocks(&self) -> u64 {
        self.sparse_slots.div_ceil(BLOCK_SLOTS)
    }

    /// Labels of the last sparse block.
    pub(super) fn last_block_slots(&self) -> u64 {
        self.sparse_slots - self.blocks().saturating_sub(1) * BLOCK_SLOTS
    }

    /// Words of each bitmap of the last sparse block.
    pub(super) fn last_block_words(&self) -> u64 {
        self.last_block_slots().div_ceil(64)
    }

    /// Where the parts start; past every slice if they cannot be addressed.
    pub(super) fn parts(&self) -> Parts {
        let groups = |blocks: u64| blocks.div_ceil(1 << GROUP_SHIFT).saturating_mul(GROUP_BYTES as u64);
        let sizes = [
            groups(self.dense_nodes),
            groups(self.blocks()),
            self.dense_nodes.saturating_mul(DENSE_BYTES as u64),
            self.sparse_bytes(),
            self.leaves.saturating_mul(u64::from(self.value_bits)).div_ceil(8),
        ];
        let mut ends = [0; 5];
        let mut end = HEADER_BYTES as u64;
        for (place, size) in ends.iter_mut().zip(sizes) {
            end = end.saturating_add(size);
            *place = address(end);
        }
        let [sparse_groups, dense, sparse, values, end] = ends;
        Parts { sparse_groups, dense, sparse, values, end }
    }

    fn sparse_bytes(&self) -> u64 {
        if self.sparse_slots == 0 {
            return 0;
        }
        let whole = (self.blocks() - 1).saturating_mul(SPARSE_BYTES as u64);
        let last = COUNT_BYTES as u64 + self.last_block_words() * 16 + self.last_block_slots();
        whole.saturating_add(last)
    }
}
