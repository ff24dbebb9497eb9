//! One block: the bitmaps around a slot, and the two counts that the slots before it are known by.

use super::geometry::{
    BLOCK_SLOTS, COUNT_BYTES, DENSE_BYTES, GROUP_BYTES, GROUP_LEAF_BITS, GROUP_SHIFT, HEADER_BYTES,
    LEAF_COUNT_BITS, SPARSE_BYTES,
};
use super::layout::Layout;
use super::words::{WORDS, Words, counts_through, last_words_at, word, word_of, words_at};
use crate::arch::{Isa, prefetch};
use crate::bytes::{address, load_u32, load_u64, low_half, low_mask};

/// Most slots of a node whose labels are compared at once.
pub(super) const SHORT_NODE: u32 = 32;

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

    /// Asks for the lines that a step from `node` reads, without waiting for them.
    #[inline(always)]
    pub fn prefetch_node(&self, bytes: &[u8], node: u64) {
        if self.is_dense(node) {
            let block = self.dense_block(node);
            prefetch(bytes, block.at);
            return prefetch(bytes, block.second_at + WORDS * 8 - 1);
        }
        let (block, labels_at) = self.sparse_block(node - self.dense_slots);
        prefetch(bytes, block.group_at);
        prefetch(bytes, block.at);
        prefetch(bytes, block.second_at + WORDS * 8 - 1);
        prefetch(bytes, labels_at + block.bit as usize);
    }

    /// Asks for the line of a value, without waiting for it.
    #[inline(always)]
    pub fn prefetch_value(&self, bytes: &[u8], leaf: u64) {
        let first_bit = leaf.saturating_mul(u64::from(self.value_bits));
        prefetch(bytes, self.parts.values.saturating_add(address(first_bit / 8)));
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

    /// The start of the `rank`-th node at or after the slot, counted from 0, as a bit of the block; or how many nodes
    /// the block has from the slot on, if they are no more than `rank`.
    #[inline(always)]
    pub(super) fn nth_node<I: Isa>(&self, isa: I, bytes: &[u8], rank: u64) -> Result<u32, u64> {
        let tail;
        let words = match words_at(bytes, self.second_at) {
            Some(words) => words,
            None => {
                tail = last_words_at(bytes, self.second_at);
                &tail
            }
        };
        let through = counts_through(isa, words);
        let before = u64::from(self.count_before(isa, words, through));
        let (wanted, all) = (rank + before, u64::from(through[WORDS - 1]));
        if wanted >= all {
            return Err(all - before);
        }
        let wanted = low_half(wanted);
        let (index, passed) = word_of(through, wanted);
        let in_word = isa.select_in_word(word(words, index), wanted - passed);
        Ok(low_half(index as u64 * 64) + in_word)
    }

    /// Word `index` of the second bitmap.
    #[inline(always)]
    pub(super) fn second_word(&self, bytes: &[u8], index: usize) -> u64 {
        load_u64(bytes, self.second_at + index * 8)
    }

    /// Children of the block's slots before this one.
    #[inline(always)]
    pub(super) fn children_before<I: Isa>(&self, isa: I, bytes: &[u8]) -> u32 {
        let at = self.at + COUNT_BYTES;
        let tail;
        let words = match words_at(bytes, at) {
            Some(words) => words,
            None => {
                tail = last_words_at(bytes, at);
                &tail
            }
        };
        self.count_before(isa, words, counts_through(isa, words))
    }

    /// Slots of a dense node before this one that are leaves, its mark apart.
    #[inline(always)]
    pub(super) fn dense_leaves_before<I: Isa>(&self, isa: I, bytes: &[u8]) -> u32 {
        let mut leaves = [0; WORDS * 8];
        for (index, place) in leaves.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let children = load_u64(bytes, self.at + COUNT_BYTES + index * 8);
            *place = (self.second_word(bytes, index) & !children).to_le_bytes();
        }
        self.count_before(isa, &leaves, counts_through(isa, &leaves))
    }

    /// Ones of `words` before the slot, counted from the ones through each word.
    #[inline(always)]
    fn count_before<I: Isa>(&self, isa: I, words: &Words, through: [u32; WORDS]) -> u32 {
        let index = self.bit as usize / 64 % WORDS;
        let mut whole = if index > 0 { through[0] } else { 0 };
        whole = if index > 1 { through[1] } else { whole };
        whole = if index > 2 { through[2] } else { whole };
        whole + isa.count_ones(word(words, index) & low_mask(self.bit % 64))
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
