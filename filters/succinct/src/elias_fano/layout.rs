//! The header: opening, and where everything stands after it.

use super::directory::field;
use super::geometry::{
    Cut, HEADER_BYTES, MAX_HEAVY, MAX_SLICE_BUCKETS_LOG2, SPILL_ENTRY_BYTES, SPILL_HEADER_BYTES,
};
use crate::bytes::{PADDING_BYTES, address, low_half, low_mask};
use crate::error::{OpenError, require};
use crate::packed::width_for;

/// Where the parts of a sequence stand in its bytes. Every query takes the same bytes that were opened; `Copy`, and
/// independent of how long they are borrowed.
///
/// ```
/// use lacuna_succinct::elias_fano::{Geometry, Layout, encode};
///
/// let mut bytes = Vec::new();
/// encode(&[4, 8, 15], 15, Geometry::default(), &mut bytes);
/// let layout = Layout::open(&bytes).expect("just written");
/// assert_eq!((layout.len(), layout.byte_len()), (3, bytes.len()));
/// assert_eq!(layout.iter(&bytes).nth(1), Some(8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub(super) len: u64,
    pub(super) last: u64,
    /// Values in heavy slices.
    pub(super) spilled: u64,
    pub(super) slices: u64,
    pub(super) low_bits: u32,
    pub(super) slice_buckets_log2: u32,
    /// As many ones as there are low bits.
    pub(super) low_mask: u64,
    /// Heavy slices.
    pub(super) spill_count: u32,
    pub(super) bases_at: usize,
    pub(super) counts_at: usize,
    pub(super) stream_bit: u64,
    /// The spill directory, if there is one.
    pub(super) spill_at: usize,
    pub(super) byte_len: usize,
}

/// The header as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) len: u64,
    pub(super) last: u64,
    pub(super) spilled: u64,
    pub(super) spill_count: u32,
    pub(super) heavy: u32,
    pub(super) low_bits: u32,
    pub(super) slice_buckets_log2: u32,
}

impl Header {
    fn read(bytes: &[u8]) -> Self {
        let packed = field(bytes, 0, 3);
        Self {
            len: field(bytes, 0, 0),
            last: field(bytes, 0, 1),
            spilled: field(bytes, 0, 2),
            spill_count: low_half(packed),
            heavy: (packed >> 32 & 0xFFFF) as u32,
            low_bits: (packed >> 48 & 0xFF) as u32,
            slice_buckets_log2: (packed >> 56) as u32,
        }
    }

    pub(super) fn write(&self, out: &mut [u8]) {
        let packed = u64::from(self.spill_count)
            | u64::from(self.heavy) << 32
            | u64::from(self.low_bits) << 48
            | u64::from(self.slice_buckets_log2) << 56;
        for (place, value) in out.chunks_exact_mut(8).zip([self.len, self.last, self.spilled, packed]) {
            place.copy_from_slice(&value.to_le_bytes());
        }
    }

    fn check(&self) -> Result<(), OpenError> {
        let invalid = |what| Err(OpenError::Invalid(what));
        if self.low_bits > 63 {
            return invalid("more than 63 low bits");
        }
        if self.slice_buckets_log2 > MAX_SLICE_BUCKETS_LOG2.min(width_for(self.last >> self.low_bits)) {
            return invalid("slices larger than the format allows");
        }
        if self.heavy == 0 || self.heavy > MAX_HEAVY {
            return invalid("a heavy threshold the format does not allow");
        }
        if self.spilled > self.len || (self.spilled == 0) != (self.spill_count == 0) {
            return invalid("spilled values that do not match the heavy slices");
        }
        Ok(())
    }

    /// The most values that heavy slices can hold together.
    fn spill_capacity(&self) -> u64 {
        let in_slice = 1_u64.checked_shl(self.low_bits + self.slice_buckets_log2).unwrap_or(u64::MAX);
        in_slice.saturating_mul(u64::from(self.spill_count))
    }
}

