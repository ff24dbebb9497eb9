//! A sparse node: a run of labels, found by vector comparison.

use super::geometry::BLOCK_SLOTS;
use super::layout::Layout;
use super::level::MARK;
use crate::arch::Isa;
use crate::bytes::{low_half, low_mask};

/// Labels compared at once.
const CHUNK: usize = 32;
/// Labels that there are.
const LABELS: u64 = 256;
/// Most slots of a node: a mark and all labels.
const MAX_SLOTS: u64 = LABELS + 1;

/// The slots of a sparse node.
#[derive(Debug, Clone, Copy)]
pub(super) struct SparseNode {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) is_marked: bool,
}

impl SparseNode {
    /// The node that starts at `start`, which must be below the end of the trie.
    #[inline(always)]
    pub(super) fn read(layout: &Layout, bytes: &[u8], start: u64) -> Self {
        let (block, labels_at) = layout.sparse_block(start - layout.dense_slots);
        let word = block.second_word(bytes, block.bit as usize / 64);
        let behind = word >> (block.bit % 64) >> 1;
        let end = match behind {
            0 => Self::far_end(layout, bytes, start),
            _ => start + 1 + u64::from(behind.trailing_zeros()),
        };
        let first = bytes.get(labels_at + block.bit as usize).copied().unwrap_or(0);
        Self { start, end, is_marked: first == MARK && end > start + 1 }
    }

    /// The place of `label` in a node of `len` slots, at most 32, whose labels stand together from byte `at`.
    #[inline(always)]
    pub(super) fn place_in_short<I: Isa>(
        isa: I,
        bytes: &[u8],
        at: usize,
        len: u32,
        label: u8,
    ) -> Option<u64> {
        let first = *bytes.get(at)?;
        let is_marked = first == MARK && len > 1;
        if first == label && !is_marked {
            return Some(0);
        }
        if len == 1 {
            return None;
        }
        let below = isa.count_ones(u64::from(labels_below(isa, bytes, at, label)) & low_mask(len));
        let place = below + u32::from(is_marked);
        let found = place < len && bytes.get(at + place as usize) == Some(&label);
        if found { Some(u64::from(place)) } else { None }
    }

    /// The end of a node that reaches beyond its first word.
    #[inline(never)]
    fn far_end(layout: &Layout, bytes: &[u8], start: u64) -> u64 {
        let max = layout.end.min(start + MAX_SLOTS);
        let mut place = (start - layout.dense_slots) / 64 * 64 + 64;
        while layout.dense_slots + place < max {
            let (block, _) = layout.sparse_block(place);
            let word = block.second_word(bytes, block.bit as usize / 64);
            if word != 0 {
                return max.min(layout.dense_slots + place + u64::from(word.trailing_zeros()));
            }
            place += 64;
        }
        max
    }

    /// The slot after the mark, if there is one.
    #[inline(always)]
    pub(super) fn first_label(&self) -> u64 {
        self.start + u64::from(self.is_marked)
    }

    /// The first slot after the mark whose label is at least `label`; the end if there is none.
    #[inline(always)]
    pub(super) fn first_reaching<I: Isa>(&self, isa: I, bytes: &[u8], layout: &Layout, label: u8) -> u64 {
        let (first, label_value) = (self.first_label(), u64::from(label));
        let labels = self.end - first;
        // The labels ascend: the one at place i is at least i, and at most i more than those of 256 that are missing.
        let passed = label_value.saturating_sub(LABELS.saturating_sub(labels));
        let (mut slot, end) = (first + passed, first + labels.min(label_value));
        let mut below = passed;
        while slot < end {
            let (block, labels_at) = layout.sparse_block(slot - layout.dense_slots);
            let in_block = (BLOCK_SLOTS - u64::from(block.bit)).min(CHUNK as u64);
            let count = (end - slot).min(in_block);
            let mask = labels_below(isa, bytes, labels_at + block.bit as usize, label);
            below += u64::from(isa.count_ones(u64::from(mask) & low_mask(low_half(count))));
            slot += count;
        }
        first + below
    }
}

/// Which of the 32 bytes from `at` are below `bound`; bytes past the end are 0.
#[inline(always)]
fn labels_below<I: Isa>(isa: I, bytes: &[u8], at: usize, bound: u8) -> u32 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => isa.bytes_below(chunk, bound),
        None => tail_below(bytes, at, bound),
    }
}

#[cold]
fn tail_below(bytes: &[u8], at: usize, bound: u8) -> u32 {
    let tail = bytes.get(at..).unwrap_or_default();
    tail.iter().take(CHUNK).zip(0..).fold(0, |mask, (&byte, place)| mask | u32::from(byte < bound) << place)
}
