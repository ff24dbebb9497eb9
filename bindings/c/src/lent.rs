//! Bytes that a caller in C lends for one call.

use std::slice;

/// The bytes.
///
/// # Safety
/// `size` bytes are readable at `bytes` for `'a`, or `size` is 0.
pub(crate) unsafe fn lent<'a, T>(bytes: *const T, size: usize) -> &'a [u8] {
    const { assert!(size_of::<T>() == 1, "a byte of one kind or another") }
    if size == 0 {
        return &[];
    }
    // SAFETY: as the caller promises; the type has one byte.
    unsafe { slice::from_raw_parts(bytes.cast(), size) }
}
