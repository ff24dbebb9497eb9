//! How keys fall into blocks, for every size of a block at once.
//!
//! Two neighbouring keys share a block of 2^j keys if they differ in their last j bits only. So one pass that counts the bits
//! in which neighbours differ tells, for every j, how many blocks hold a key and how many keys are not alone in theirs.

use std::ops::Range;

use lacuna_succinct::threads::on_threads;

use super::codec::MAX_BLOCK_LOG2;
use crate::threads::{Threads, piece_of};

/// Classes: neighbours that share blocks from 2^1, 2^2, ... on, and those that share none.
const CLASSES: usize = MAX_BLOCK_LOG2 as usize + 2;

/// The counts.
#[derive(Debug, Clone)]
pub(crate) struct BlockCounts {
    keys: f64,
    /// Pairs of neighbours, by the smallest block that they share.
    pairs: [u64; CLASSES],
    /// Keys, by the smallest block that they share with a neighbour.
    crowded: [u64; CLASSES],
    /// Keys that each counted one stands for.
    weight: f64,
}

/// The smallest block that two keys share, as a power of two; the last class if it is larger than any.
fn shared_block(key: u64, next: u64) -> usize {
    let bits = u64::BITS - (key ^ next).leading_zeros();
    (bits as usize).min(CLASSES - 1)
}

impl BlockCounts {
    /// Counts ascending keys.
    pub(crate) fn of(keys: &[u64], threads: Threads) -> Self {
        let pieces = threads.pieces(keys.len());
        if pieces == 1 {
            let pairs = keys.windows(2).map(|pair| (pair[0], pair[1]));
            return Self::of_pairs(pairs, 1.0, keys.len() as f64);
        }
        let counted = on_threads(pieces, |index| Self::of_piece(keys, piece_of(keys.len(), pieces, index)));
        counted.into_iter().fold(Self::none(keys.len() as f64, 1.0), Self::and)
    }

    fn none(keys: f64, weight: f64) -> Self {
        Self { keys, pairs: [0; CLASSES], crowded: [0; CLASSES], weight }
    }

    /// Counts those of `keys` at the places `piece`, each with the key before it and the one after.
    fn of_piece(keys: &[u64], piece: Range<usize>) -> Self {
        let mut counts = Self::none(keys.len() as f64, 1.0);
        let shared = |index: usize| match keys[index..] {
            [key, next, ..] => shared_block(key, next),
            _ => CLASSES - 1,
        };
        let mut before = piece.start.checked_sub(1).map_or(CLASSES - 1, shared);
        for index in piece {
            let after = shared(index);
            counts.pairs[after] += u64::from(index + 1 < keys.len());
            counts.crowded[after.min(before)] += 1;
            before = after;
        }
        counts
    }

    /// Both together.
    fn and(mut self, other: Self) -> Self {
        let add = |counts: &mut [u64; CLASSES], more: [u64; CLASSES]| {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        };
        add(&mut self.pairs, other.pairs);
        add(&mut self.crowded, other.crowded);
        self
    }

    /// Counts pairs of neighbours that stand for `weight` pairs each of `keys` keys.
    pub(crate) fn of_pairs(pairs: impl Iterator<Item = (u64, u64)>, weight: f64, keys: f64) -> Self {
        let mut counts = Self::none(keys, weight);
        let (mut last, mut before) = (None, CLASSES - 1);
        for (key, next) in pairs {
            // Where sampled pairs do not follow one another, the key before is not known.
            before = if last == Some(key) { before } else { CLASSES - 1 };
            let shared = shared_block(key, next);
            counts.pairs[shared] += 1;
            counts.crowded[shared.min(before)] += 1;
            (last, before) = (Some(next), shared);
        }
        counts.crowded[before] += 1;
        counts
    }

    fn up_to(&self, counts: &[u64; CLASSES], block_log2: u32) -> f64 {
        counts[..=block_log2 as usize].iter().sum::<u64>() as f64 * self.weight
    }

    /// All keys.
    pub(crate) fn keys(&self) -> f64 {
        self.keys
    }

    /// Blocks of `2^block_log2` keys that hold one.
    pub(crate) fn blocks(&self, block_log2: u32) -> f64 {
        (self.keys - self.up_to(&self.pairs, block_log2)).max(1.0)
    }

    /// Keys that are not alone in their block, or stand where the mark of such blocks does.
    pub(crate) fn spilled(&self, block_log2: u32) -> f64 {
        let crowded = self.up_to(&self.crowded, block_log2).min(self.keys);
        crowded + (self.keys - crowded) / (1_u64 << block_log2) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_a_pass_for_each_block() {
        let keys: Vec<u64> = (0..3_000_u64).map(|i| i * i * (1 + i % 7)).collect();
        let mut keys = keys;
        keys.sort_unstable();
        keys.dedup();
        let counts = BlockCounts::of(&keys, Threads::ONE);
        for threads in [2, 3, 8, 3_000] {
            let by_threads = BlockCounts::of(&keys, Threads::forced(threads));
            assert_eq!(
                (by_threads.pairs, by_threads.crowded),
                (counts.pairs, counts.crowded),
                "{threads} threads"
            );
        }
        for block_log2 in 0..=MAX_BLOCK_LOG2 {
            let blocks: Vec<&[u64]> = keys.chunk_by(|a, b| a >> block_log2 == b >> block_log2).collect();
            assert_eq!(counts.blocks(block_log2), blocks.len() as f64, "2^{block_log2}");
            let crowded: usize = blocks.iter().map(|block| block.len()).filter(|len| *len > 1).sum();
            let alone = (keys.len() - crowded) as f64;
            let expected = crowded as f64 + alone / (1_u64 << block_log2) as f64;
            assert!((counts.spilled(block_log2) - expected).abs() < 1e-6, "2^{block_log2}");
        }
    }
}
