//! Writing a bit vector with its counts and samples.

use super::{BLOCK_BITS, BLOCK_WORDS, RankSelect, SAMPLE_EVERY, SUPER_SHIFT, Samples};
use crate::bit_vector::BitVector;
use crate::bytes::address;

impl RankSelect {
    /// Appends `bits` with counts and the given samples to `out`.
    pub fn encode(bits: &BitVector, samples: Samples, out: &mut Vec<u8>) {
        let (len, ones) = (bits.len() as u64, bits.count_ones());
        let flags = u64::from(samples.ones) | u64::from(samples.zeros) << 1;
        let layout = Self::assemble(len, ones, samples).expect("bits in memory can be addressed");
        out.reserve(layout.byte_len());
        for field in [len, ones, flags] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        let counts = ones_before_blocks(bits);
        for count in counts.iter().step_by(1 << SUPER_SHIFT) {
            out.extend_from_slice(&count.to_le_bytes());
        }
        let zeros: Vec<u64> = (0..).zip(&counts).map(|(block, count)| block * BLOCK_BITS - count).collect();
        if samples.ones {
            write_samples(&counts, ones, out);
        }
        if samples.zeros {
            write_samples(&zeros, len - ones, out);
        }
        for (block, words) in bits.words().chunks(BLOCK_WORDS).enumerate() {
            let restart = counts[block >> SUPER_SHIFT << SUPER_SHIFT];
            let count = u32::try_from(counts[block] - restart).expect("at most 2^25");
            out.extend_from_slice(&count.to_le_bytes());
            words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
    }
}

/// Number of ones before each block.
fn ones_before_blocks(bits: &BitVector) -> Vec<u64> {
    let mut before = 0;
    bits.words()
        .chunks(BLOCK_WORDS)
        .map(|block| {
            let count = before;
            before += block.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            count
        })
        .collect()
}

/// Writes the block of every [`SAMPLE_EVERY`]-th mark, of `total`, when `before` counts the marks before each block.
fn write_samples(before: &[u64], total: u64, out: &mut Vec<u8>) {
    for mark in (0..total).step_by(address(SAMPLE_EVERY)) {
        let block = before.partition_point(|&count| count <= mark) - 1;
        out.extend_from_slice(&u32::try_from(block).expect("at most 2^32 blocks").to_le_bytes());
    }
}
