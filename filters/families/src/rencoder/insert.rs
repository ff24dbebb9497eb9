//! Inserting keys: every node of the stored levels once, one cache line for each mini-tree and hash function.
//!
//! A key shares the nodes above its first differing bit with the key before it, so only those below are new. The lines
//! of a few dozen insertions are asked for before the first of them is written.

use std::ops::Range;

use lacuna_succinct::arch::prefetch;

use super::lines::{Lines, Placement};
use super::query::Rencoder;
use super::tree::{BLOCK, block_index, home_block};

/// Insertions whose lines are on their way from memory.
const IN_FLIGHT: usize = 32;

/// The nodes of one key in one mini-tree under one hash function.
#[derive(Debug, Clone, Copy)]
struct Branch {
    placement: Placement,
    leaf: u64,
    from: u32,
    to: u32,
}

/// Inserts the levels counted in `steps` from the filter's lowest, for ascending `keys`.
pub(crate) fn insert(filter: &Rencoder, keys: &[u64], steps: Range<u32>, body: &mut [u8]) {
    let mut waiting = Waiting { lines: filter.lines, branches: Vec::with_capacity(IN_FLIGHT) };
    let low = filter.header.levels.low;
    let mut before = None;
    for node in keys.iter().map(|key| key >> low) {
        let fresh = before.map_or(u64::BITS, |before| bit_length(before ^ node));
        before = Some(node);
        let steps = steps.start..steps.end.min(fresh);
        if !steps.is_empty() {
            insert_path(filter, node, steps, &mut waiting, body);
        }
    }
    waiting.write(body);
}

fn bit_length(word: u64) -> u32 {
    u64::BITS - word.leading_zeros()
}

/// Inserts the nodes above `node` on the levels counted in `steps`.
#[inline(always)]
fn insert_path(filter: &Rencoder, node: u64, steps: Range<u32>, waiting: &mut Waiting, body: &mut [u8]) {
    let tree_levels = filter.header.tree_levels;
    let mut below = steps.start / tree_levels * tree_levels;
    while below < steps.end {
        let place = node >> below;
        let hash = filter.hash(place >> tree_levels, below / tree_levels);
        let from = steps.start.max(below) - below;
        let to = (steps.end - below).min(tree_levels);
        for function in 0..filter.header.hash_count {
            let placement = filter.lines.placement(hash, function);
            prefetch(body, placement.offset);
            let branch = Branch { placement, leaf: place & filter.leaf_mask(), from, to };
            waiting.push(branch, body);
        }
        below += tree_levels;
    }
}

/// Branches whose lines are on their way.
struct Waiting {
    lines: Lines,
    branches: Vec<Branch>,
}

impl Waiting {
    #[inline(always)]
    fn push(&mut self, branch: Branch, body: &mut [u8]) {
        self.branches.push(branch);
        if self.branches.len() == IN_FLIGHT {
            self.write(body);
        }
    }

    /// Sets the bits of all of them.
    fn write(&mut self, body: &mut [u8]) {
        for branch in self.branches.drain(..) {
            for level in branch.from..branch.to {
                let first_leaf = branch.leaf >> level << level;
                let block = home_block(level, block_index(first_leaf / BLOCK));
                let (offset, turn) = self.lines.word(branch.placement, level, block);
                #[expect(clippy::cast_possible_truncation, reason = "below 64")]
                let bit = (first_leaf as u32 + turn) & 63;
                body[offset + (bit / 8) as usize] |= 1 << (bit & 7);
            }
        }
    }
}
