//! The range Bloom filter's array: lines of 512 bits, and where a mini-tree lies in them.
//!
//! A mini-tree has one place for each hash function: a line, and in it for each of its levels a word and a turn of that
//! word, all taken from one hash. Level t of the mini-tree has a bit for every `2^t`-th leaf; the bit of leaf 12 on
//! level 2 is bit 12 of the leaf's block of 64, turned. So a level is one load, one rotation and one mask, no level
//! lies next to another, and every bit of a line is equally likely to be set.

use lacuna_base::hash::reduce;

use super::codec::HEADER_BYTES;

/// Words of a line.
const LINE_WORDS: usize = 8;
/// Bytes of a word.
const WORD_BYTES: usize = 8;
/// Where lines start in a body that has room for several.
const ALIGNED_START: usize = 64;
/// Bits of a placement that one level takes: three choose the word, six turn it.
const LEVEL_BITS: u32 = 9;

/// Odd constants of the hash mix: 2^64 over the golden ratio, and two multipliers of wyhash.
const FUNCTION_STEP: u64 = 0x9E37_79B9_7F4A_7C15;
const GROUP_STEP: u64 = 0xA076_1D64_78BD_642F;
const MULTIPLIER: u64 = 0xE703_7ED1_A0B4_28DB;

/// The lines of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    start: usize,
    count: u64,
    /// Words of a line, less one. Bodies too small for a line have one line of fewer words.
    word_mask: usize,
}

/// Where a mini-tree lies under one hash function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    /// First byte of the line.
    pub(crate) offset: usize,
    /// Word and turn of each level, [`LEVEL_BITS`] each, around the end.
    turns: u64,
}

impl Lines {
    /// The lines of a body of `body_bytes`, if it has room for one.
    pub(crate) fn within(body_bytes: usize) -> Option<Self> {
        let line_bytes = LINE_WORDS * WORD_BYTES;
        let start = if body_bytes >= ALIGNED_START + 2 * line_bytes { ALIGNED_START } else { HEADER_BYTES };
        let words = body_bytes.checked_sub(start)? / WORD_BYTES;
        let line_words = if words >= LINE_WORDS { LINE_WORDS } else { 1 << words.checked_ilog2()? };
        Some(Self { start, count: (words / line_words) as u64, word_mask: line_words - 1 })
    }

    /// Bytes of a body that ends with the last line.
    pub(crate) fn body_bytes(self) -> usize {
        let count = usize::try_from(self.count).expect("lines lie within a slice in memory");
        self.start + count * self.line_bytes()
    }

    /// Bytes of a line.
    pub(crate) fn line_bytes(self) -> usize {
        (self.word_mask + 1) * WORD_BYTES
    }

    /// Number of lines.
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    /// Bits of a line.
    pub(crate) fn line_bits(self) -> f64 {
        self.line_bytes() as f64 * 8.0
    }

    /// Bits of all lines.
    pub(crate) fn bits(self) -> f64 {
        self.line_bits() * self.count as f64
    }

    /// The lines of `body`, one after the other.
    pub(crate) fn each(self, body: &[u8]) -> impl Iterator<Item = &[u8]> {
        body[self.start..].chunks_exact(self.line_bytes())
    }

    /// Where hash function `function` puts the mini-tree with this hash.
    #[inline(always)]
    pub(crate) fn placement(self, tree_hash: u64, function: u32) -> Placement {
        let input = tree_hash.wrapping_add(u64::from(function).wrapping_mul(FUNCTION_STEP));
        let product = u128::from(input) * u128::from(MULTIPLIER);
        #[expect(clippy::cast_possible_truncation, reason = "the halves are meant")]
        let mixed = (product >> 64) as u64 ^ product as u64;
        #[expect(clippy::cast_possible_truncation, reason = "lines lie within a slice in memory")]
        let line = reduce(mixed, self.count) as usize;
        Placement {
            offset: self.start + line * (self.word_mask + 1) * WORD_BYTES,
            turns: mixed.wrapping_mul(GROUP_STEP),
        }
    }

    /// First byte and turn of the word that holds `block` (0 to 3) on `level` of a mini-tree.
    #[inline(always)]
    pub(crate) fn word(self, placement: Placement, level: u32, block: usize) -> (usize, u32) {
        let turn = placement.turns.rotate_right(level * LEVEL_BITS);
        #[expect(clippy::cast_possible_truncation, reason = "only the low nine bits are used")]
        let (word, turn) = ((block ^ turn as usize) & self.word_mask, (turn >> 3) as u32 & 63);
        (placement.offset + word * WORD_BYTES, turn)
    }
}

/// The hash of a mini-tree of `group` from the hash of the prefix above it.
#[inline(always)]
pub(crate) fn tree_hash(prefix_hash: u64, group: u32) -> u64 {
    prefix_hash.wrapping_add(u64::from(group).wrapping_mul(GROUP_STEP))
}

/// `number >> by`, zero where everything is shifted out.
#[inline(always)]
pub(crate) fn shifted(number: u64, by: u32) -> u64 {
    number.checked_shr(by).unwrap_or(0)
}
