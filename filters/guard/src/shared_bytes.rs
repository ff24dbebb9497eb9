//! Sealed bytes that a filter reads and an adapter writes out again, without a second copy.

use std::sync::Arc;

use lacuna_base::AlignedBytes;

/// Bytes on a 64-byte boundary with any number of owners; a clone copies a pointer.
///
/// ```
/// let bytes = lacuna_guard::SharedBytes::copy_of(b"sealed");
/// assert_eq!(bytes.clone().as_ref(), b"sealed");
/// ```
#[derive(Debug, Clone)]
pub struct SharedBytes {
    bytes: Arc<AlignedBytes>,
}

impl SharedBytes {
    /// A copy of `bytes`, exactly as long.
    pub fn copy_of(bytes: &[u8]) -> Self {
        AlignedBytes::copy_of(bytes).into()
    }
}

impl From<AlignedBytes> for SharedBytes {
    fn from(bytes: AlignedBytes) -> Self {
        Self { bytes: Arc::new(bytes) }
    }
}

impl AsRef<[u8]> for SharedBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
