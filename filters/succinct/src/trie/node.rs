//! One step of every walk: the slots of a node, and the node below a slot.

use super::geometry::BLOCK_SLOTS;
use super::layout::Layout;
use super::level::MARK;
use super::sparse::SparseNode;
use crate::arch::Isa;

impl Layout {
    /// The slot of `node` with this label.
    #[inline(always)]
    pub fn find<I: Isa>(&self, isa: I, bytes: &[u8], node: u64, label: u8) -> Option<u64> {
        if self.is_dense(node) {
            let block = self.dense_block(node + u64::from(label));
            let word = block.second_word(bytes, usize::from(label / 64));
            return if word >> (label % 64) & 1 == 1 { Some(node + u64::from(label)) } else { None };
        }
        let node = self.sparse_node(bytes, node)?;
        let slot = node.first_reaching(isa, bytes, self, label);
        if slot < node.end && self.label(bytes, slot) == label { Some(slot) } else { None }
    }

    /// The first slot of `node` whose label is at least `label`, which may be 256.
    #[inline(always)]
    pub fn first_at_or_after<I: Isa>(&self, isa: I, bytes: &[u8], node: u64, label: u32) -> Option<u64> {
        let Ok(label) = u8::try_from(label) else { return None };
        if self.is_dense(node) {
            return self.dense_from(bytes, node, label);
        }
        let node = self.sparse_node(bytes, node)?;
        let slot = node.first_reaching(isa, bytes, self, label);
        if slot < node.end { Some(slot) } else { None }
    }

    /// The last slot of `node` whose label is below `bound`, which may be 256.
    #[inline(always)]
    pub fn last_before<I: Isa>(&self, isa: I, bytes: &[u8], node: u64, bound: u32) -> Option<u64> {
        let last = u8::try_from(bound.checked_sub(1)?.min(255)).expect("at most 255");
        if self.is_dense(node) {
            return self.dense_through(bytes, node, last);
        }
        let node = self.sparse_node(bytes, node)?;
        let slot = match last.checked_add(1) {
            Some(bound) => node.first_reaching(isa, bytes, self, bound),
            None => node.end,
        };
        if slot > node.first_label() { Some(slot - 1) } else { None }
    }

    /// The label of `slot`; a mark reads as 0xFF.
    #[inline(always)]
    pub fn label(&self, bytes: &[u8], slot: u64) -> u8 {
        if self.is_dense(slot) {
            return u8::try_from(slot % BLOCK_SLOTS).expect("below 256");
        }
        let (block, labels_at) = self.sparse_block(slot - self.dense_slots);
        bytes.get(labels_at + block.bit as usize).copied().unwrap_or(MARK)
    }

    /// Whether `slot` leads to a node; the others are leaves.
    #[inline(always)]
    pub fn has_child(&self, bytes: &[u8], slot: u64) -> bool {
        self.block(slot).has_child(bytes)
    }

    /// The node below `slot`, or where it would be if `slot` led to one: that of the next slot that does.
    #[inline(always)]
    pub fn child<I: Isa>(&self, isa: I, bytes: &[u8], slot: u64) -> u64 {
        if slot >= self.end {
            return self.end;
        }
        let block = self.block(slot);
        self.child_of(isa, bytes, slot, block.first_child(bytes), block.children_before(isa, bytes))
    }

    /// The leaf at `slot`, or the next one if `slot` is not a leaf: its place among all values.
    #[inline(always)]
    pub fn leaf<I: Isa>(&self, isa: I, bytes: &[u8], slot: u64) -> u64 {
        if slot >= self.end {
            return self.leaves;
        }
        let block = self.block(slot);
        let in_block = if self.is_dense(slot) {
            block.dense_leaves_before(isa, bytes) + u32::from(block.is_marked(bytes, slot))
        } else {
            block.bit.saturating_sub(block.children_before(isa, bytes))
        };
        block.leaves_before(bytes) + u64::from(in_block)
    }

    /// The leaf that marks `node`, if the path to the node is itself a key.
    #[inline(always)]
    pub fn mark(&self, bytes: &[u8], node: u64) -> bool {
        if self.is_dense(node) {
            self.dense_block(node).is_marked(bytes, node)
        } else {
            self.sparse_node(bytes, node).is_some_and(|node| node.is_marked)
        }
    }

