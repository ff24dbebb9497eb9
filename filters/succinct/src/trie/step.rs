//! The step that every search repeats: from a node, by a label, to the node below.

use super::block::Block;
use super::geometry::{BLOCK_SLOTS, COUNT_BYTES, DENSE_BYTES, LEAF_COUNT_BITS};
use super::layout::Layout;
use super::sparse::SparseNode;
use crate::arch::Isa;
use crate::bytes::{address, load_u64, low_mask};

/// Words of a whole bitmap.
const WORDS: usize = 4;

/// Where a label leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nowhere: no path goes on with this label.
    Absent,
    /// To a leaf, at this slot.
    Leaf(u64),
    /// On: through this slot to this node.
    Node {
        /// The slot with the label.
        slot: u64,
        /// The node below it.
        child: u64,
    },
}

impl Layout {
    /// Follows `label` from `node`: as `find`, [`has_child`](Self::has_child) and
    /// [`child`](Self::child), but reading the block once.
    #[inline(always)]
    pub fn step<I: Isa>(&self, isa: I, bytes: &[u8], node: u64, label: u8) -> Step {
        if self.is_dense(node) {
            return self.dense_step(isa, bytes, node, label);
        }
        if node >= self.end {
            return Step::Absent;
        }
        let (block, labels_at) = self.sparse_block(node - self.dense_slots);
        let place = match block.short_node(bytes) {
            Some(len) => SparseNode::place_in_short(isa, bytes, labels_at + block.bit as usize, len, label),
            None => self.find(isa, bytes, node, label).map(|slot| slot - node),
        };
        match place {
            None => Step::Absent,
            Some(0) => self.enter(isa, bytes, node, block),
            Some(place) => self.enter(isa, bytes, node + place, self.block(node + place)),
        }
    }

    /// The leaf or node that `slot` of the sparse `block` leads to.
    #[inline(always)]
    fn enter<I: Isa>(&self, isa: I, bytes: &[u8], slot: u64, block: Block) -> Step {
        if !block.has_child(bytes) {
            return Step::Leaf(slot);
        }
        let (base, rank) = (block.first_child(bytes), block.children_before(isa, bytes));
        Step::Node { slot, child: self.child_of(isa, bytes, slot, base, rank) }
    }

    #[inline(always)]
    fn dense_step<I: Isa>(&self, isa: I, bytes: &[u8], node: u64, label: u8) -> Step {
        let at = self.parts.dense + address(node / BLOCK_SLOTS) * DENSE_BYTES;
        let Some(record) = bytes.get(at..).and_then(<[u8]>::first_chunk::<DENSE_BYTES>) else {
            return Step::Absent;
        };
        let (words, _) = record[COUNT_BYTES..].as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let (index, bit) = (usize::from(label / 64), u32::from(label % 64));
        if word(WORDS + index) >> bit & 1 == 0 {
            return Step::Absent;
        }
        let slot = node + u64::from(label);
        if word(index) >> bit & 1 == 0 {
            return Step::Leaf(slot);
        }
        let mut rank = isa.count_ones(word(index) & low_mask(bit));
        for before in 0..WORDS - 1 {
            let count = isa.count_ones(word(before));
            rank += if before < index { count } else { 0 };
        }
        let count = u32::from_le_bytes(*record.first_chunk().expect("a record starts with its count"));
        let group_at = self.dense_block(node).group_at() + 8;
        let base = load_u64(bytes, group_at).wrapping_add(u64::from(count >> LEAF_COUNT_BITS));
        Step::Node { slot, child: self.child_of(isa, bytes, slot, base, rank) }
    }

    /// The `rank`-th node from the one at `base`, as the child of `slot`.
    #[inline(always)]
    pub(super) fn child_of<I: Isa>(&self, isa: I, bytes: &[u8], slot: u64, base: u64, rank: u32) -> u64 {
        let child = if self.is_dense(base) {
            base + u64::from(rank) * BLOCK_SLOTS
        } else {
            self.nth_node_from(isa, bytes, base - self.dense_slots, u64::from(rank))
        };
        // Children stand after their parents; where damaged bytes say otherwise, walks end here.
        if child > slot { child } else { self.end }
    }
}
