//! Finished filters as bytes, in buffers that start on a cache line.

use std::fmt;
use std::ops::Deref;

use bytemuck::{Pod, Zeroable};

use crate::envelope::{ENVELOPE_BYTES, Envelope};

/// One cache line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that start on a 64-byte boundary, so that an aligned block of a filter never straddles two cache lines.
///
/// ```
/// let bytes = lacuna_base::AlignedBytes::copy_of(b"five!");
/// assert_eq!(&bytes[..], b"five!");
/// assert_eq!(bytes.as_ptr().addr() % 64, 0);
/// ```
#[derive(Clone, Default)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        Self { lines: bytemuck::zeroed_vec(len.div_ceil(64)), len }
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        copy.as_mut_slice().copy_from_slice(bytes);
        copy
    }

    /// The bytes, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl AsRef<[u8]> for AlignedBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for AlignedBytes {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for AlignedBytes {}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBytes").field("len", &self.len).finish()
    }
}

/// A finished filter: its envelope and its payload, ready to be written anywhere or opened in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    bytes: AlignedBytes,
}

impl Sealed {
    /// Puts `envelope` before `payload` and fills in the payload's length and both checksums.
    pub fn assemble(envelope: &Envelope, payload: &[u8]) -> Self {
        let mut sealed = Self::zeroed(payload.len());
        sealed.payload_mut().copy_from_slice(payload);
        sealed.close(envelope)
    }

    /// A payload of zeros of `payload_bytes`, to be written in place and then [closed](Self::close).
    pub(crate) fn zeroed(payload_bytes: usize) -> Self {
        Self { bytes: AlignedBytes::zeroed(ENVELOPE_BYTES + payload_bytes) }
    }

    /// The payload, to be written.
    pub(crate) fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.bytes.as_mut_slice()[ENVELOPE_BYTES..]
    }

    /// Writes `envelope` with the payload's length and both checksums.
    #[must_use]
    pub(crate) fn close(mut self, envelope: &Envelope) -> Self {
        let header = envelope.encode(self.payload());
        self.bytes.as_mut_slice()[..ENVELOPE_BYTES].copy_from_slice(&header);
        self
    }

    /// The payload, without the envelope.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[ENVELOPE_BYTES..]
    }

    /// Envelope and payload.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The buffer, for opening without a copy.
    pub fn into_bytes(self) -> AlignedBytes {
        self.bytes
    }
}

impl AsRef<[u8]> for Sealed {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
