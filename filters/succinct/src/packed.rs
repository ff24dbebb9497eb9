//! Integers of one fixed width, side by side.
//!
//! A table of numbers below 1,000 needs 10 bits a number, not 64: `[7, 512, 3]` with width 10 is 30 bits. Any entry is
//! one unaligned load. The bytes are described in [`docs/format/packed.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/packed.md): 16 bytes of header and padding around
//! `count * width` bits. An entry past the end reads as 0; a damaged table reads as other numbers of the same width.

use crate::bytes::{BitWriter, PADDING_BYTES, bits_at, load_u64};
use crate::error::{OpenError, require};

/// Bytes before the first entry: the count in 56 bits and the width in 8.
const HEADER_BYTES: usize = 8;

/// Largest number of entries.
const MAX_COUNT: u64 = (1 << 56) - 1;

/// Where a table of fixed-width integers stands in its bytes; every call takes the same bytes that were opened.
///
/// ```
/// use lacuna_succinct::PackedInts;
///
/// let mut bytes = Vec::new();
/// PackedInts::encode(&[7, 512, 900], 10, &mut bytes);
/// let table = PackedInts::open(&bytes).expect("just written");
/// assert_eq!((table.len(), table.get(&bytes, 1)), (3, 512));
/// assert_eq!(table.partition_point(&bytes, |value| value < 600), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedInts {
    count: u64,
    width: u32,
}

impl PackedInts {
    /// Appends the table of `values`, each below `2^width`, to `out`.
    ///
    /// # Panics
    /// If `width` is above 64 or a value needs more bits.
    pub fn encode(values: &[u64], width: u32, out: &mut Vec<u8>) {
        let count = values.len() as u64;
        assert!(width <= 64 && count <= MAX_COUNT, "at most 2^56 - 1 entries of at most 64 bits");
        let all = values.iter().fold(0, |all, value| all | value);
        assert!(width_for(all) <= width, "a value needs more than {width} bits");
        out.reserve(Self { count, width }.byte_len());
        out.extend_from_slice(&(count | u64::from(width) << 56).to_le_bytes());
        let mut writer = BitWriter::new(out);
        for &value in values {
            writer.push(value, width);
        }
        writer.finish();
        out.extend_from_slice(&[0; PADDING_BYTES]);
    }

    /// Reads the header at the start of `bytes`; more bytes may follow the table.
    ///
    /// # Errors
    /// If the bytes end too early or the width is above 64.
    pub fn open(bytes: &[u8]) -> Result<Self, OpenError> {
        require(bytes, HEADER_BYTES)?;
        let header = load_u64(bytes, 0);
        let (count, width) = (header & MAX_COUNT, (header >> 56) as u32);
        if width > 64 {
            return Err(OpenError::Invalid("a packed width above 64 bits"));
        }
        let table = Self { count, width };
        require(bytes, table.byte_len())?;
        Ok(table)
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bits of an entry.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Bytes of the whole table, header and padding included.
    pub fn byte_len(&self) -> usize {
        let bits = self.count.saturating_mul(u64::from(self.width));
        let fields = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
        fields.saturating_add(HEADER_BYTES + PADDING_BYTES)
    }

    /// The entry at `index`; 0 past the end.
    #[inline(always)]
    pub fn get(&self, bytes: &[u8], index: u64) -> u64 {
        if index >= self.count {
            return 0;
        }
        bits_at(bytes, (HEADER_BYTES * 8) as u64 + index * u64::from(self.width), self.width)
    }

    /// The number of leading entries that satisfy `before`, which must hold for a first part and fail for the rest.
    #[inline]
    pub fn partition_point(&self, bytes: &[u8], before: impl Fn(u64) -> bool) -> u64 {
        let (mut start, mut end) = (0, self.count);
        while start < end {
            let middle = start.midpoint(end);
            if before(self.get(bytes, middle)) { start = middle + 1 } else { end = middle }
        }
        start
    }
}

/// Bits that `value` needs: 0 for 0, 10 for 1,000.
#[inline(always)]
pub fn width_for(value: u64) -> u32 {
    64 - value.leading_zeros()
}
