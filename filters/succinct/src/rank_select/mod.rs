//! A bit vector that counts its ones up to any place and finds the n-th one or zero.
//!
//! **Problem.** Succinct tries walk by arithmetic: "which child is this?" is a count of ones, "where does it start?" is
//! the place of the n-th one. Both must cost a few cache lines whatever the length.
//!
//! **Idea.** Bits are kept in blocks of 512, each after the number of ones before it, so that a count reads one or
//! two neighbouring cache lines. To find the n-th one, a sample says in which block every 4096th one stands; between
//! two samples the counts of the blocks are searched by halves. In `1 0 1 1`, `rank1(3)` is 2 and `select1(2)` is 3.
//!
//! **Guarantee.** Exact. On damaged bytes, calls end, stay inside the bytes and do not panic.
//!
//! **Cost.** 6.25 % for the counts and at most 0.8 % for each kind of samples that is written. Rank: one block. Select:
//! one sample, `log2` of the blocks between two samples, one block.
//!
//! **Papers.** Jacobson, "Space-efficient static trees and graphs", FOCS 1989; Vigna, "Broadword implementation of
//! rank/select queries", WEA 2008, for counts that stand beside the bits. **Changed:** counts are 32 bits wide and
//! restart every 2^16 blocks. The bytes are described in [`docs/format/rank_select.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rank_select.md).

mod encode;

use crate::arch::Isa;
use crate::bytes::{address, load_u32, load_u64, low_half, low_mask};
use crate::error::{OpenError, require};

/// Bits of a block: 32 bits of count on 512 are 6.25 %.
const BLOCK_BITS: u64 = 512;
const BLOCK_WORDS: usize = 8;
const COUNT_BYTES: usize = 4;
/// Bytes of a block with its count.
const BLOCK_BYTES: usize = COUNT_BYTES + BLOCK_WORDS * 8;
/// Blocks between two 64-bit counts, as a power of two: 2^16 blocks hold 2^25 ones, which 32 bits count easily.
const SUPER_SHIFT: u64 = 16;
/// Ones (or zeros) between two samples: 32 bits on 4096 are 0.8 %.
const SAMPLE_EVERY: u64 = 4096;
const HEADER_BYTES: usize = 24;

/// Which samples a bit vector carries; without them, select searches all blocks by halves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Samples {
    /// For [`RankSelect::select1`].
    pub ones: bool,
    /// For [`RankSelect::select0`].
    pub zeros: bool,
}

/// Where a bit vector with counts stands in its bytes; every call takes the same bytes that were opened.
///
/// ```
/// use lacuna_succinct::arch::Scalar;
/// use lacuna_succinct::rank_select::Samples;
/// use lacuna_succinct::{BitVector, RankSelect};
///
/// let bits: BitVector = [true, false, true, true].into_iter().collect();
/// let mut bytes = Vec::new();
/// RankSelect::encode(&bits, Samples::default(), &mut bytes);
/// let bits = RankSelect::open(&bytes).expect("just written");
/// assert_eq!(bits.rank1(Scalar, &bytes, 3), 2);
/// assert_eq!(bits.select1(Scalar, &bytes, 2), Some(3));
/// assert_eq!(bits.select0(Scalar, &bytes, 0), Some(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankSelect {
    len: u64,
    ones: u64,
    samples: Samples,
    /// First byte of the samples of ones, of the samples of zeros, of the blocks, and after the structure.
    parts: [usize; 4],
}

impl RankSelect {
    /// Reads the header at the start of `bytes`; more bytes may follow.
    ///
    /// # Errors
    /// If the bytes end too early or hold more ones than bits.
    pub fn open(bytes: &[u8]) -> Result<Self, OpenError> {
        require(bytes, HEADER_BYTES)?;
        let (len, ones, flags) = (load_u64(bytes, 0), load_u64(bytes, 8), load_u64(bytes, 16));
        if ones > len || flags > 3 {
            return Err(OpenError::Invalid("a bit vector with more ones than bits or unknown samples"));
        }
        let samples = Samples { ones: flags & 1 == 1, zeros: flags & 2 == 2 };
        let layout = Self::assemble(len, ones, samples)
            .ok_or(OpenError::Truncated { needed: usize::MAX, available: bytes.len() })?;
        require(bytes, layout.byte_len())?;
        Ok(layout)
    }

    /// The layout of the given numbers; `None` if it cannot be addressed.
    fn assemble(len: u64, ones: u64, samples: Samples) -> Option<Self> {
        let blocks = len.div_ceil(BLOCK_BITS);
        let sample_count = |wanted: bool, marks: u64| if wanted { marks.div_ceil(SAMPLE_EVERY) } else { 0 };
        let sizes = [
            blocks.div_ceil(1 << SUPER_SHIFT) * 8,
            sample_count(samples.ones, ones) * 4,
            sample_count(samples.zeros, len - ones) * 4,
            blocks * COUNT_BYTES as u64 + len.div_ceil(64) * 8,
        ];
        let mut parts = [0; 4];
        let mut end = HEADER_BYTES as u64;
        for (part, size) in parts.iter_mut().zip(sizes) {
            end += size;
            *part = usize::try_from(end).ok()?;
        }
        Some(Self { len, ones, samples, parts })
    }

