//! Words and bit fields at any place of a byte slice, and the writer for both.
//!
//! Bits are numbered from the low end: bit `i` is bit `i % 8` of byte `i / 8`, so a field that starts at bit 3 with
//! 5 bits is the upper part of byte 0. Reads never leave the slice and never panic: what lies outside reads as zero.
//! Inside, a field of up to 57 bits is one 8-byte load; builders put [`PADDING_BYTES`] zero bytes after a structure
//! so that this also holds for its last field.

/// Zero bytes that a builder appends, so that the load for the last field stays inside.
pub const PADDING_BYTES: usize = 8;

/// Widest field that one 8-byte load holds wherever it starts.
pub(crate) const ONE_LOAD_BITS: u32 = 57;

/// A mask of `width` low ones, for 0 to 64 bits.
#[inline(always)]
pub const fn low_mask(width: u32) -> u64 {
    if width < 64 { (1 << width) - 1 } else { u64::MAX }
}

/// The byte that holds bit `bit`; past every slice if it cannot be addressed.
#[inline(always)]
pub(crate) fn byte_of(bit: u64) -> usize {
    address(bit >> 3)
}

/// `offset` as a place in memory; past every slice if it cannot be addressed.
#[inline(always)]
pub(crate) fn address(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// The low half of `word`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
pub(crate) fn low_half(word: u64) -> u32 {
    word as u32
}

/// The eight bytes from `offset` as a little-endian integer.
#[inline(always)]
pub fn load_u64(bytes: &[u8], offset: usize) -> u64 {
    match bytes.get(offset..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => load_tail(bytes, offset),
    }
}

/// The four bytes from `offset` as a little-endian integer.
#[inline(always)]
pub fn load_u32(bytes: &[u8], offset: usize) -> u32 {
    match bytes.get(offset..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u32::from_le_bytes(*chunk),
        None => low_half(load_tail(bytes, offset)),
    }
}

#[cold]
fn load_tail(bytes: &[u8], offset: usize) -> u64 {
    let tail = bytes.get(offset..).unwrap_or_default();
    let mut padded = [0; 8];
    let len = tail.len().min(8);
    padded[..len].copy_from_slice(&tail[..len]);
    u64::from_le_bytes(padded)
}

/// The `index`-th word of eight bytes.
#[inline(always)]
pub fn word(bytes: &[u8], index: usize) -> u64 {
    load_u64(bytes, index.saturating_mul(8))
}

/// The field of `width` bits (0 to 64) that starts at bit `bit_offset`.
///
/// ```
/// use lacuna_succinct::bytes::bits_at;
///
/// assert_eq!(bits_at(&[0b1010_0000, 0b11], 5, 5), 0b11101);
/// assert_eq!(bits_at(&[0xFF], 4, 64), 0xF);
/// ```
#[inline(always)]
pub fn bits_at(bytes: &[u8], bit_offset: u64, width: u32) -> u64 {
    let at = byte_of(bit_offset);
    let shift = (bit_offset & 7) as u32;
    let low = load_u64(bytes, at) >> shift;
    if shift + width <= 64 {
        return low & low_mask(width);
    }
    let high = bytes.get(at.saturating_add(8)).copied().unwrap_or_default();
    (low | u64::from(high) << (64 - shift)) & low_mask(width)
}

/// Appends bit fields to a byte vector.
///
/// ```
/// use lacuna_succinct::bytes::{BitWriter, bits_at};
///
/// let mut bytes = vec![7];
/// let mut writer = BitWriter::new(&mut bytes);
/// writer.push(5, 3);
/// writer.push(1000, 12);
/// assert_eq!(writer.finish(), 15);
/// assert_eq!((bytes.len(), bits_at(&bytes, 11, 12)), (3, 1000));
/// ```
#[derive(Debug)]
pub struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    pending: u64,
    pending_bits: u32,
}

impl<'a> BitWriter<'a> {
    /// Writes after what `out` holds.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, pending: 0, pending_bits: 0 }
    }

    /// Bits written so far.
    pub(crate) fn len_bits(&self) -> u64 {
        (self.out.len() - self.start) as u64 * 8 + u64::from(self.pending_bits)
    }

    /// Appends the low `width` bits (0 to 64) of `value`; the bits above must be zero.
    #[inline(always)]
    pub fn push(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 64 && value & !low_mask(width) == 0, "{value:#x} has more than {width} bits");
        let filled = self.pending_bits + width;
        self.pending |= value << self.pending_bits;
        if filled < 64 {
            self.pending_bits = filled;
        } else {
            self.out.extend_from_slice(&self.pending.to_le_bytes());
            // The bits that did not fit; a shift by 64 (nothing was pending) leaves none.
            self.pending = value.checked_shr(64 - self.pending_bits).unwrap_or(0);
            self.pending_bits = filled - 64;
        }
    }

    /// Fills the last byte with zeros and gives the number of bits written before that.
    pub fn finish(self) -> u64 {
        let bits = self.len_bits();
        let rest = self.pending_bits.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.pending.to_le_bytes()[..rest]);
        bits
    }
}
