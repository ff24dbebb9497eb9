//! Bytes of SNARF: [`docs/format/snarf.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/snarf.md).

use std::ops::RangeInclusive;

use lacuna_base::{Error, Result};
use lacuna_succinct::PackedInts;
use lacuna_succinct::rice::MAX_LOW_BITS;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the knots.
pub(crate) const HEADER_BYTES: usize = 24;
/// Keys from knot to knot.
pub(crate) const BLOCK_KEYS: RangeInclusive<u32> = 2..=1_024;
/// Most positions of a segment: their sums stay within 63 bits.
pub(crate) const MAX_POSITIONS: u64 = 1 << 62;
/// Most zeros in the rests of a block, for each key of a block: bounds the words a question reads.
pub(crate) const MAX_ZEROS: u64 = 8;

/// The header before the knots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Integers the filter was built from: keys, or windows of byte strings.
    pub(crate) count: u64,
    /// Most positions of a segment.
    pub(crate) positions: u64,
    /// Keys from knot to knot.
    pub(crate) block_keys: u32,
    /// Low bits of a difference.
    pub(crate) low_bits: u32,
    /// Whether every key between two knots has a position of its own.
    pub(crate) is_exact: bool,
}

impl Header {
    /// Appends the header.
    pub(crate) fn push(self, body: &mut Vec<u8>) {
        body.extend_from_slice(&self.count.to_le_bytes());
        body.extend_from_slice(&self.positions.to_le_bytes());
        body.extend_from_slice(&self.block_keys.to_le_bytes());
        body.push(u8::try_from(self.low_bits).expect("at most 63"));
        body.extend_from_slice(&[u8::from(self.is_exact), 0, 0]);
    }

    /// Reads the header at the start of `body`.
    pub(crate) fn read(body: &[u8]) -> Result<Self> {
        let bytes: &[u8; HEADER_BYTES] =
            body.first_chunk().ok_or_else(|| Error::corrupt("a SNARF body is shorter than its header"))?;
        let header = Self {
            count: u64::from_le_bytes(*bytes.first_chunk().expect("24 bytes hold 8")),
            positions: u64::from_le_bytes(*bytes[8..].first_chunk().expect("16 bytes hold 8")),
            block_keys: u32::from_le_bytes(*bytes[16..].first_chunk().expect("8 bytes hold 4")),
            low_bits: u32::from(bytes[20]),
            is_exact: bytes[21] == 1,
        };
        let is_padded = bytes[21] <= 1 && bytes[22..] == [0, 0];
        if is_padded && header.is_sound() {
            Ok(header)
        } else {
            Err(Error::corrupt("no SNARF has such positions"))
        }
    }

    fn is_sound(&self) -> bool {
        self.count >= 3
            && BLOCK_KEYS.contains(&self.block_keys)
            && (1..=MAX_POSITIONS).contains(&self.positions)
            && self.low_bits <= MAX_LOW_BITS
            && self.positions >> self.low_bits <= MAX_ZEROS * u64::from(self.block_keys)
    }

    /// Number of segments.
    pub(crate) fn block_count(&self) -> u64 {
        (self.count - 1).div_ceil(u64::from(self.block_keys))
    }

    /// Keys strictly between the knots of segment `block`.
    #[inline(always)]
    pub(crate) fn inner_keys(&self, block: u64) -> u64 {
        let first = block.saturating_mul(u64::from(self.block_keys));
        (self.count - 1).saturating_sub(first).min(u64::from(self.block_keys)).saturating_sub(1)
    }
}

/// The two tables after the header: knots, less the smallest key, and the bit each block starts at. The first of both
/// is 0 and left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) knots: PackedInts,
    pub(crate) starts: PackedInts,
}

impl Tables {
    /// Opens the tables after `header`.
    pub(crate) fn open(body: &[u8], header: &Header) -> Result<Self> {
        let open = |from: usize| {
            let bytes = body.get(from..).unwrap_or_default();
            PackedInts::open(bytes)
                .map_err(|error| Error::corrupt("a table of a SNARF body does not open").with_source(error))
        };
        let knots = open(HEADER_BYTES)?;
        let starts = open(HEADER_BYTES + knots.byte_len())?;
        if knots.len() != header.block_count() - 1 || starts.len() != knots.len() {
            return Err(Error::corrupt("a SNARF body does not have as many blocks as its keys need"));
        }
        Ok(Self { knots, starts })
    }
}
