//! Building the toy family: one pass.

use super::codec::{BODY_BYTES, Header};
use crate::integer_build::TooSmall;

/// Writes the body for at least one of ascending `keys`.
pub(super) fn write_body(keys: &[u64], stretches_log2: u32, max_bytes: usize) -> Result<Vec<u8>, TooSmall> {
    if max_bytes < BODY_BYTES {
        return Err(TooSmall { smallest_bytes: BODY_BYTES });
    }
    let smallest = keys[0];
    let span_bits = u64::BITS - (keys[keys.len() - 1] - smallest).leading_zeros();
    let mut header = Header { width_log2: span_bits.saturating_sub(stretches_log2), occupied: 0 };
    for key in keys {
        header.occupied |= 1 << header.stretch(key - smallest);
    }
    Ok(header.encode().to_vec())
}
