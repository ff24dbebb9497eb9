//! Finding a sparse node that lies a number of nodes ahead of another: the select after every step to a child.
//!
//! It lies in the same block or the next ones, as a rule. Below few nodes with many labels it lies up to 257 blocks ahead;
//! there, whole groups of blocks are passed by their number of nodes. A group that stores none is counted block by block.

use super::geometry::{
    BLOCK_SLOTS, COUNT_BYTES, GROUP_BLOCKS, GROUP_BYTES, GROUP_LEAF_BITS, GROUP_SHIFT, SPARSE_BYTES,
};
use super::layout::Layout;
use super::words::{WORDS, word, words_at};
use crate::arch::Isa;
use crate::bytes::{address, load_u64};

impl Layout {
    /// Start of the `rank`-th sparse node at or after the sparse slot `from`, counted from 0.
    #[inline(always)]
    pub(super) fn nth_node_from<I: Isa>(&self, isa: I, bytes: &[u8], from: u64, rank: u64) -> u64 {
        let end = self.end - self.dense_slots;
        let (mut place, mut rest) = (from, rank);
        while place < end {
            let (block, _) = self.sparse_block(place);
            match block.nth_node(isa, bytes, rest) {
                Ok(bit) => {
                    let slot = self.dense_slots + place / BLOCK_SLOTS * BLOCK_SLOTS + u64::from(bit);
                    // The last block may have fewer words, and labels read as bits: they lie after the end.
                    return slot.min(self.end);
                }
                Err(passed) => rest -= passed,
            }
            let next = place / BLOCK_SLOTS + 1;
            place = self.pass_blocks(isa, bytes, next, &mut rest) * BLOCK_SLOTS;
        }
        self.end
    }

    /// The first sparse block from `index` on with more than `rest` nodes, from which those of the blocks before it are
    /// taken off; the last block if no other is.
    #[inline(always)]
    fn pass_blocks<I: Isa>(&self, isa: I, bytes: &[u8], index: u64, rest: &mut u64) -> u64 {
        let group_end = index.next_multiple_of(GROUP_BLOCKS);
        if group_end >= self.last_block {
            return self.pass_single_blocks(isa, bytes, index, self.last_block, rest);
        }
        let index = self.pass_single_blocks(isa, bytes, index, group_end, rest);
        if index < group_end {
            return index;
        }
        let index = self.pass_groups(bytes, index, rest);
        self.pass_single_blocks(isa, bytes, index, self.last_block, rest)
    }

    /// The first block from `index` on and before `end` with more than `rest` nodes; `end` if none of them is.
    #[inline(always)]
    fn pass_single_blocks<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        mut index: u64,
        end: u64,
        rest: &mut u64,
    ) -> u64 {
        let mut at = self.parts.sparse + address(index) * SPARSE_BYTES + COUNT_BYTES + WORDS * 8;
        while index < end {
            let Some(words) = words_at(bytes, at) else { break };
            let [first, second, third, fourth] = [0, 1, 2, 3].map(|index| word(words, index));
            // Four counts that do not wait for each other.
            let nodes = (isa.count_ones(first) + isa.count_ones(second))
                + (isa.count_ones(third) + isa.count_ones(fourth));
            if *rest < u64::from(nodes) {
                break;
            }
            *rest -= u64::from(nodes);
            index += 1;
            at += SPARSE_BYTES;
        }
        index
    }

    /// The first block of the first group from `index` on, itself the first of its group, that has more than `rest`
    /// nodes or does not store their number.
    fn pass_groups(&self, bytes: &[u8], mut index: u64, rest: &mut u64) -> u64 {
        let mut at = self.parts.sparse_groups + address(index >> GROUP_SHIFT) * GROUP_BYTES;
        while index + GROUP_BLOCKS <= self.last_block {
            let nodes = load_u64(bytes, at) >> GROUP_LEAF_BITS;
            if nodes == 0 || *rest < nodes {
                break;
            }
            *rest -= nodes;
            index += GROUP_BLOCKS;
            at += GROUP_BYTES;
        }
        index
    }
}