    /// The place of `node`'s mark among all values; without a mark, that of the first leaf after it.
    #[inline(always)]
    pub(crate) fn mark_leaf<I: Isa>(&self, isa: I, bytes: &[u8], node: u64) -> u64 {
        if self.is_dense(node) {
            self.dense_block(node).leaves_before(bytes)
        } else {
            self.leaf(isa, bytes, node)
        }
    }

    /// The first slot after the mark of `node`.
    #[inline(always)]
    pub(crate) fn behind_mark(&self, bytes: &[u8], node: u64) -> u64 {
        if self.is_dense(node) {
            return node;
        }
        self.sparse_node(bytes, node).map_or(node, |node| node.first_label())
    }

    /// The first slot of `node`, at any address, whose label is at least `label`; the end of the node if there is none.
    ///
    /// Unlike [`first_at_or_after`](Self::first_at_or_after), a dense slot need not be taken by a key.
    #[inline(always)]
    pub(crate) fn border<I: Isa>(&self, isa: I, bytes: &[u8], node: u64, label: u8) -> u64 {
        if self.is_dense(node) {
            return node + u64::from(label);
        }
        match self.sparse_node(bytes, node) {
            Some(node) => node.first_reaching(isa, bytes, self, label),
            None => self.end,
        }
    }

    /// The slot after `slot` in its node.
    #[inline(always)]
    pub fn next_slot(&self, bytes: &[u8], slot: u64) -> Option<u64> {
        if self.is_dense(slot) {
            let label = self.label(bytes, slot).checked_add(1)?;
            return self.dense_from(bytes, slot - slot % BLOCK_SLOTS, label);
        }
        let next = slot + 1;
        if next < self.end && !self.starts_node(bytes, next) { Some(next) } else { None }
    }

    /// The slot before `slot` in its node, its mark apart.
    #[inline(always)]
    pub fn previous_slot(&self, bytes: &[u8], slot: u64) -> Option<u64> {
        if self.is_dense(slot) {
            let label = self.label(bytes, slot).checked_sub(1)?;
            return self.dense_through(bytes, slot - slot % BLOCK_SLOTS, label);
        }
        if self.starts_node(bytes, slot) || slot == self.dense_slots {
            return None;
        }
        // A real 0xFF is the last label of its node: before another slot it is a mark.
        let previous = slot - 1;
        if self.label(bytes, previous) == MARK { None } else { Some(previous) }
    }

    /// Whether the sparse `slot` is the first of its node.
    #[inline(always)]
    fn starts_node(&self, bytes: &[u8], slot: u64) -> bool {
        let (block, _) = self.sparse_block(slot - self.dense_slots);
        block.second_word(bytes, block.bit as usize / 64) >> (block.bit % 64) & 1 == 1
    }

    fn dense_from(&self, bytes: &[u8], node: u64, label: u8) -> Option<u64> {
        let block = self.dense_block(node);
        let mut kept = u64::MAX << (label % 64);
        for index in usize::from(label / 64)..4 {
            let word = block.second_word(bytes, index) & kept;
            if word != 0 {
                return Some(node + index as u64 * 64 + u64::from(word.trailing_zeros()));
            }
            kept = u64::MAX;
        }
        None
    }

    fn dense_through(&self, bytes: &[u8], node: u64, last: u8) -> Option<u64> {
        let block = self.dense_block(node);
        let mut kept = u64::MAX >> (63 - last % 64);
        for index in (0..=usize::from(last / 64)).rev() {
            let word = block.second_word(bytes, index) & kept;
            if word != 0 {
                return Some(node + index as u64 * 64 + 63 - u64::from(word.leading_zeros()));
            }
            kept = u64::MAX;
        }
        None
    }

    /// The sparse node that starts at `node`.
    #[inline(always)]
    pub(super) fn sparse_node(&self, bytes: &[u8], node: u64) -> Option<SparseNode> {
        if node < self.end { Some(SparseNode::read(self, bytes, node)) } else { None }
    }
}
