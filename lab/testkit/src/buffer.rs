//! Sealed bytes that start wherever a test wants them to.

use lacuna_base::{AlignedBytes, Sealed};

/// Bytes that start `offset` bytes after a 64-byte boundary: the suite opens filters from these.
///
/// ```
/// let bytes = lacuna_testkit::OffsetBytes::copy_of(b"filter", 3);
/// assert_eq!(bytes.as_ref(), b"filter");
/// assert_eq!(bytes.as_ref().as_ptr().addr() % 64, 3);
/// ```
#[derive(Debug, Clone)]
pub struct OffsetBytes {
    buffer: AlignedBytes,
    offset: usize,
}

impl OffsetBytes {
    /// A copy of `bytes` that starts `offset` bytes after a 64-byte boundary.
    pub fn copy_of(bytes: &[u8], offset: usize) -> Self {
        let mut buffer = AlignedBytes::zeroed(offset + bytes.len());
        buffer.as_mut_slice()[offset..].copy_from_slice(bytes);
        Self { buffer, offset }
    }
}

impl From<Sealed> for OffsetBytes {
    fn from(sealed: Sealed) -> Self {
        Self { buffer: sealed.into_bytes(), offset: 0 }
    }
}

impl AsRef<[u8]> for OffsetBytes {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[self.offset..]
    }
}
