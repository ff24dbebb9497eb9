//! One block: the bitmaps around a slot, and the two counts that the slots before it are known by.

use super::geometry::{
    BLOCK_SLOTS, COUNT_BYTES, DENSE_BYTES, GROUP_BYTES, GROUP_LEAF_BITS, GROUP_SHIFT, HEADER_BYTES,
    LEAF_COUNT_BITS, SPARSE_BYTES,
};
use super::layout::Layout;
use crate::arch::Isa;
use crate::bytes::{address, load_u32, load_u64, low_half, low_mask};

/// Words of a bitmap.
const WORDS: usize = 4;

/// Most slots of a node whose labels are compared at once.
pub(super) const SHORT_NODE: u32 = 32;
/// The first bit of each word.
const WORD_STARTS: [u32; WORDS] = [0, 64, 128, 192];

/// The block of a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// First byte of the block, whose count comes first and then the bitmap of children.
    at: usize,
    /// First byte of the group's entry.
    group_at: usize,
    /// First byte of the second bitmap: labels of a dense node, first slots of sparse nodes.
    second_at: usize,
    /// The slot's place in the block.
    pub(super) bit: u32,
}

impl Layout {
    /// Whether `address` is in a dense node.
    #[inline(always)]
    pub(super) fn is_dense(&self, address: u64) -> bool {
        address < self.dense_slots
    }

    /// The block of `slot`, in whichever part it is.
    #[inline(always)]
    pub(super) fn block(&self, slot: u64) -> Block {
        if self.is_dense(slot) {
            self.dense_block(slot)
        } else {
            self.sparse_block(slot - self.dense_slots).0
        }
    }

    /// The dense node of `slot`.
    #[inline(always)]
    pub(super) fn dense_block(&self, slot: u64) -> Block {
        let node = address(slot / BLOCK_SLOTS);
        let at = self.parts.dense + node * DENSE_BYTES;
        Block {
            at,
            group_at: HEADER_BYTES + (node >> GROUP_SHIFT) * GROUP_BYTES,
            second_at: at + COUNT_BYTES + WORDS * 8,
            bit: low_half(slot % BLOCK_SLOTS),
        }
    }

    /// The block of the sparse slot `place`, counted from the first sparse one, and the first byte of its labels.
    #[inline(always)]
    pub(super) fn sparse_block(&self, place: u64) -> (Block, usize) {
        let index = place / BLOCK_SLOTS;
        let words = if index < self.last_block { WORDS } else { self.last_words };
        let at = self.parts.sparse + address(index) * SPARSE_BYTES;
        let block = Block {
            at,
            group_at: self.parts.sparse_groups + address(index >> GROUP_SHIFT) * GROUP_BYTES,
            second_at: at + COUNT_BYTES + words * 8,
            bit: low_half(place % BLOCK_SLOTS),
        };
        (block, at + COUNT_BYTES + words * 16)
    }
}

impl Block {
    /// Whether the slot leads to a node.
    #[inline(always)]
    pub(super) fn has_child(&self, bytes: &[u8]) -> bool {
        let word = load_u64(bytes, self.at + COUNT_BYTES + self.bit as usize / 64 * 8);
        word >> (self.bit % 64) & 1 == 1
    }

    /// Slots of the sparse node that starts at the slot, if it ends in the same word and is short.
    #[inline(always)]
    pub(super) fn short_node(&self, bytes: &[u8]) -> Option<u32> {
        let behind = self.second_word(bytes, self.bit as usize / 64) >> (self.bit % 64) >> 1;
        let len = behind.trailing_zeros() + 1;
        if len <= SHORT_NODE { Some(len) } else { None }
    }

    /// First byte of the group's entry.
    #[inline(always)]
    pub(super) fn group_at(&self) -> usize {
        self.group_at
    }

    /// The second bitmap from the slot on.
    #[inline(always)]
    pub(super) fn nodes(&self, bytes: &[u8]) -> [u64; WORDS] {
        let [first, second, third, fourth] = words_at(bytes, self.second_at);
        [first & !self.before(0), second & !self.before(1), third & !self.before(2), fourth & !self.before(3)]
    }

    /// Word `index` of the second bitmap.
    #[inline(always)]
    pub(super) fn second_word(&self, bytes: &[u8], index: usize) -> u64 {
        load_u64(bytes, self.second_at + index * 8)
    }

    /// Children of the block's slots before this one.
    #[inline(always)]
    pub(super) fn children_before<I: Isa>(&self, isa: I, bytes: &[u8]) -> u32 {
        self.count_before(isa, words_at(bytes, self.at + COUNT_BYTES))
    }

    /// Slots of a dense node before this one that are leaves, its mark apart.
    #[inline(always)]
    pub(super) fn dense_leaves_before<I: Isa>(&self, isa: I, bytes: &[u8]) -> u32 {
        let children = words_at(bytes, self.at + COUNT_BYTES);
        let [first, second, third, fourth] = words_at(bytes, self.second_at);
        let leaves =
            [first & !children[0], second & !children[1], third & !children[2], fourth & !children[3]];
        self.count_before(isa, leaves)
    }

    /// Ones before the slot. Written out: the closures of an iterator are compiled apart, without the instructions
    /// that `isa` stands for.
    #[inline(always)]
    fn count_before<I: Isa>(&self, isa: I, [first, second, third, fourth]: [u64; WORDS]) -> u32 {
        let low = isa.count_ones(first & self.before(0)) + isa.count_ones(second & self.before(1));
        low + isa.count_ones(third & self.before(2)) + isa.count_ones(fourth & self.before(3))
    }

    /// The bits of word `index` that are before the slot.
    #[inline(always)]
    fn before(&self, index: usize) -> u64 {
        low_mask(self.bit.saturating_sub(WORD_STARTS[index]))
    }

    /// Leaves in all blocks before this one.
    #[inline(always)]
    pub(super) fn leaves_before(&self, bytes: &[u8]) -> u64 {
        let in_group = load_u32(bytes, self.at) & ((1 << LEAF_COUNT_BITS) - 1);
        (load_u64(bytes, self.group_at) & low_mask(GROUP_LEAF_BITS)) + u64::from(in_group)
    }

    /// Whether the dense node of `slot` is marked.
    #[inline(always)]
    pub(super) fn is_marked(&self, bytes: &[u8], slot: u64) -> bool {
        let node_in_group = slot / BLOCK_SLOTS % (1 << GROUP_SHIFT);
        load_u64(bytes, self.group_at) >> (u64::from(GROUP_LEAF_BITS) + node_in_group) & 1 == 1
    }

    /// The address of the block's first child.
    #[inline(always)]
    pub(super) fn first_child(&self, bytes: &[u8]) -> u64 {
        let distance = load_u32(bytes, self.at) >> LEAF_COUNT_BITS;
        load_u64(bytes, self.group_at + 8).wrapping_add(u64::from(distance))
    }
}

/// The four words from byte `at`; zeros past the end.
#[inline(always)]
fn words_at(bytes: &[u8], at: usize) -> [u64; WORDS] {
    match bytes.get(at..).and_then(<[u8]>::first_chunk::<{ WORDS * 8 }>) {
        Some(chunk) => {
            let words = chunk.as_chunks::<8>().0;
            [0, 1, 2, 3].map(|index| u64::from_le_bytes(words[index]))
        }
        None => last_words_at(bytes, at),
    }
}

#[cold]
fn last_words_at(bytes: &[u8], at: usize) -> [u64; WORDS] {
    [0, 8, 16, 24].map(|offset| load_u64(bytes, at + offset))
}
