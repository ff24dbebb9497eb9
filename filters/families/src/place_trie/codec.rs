//! Bytes of a place trie: [`docs/format/place_trie.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/place_trie.md).

use lacuna_base::{Envelope, Error, LongPlace, Result};

use super::symbols::{self, Decoder};

/// Newest version of the body, and the one written.
pub(super) const VERSION: u16 = 1;
/// Bytes before the blocks.
pub(super) const HEADER_BYTES: usize = 4 + symbols::BYTES;
/// Bytes of a block, but for the last: about a hundred leaves in four lines of memory that follow one another.
pub(super) const BLOCK_BYTES: usize = 256;
/// Bits of the number of leaves in a block, and of those that its first one shares with the leaf before.
pub(super) const COUNT_BITS: u32 = 12;
pub(super) const SHARED_BITS: u32 = 10;
/// Longest tail of a leaf, and longest edge.
pub(super) const MAX_TAIL: u32 = 255;
pub(super) const MAX_EDGE: u32 = LongPlace::BITS;

/// A view of a place trie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    pub(super) decoder: Decoder,
    pub(super) block_count: usize,
    /// Bits of a leaf after its branch.
    pub(super) tail: u32,
    /// Most bits of a leaf.
    pub(super) max_bits: u32,
}

/// The header of a body.
pub(super) fn encode_header(tail: u32, max_bits: u32, lengths: [u8; symbols::BYTES]) -> Vec<u8> {
    let number = |number: u32| u16::try_from(number).expect("at most MAX_TAIL, or LongPlace::BITS");
    let mut header = Vec::with_capacity(HEADER_BYTES);
    header.extend_from_slice(&number(tail).to_le_bytes());
    header.extend_from_slice(&number(max_bits).to_le_bytes());
    header.extend_from_slice(&lengths);
    header
}

impl Body {
    /// Reads the header in O(1).
    pub(crate) fn open(body: &[u8], _envelope: &Envelope) -> Result<Self> {
        let cut = || Error::corrupt("a place trie is shorter than its header");
        let (&[tail_low, tail_high, bits_low, bits_high], rest) =
            body.split_first_chunk::<4>().ok_or_else(cut)?;
        let (lengths, blocks) = rest.split_first_chunk().ok_or_else(cut)?;
        let tail = u32::from(u16::from_le_bytes([tail_low, tail_high]));
        let max_bits = u32::from(u16::from_le_bytes([bits_low, bits_high]));
        if tail > MAX_TAIL || !(1..=LongPlace::BITS).contains(&max_bits) {
            return Err(Error::corrupt(format!(
                "leaves of {max_bits} bits with {tail} in a tail do not exist"
            )));
        }
        if blocks.is_empty() {
            return Err(Error::corrupt("a place trie without a leaf does not exist"));
        }
        let block_count = blocks.len().div_ceil(BLOCK_BYTES);
        Ok(Self { decoder: Decoder::new(lengths), block_count, tail, max_bits })
    }
}
