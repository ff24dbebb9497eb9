//! One level while the trie grows: its slots in order, with their bits and values.

use crate::bit_vector::BitVector;

/// The label that marks a prefix key, where it comes first in a node with more than one slot.
pub(super) const MARK: u8 = 0xFF;

/// The slots of one level.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    pub(super) labels: Vec<u8>,
    /// Bit i: slot i leads to a node of the next level.
    pub(super) child: Vec<u64>,
    /// Bit i: slot i is the first of its node.
    pub(super) first: Vec<u64>,
    /// The values of the slots without a child.
    pub(super) values: BitVector,
}

impl Level {
    #[inline(always)]
    pub(super) fn push(&mut self, label: u8, child: bool, first: bool) {
        let place = self.labels.len() % 64;
        if place == 0 {
            self.child.push(0);
            self.first.push(0);
        }
        let last = self.child.len() - 1;
        self.child[last] |= u64::from(child) << place;
        self.first[last] |= u64::from(first) << place;
        self.labels.push(label);
    }

    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(super) fn has_child(&self, slot: usize) -> bool {
        self.child[slot / 64] >> (slot % 64) & 1 == 1
    }

    pub(super) fn is_first(&self, slot: usize) -> bool {
        self.first.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }
}

/// The 64 bits from bit `at`; zeros past the end.
#[inline(always)]
pub(super) fn bits_from(words: &[u64], at: usize) -> u64 {
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    let shift = at % 64;
    let low = word(at / 64) >> shift;
    if shift == 0 { low } else { low | word(at / 64 + 1) << (64 - shift) }
}