    /// Number of bits.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no bit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of ones.
    pub fn count_ones(&self) -> u64 {
        self.ones
    }

    /// Bytes of the whole structure.
    pub fn byte_len(&self) -> usize {
        self.parts[3]
    }

    /// Bit `index`; zero past the end.
    #[inline(always)]
    pub fn get(&self, bytes: &[u8], index: u64) -> bool {
        let place = index % BLOCK_BITS;
        let word = self.block_word(bytes, index / BLOCK_BITS, address(place / 64));
        index < self.len && word >> (place % 64) & 1 == 1
    }

    /// Number of ones before bit `index`; all of them past the end.
    #[inline(always)]
    pub fn rank1<I: Isa>(&self, isa: I, bytes: &[u8], index: u64) -> u64 {
        if index >= self.len {
            return self.ones;
        }
        let (block, bits) = (index / BLOCK_BITS, low_half(index % BLOCK_BITS));
        let in_block = (0..BLOCK_WORDS).zip((0..).step_by(64)).map(|(word, first_bit)| {
            let kept = low_mask(bits.saturating_sub(first_bit));
            isa.count_ones(self.block_word(bytes, block, word) & kept)
        });
        self.ones_before(bytes, block).wrapping_add(u64::from(in_block.sum::<u32>()))
    }

    /// Number of zeros before bit `index`; all of them past the end.
    #[inline(always)]
    pub fn rank0<I: Isa>(&self, isa: I, bytes: &[u8], index: u64) -> u64 {
        index.min(self.len).saturating_sub(self.rank1(isa, bytes, index))
    }

    /// Place of the `rank`-th one, counted from 0.
    #[inline(always)]
    pub fn select1<I: Isa>(&self, isa: I, bytes: &[u8], rank: u64) -> Option<u64> {
        let samples = if self.samples.ones { Some(self.parts[0]) } else { None };
        self.select(isa, bytes, rank, self.ones, samples, 0)
    }

    /// Place of the `rank`-th zero, counted from 0.
    #[inline(always)]
    pub fn select0<I: Isa>(&self, isa: I, bytes: &[u8], rank: u64) -> Option<u64> {
        let samples = if self.samples.zeros { Some(self.parts[1]) } else { None };
        self.select(isa, bytes, rank, self.len - self.ones, samples, u64::MAX)
    }

    /// Place of the `rank`-th one of the bits combined with `flip`, which are `total`.
    #[inline(always)]
    fn select<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        rank: u64,
        total: u64,
        samples: Option<usize>,
        flip: u64,
    ) -> Option<u64> {
        if rank >= total {
            return None;
        }
        let before = |block: u64| match flip {
            0 => self.ones_before(bytes, block),
            _ => (block * BLOCK_BITS).saturating_sub(self.ones_before(bytes, block)),
        };
        let (mut start, mut end) = self.sampled_blocks(bytes, rank, total, samples);
        while start < end {
            let middle = start + (end - start).div_ceil(2);
            if before(middle) <= rank { start = middle } else { end = middle - 1 }
        }
        let mut rest = rank.checked_sub(before(start))?;
        for index in 0..BLOCK_WORDS {
            let word = self.block_word(bytes, start, index) ^ flip;
            let count = u64::from(isa.count_ones(word));
            if rest < count {
                let in_word = u64::from(isa.select_in_word(word, low_half(rest)));
                let place = start * BLOCK_BITS + index as u64 * 64 + in_word;
                return Some(place).filter(|&place| place < self.len);
            }
            rest -= count;
        }
        None
    }

    /// First and last block that can hold mark `rank` of `total`.
    #[inline(always)]
    fn sampled_blocks(&self, bytes: &[u8], rank: u64, total: u64, samples: Option<usize>) -> (u64, u64) {
        let last = self.len.div_ceil(BLOCK_BITS) - 1;
        let Some(at) = samples else { return (0, last) };
        let sample = rank / SAMPLE_EVERY;
        let read = |sample: u64| u64::from(load_u32(bytes, at + address(sample * 4))).min(last);
        let is_last = (sample + 1) * SAMPLE_EVERY >= total;
        (read(sample), if is_last { last } else { read(sample + 1) })
    }

    /// Ones before block `block`.
    #[inline(always)]
    fn ones_before(&self, bytes: &[u8], block: u64) -> u64 {
        let restart = load_u64(bytes, HEADER_BYTES + address((block >> SUPER_SHIFT) * 8));
        restart.wrapping_add(u64::from(load_u32(bytes, self.parts[2] + address(block) * BLOCK_BYTES)))
    }

    /// Word `word` of block `block`; whatever stands after the structure, or zero, past its end.
    #[inline(always)]
    fn block_word(&self, bytes: &[u8], block: u64, word: usize) -> u64 {
        let at =
            address(block).saturating_mul(BLOCK_BYTES).saturating_add(self.parts[2] + COUNT_BYTES + word * 8);
        load_u64(bytes, at)
    }
}