impl Layout {
    /// Reads and checks the header at the start of `bytes` without looking further; more bytes may follow.
    ///
    /// # Errors
    /// If the bytes end too early or the header's fields do not hold together.
    pub fn open(bytes: &[u8]) -> Result<Self, OpenError> {
        require(bytes, HEADER_BYTES)?;
        let header = Header::read(bytes);
        header.check()?;
        let (bucket_shift, last) = (header.low_bits, header.last);
        let slices = (last >> bucket_shift >> header.slice_buckets_log2).saturating_add(1);
        let cut = Cut { low_bits: header.low_bits, slice_buckets_log2: header.slice_buckets_log2, slices };
        let light = header.len - header.spilled;
        let before_spill = (HEADER_BYTES as u64)
            .saturating_add(cut.directory_bytes())
            .saturating_add(cut.stream_bits(light).div_ceil(8));
        let before_spill = address(before_spill);
        require(bytes, before_spill)?;
        let spill_bytes = spill_len(bytes, before_spill, &header)?;
        let byte_len = before_spill.saturating_add(spill_bytes).saturating_add(PADDING_BYTES);
        require(bytes, byte_len)?;
        Ok(Self::assemble(&header, cut, before_spill, byte_len))
    }

    /// The layout of checked parts: the directory fits the bytes, so sums of its places do not overflow.
    fn assemble(header: &Header, cut: Cut, before_spill: usize, byte_len: usize) -> Self {
        let stream_at = HEADER_BYTES as u64 + cut.directory_bytes();
        Self {
            len: header.len,
            last: header.last,
            spilled: header.spilled,
            slices: cut.slices,
            low_bits: header.low_bits,
            slice_buckets_log2: header.slice_buckets_log2,
            low_mask: low_mask(header.low_bits),
            spill_count: header.spill_count,
            bases_at: HEADER_BYTES,
            counts_at: HEADER_BYTES + address(cut.base_bytes()),
            stream_bit: stream_at * 8,
            spill_at: before_spill + SPILL_HEADER_BYTES,
            byte_len,
        }
    }

    /// Number of values.
    #[inline(always)]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no value.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of values kept aside because their slices are heavy.
    #[inline]
    pub fn spilled_len(&self) -> u64 {
        self.spilled
    }

    /// The bound of the values, as it was given to [`encode`](super::encode).
    #[inline(always)]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Bytes of the whole structure.
    #[inline(always)]
    pub fn byte_len(&self) -> usize {
        self.byte_len
    }

    /// The slice of `value`, which must be at most `last`.
    #[inline(always)]
    pub(super) fn slice_of(&self, value: u64) -> u64 {
        value >> self.low_bits >> self.slice_buckets_log2
    }

    /// The bucket of `value` in its slice.
    #[inline(always)]
    pub(super) fn bucket_in_slice(&self, value: u64) -> u32 {
        low_half((value >> self.low_bits) & (self.slice_buckets() - 1))
    }

    /// Buckets of a slice.
    #[inline(always)]
    pub(super) fn slice_buckets(&self) -> u64 {
        1 << self.slice_buckets_log2
    }
}

/// Bytes of the spill area at `at`: none without heavy slices.
fn spill_len(bytes: &[u8], at: usize, header: &Header) -> Result<usize, OpenError> {
    if header.spill_count == 0 {
        return Ok(0);
    }
    require(bytes, at.saturating_add(SPILL_HEADER_BYTES))?;
    let data_bytes = field(bytes, at, 0);
    let low_bits = header.spilled.saturating_mul(u64::from(header.low_bits));
    if header.spilled > header.spill_capacity() || data_bytes < low_bits / 8 {
        return Err(OpenError::Invalid("more spilled values than their slices or their bytes can hold"));
    }
    let data_bytes = address(data_bytes);
    let entries = (header.spill_count as usize).saturating_mul(SPILL_ENTRY_BYTES);
    Ok(data_bytes.saturating_add(entries).saturating_add(SPILL_HEADER_BYTES))
}
