//! Bytes of the toy family: the width of a stretch as a power of two, then the bitmap.

use lacuna_base::{Error, Result};

/// Newest version of the body, and the one written.
pub(super) const VERSION: u16 = 1;
/// Bytes of a body.
pub(super) const BODY_BYTES: usize = 9;

/// All that there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(super) width_log2: u32,
    pub(super) occupied: u64,
}

impl Header {
    /// The stretch of the key at `distance` from the smallest; a distance that no key has may be beyond the last.
    pub(super) fn stretch(self, distance: u64) -> u32 {
        u32::try_from(distance.unbounded_shr(self.width_log2)).unwrap_or(u32::MAX).min(u64::BITS - 1)
    }

    pub(super) fn encode(self) -> [u8; BODY_BYTES] {
        let mut bytes = [0; BODY_BYTES];
        bytes[0] = u8::try_from(self.width_log2).expect("at most 64");
        bytes[1..].copy_from_slice(&self.occupied.to_le_bytes());
        bytes
    }

    pub(super) fn decode(body: &[u8]) -> Result<Self> {
        match *body {
            [width_log2 @ 0..=64, ref bitmap @ ..] if bitmap.len() == 8 => {
                let occupied = bitmap.try_into().map_err(|_| Error::corrupt("a toy's bitmap has 8 bytes"))?;
                Ok(Self { width_log2: u32::from(width_log2), occupied: u64::from_le_bytes(occupied) })
            }
            _ => Err(Error::corrupt("a toy's body is a width of at most 64 bits and a bitmap")),
        }
    }
}
