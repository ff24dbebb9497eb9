//! Bytes of both Bloom filters: [`docs/format/bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/bloom.md).

use lacuna_base::{Error, Result};

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the bits of a standard filter.
pub(crate) const HEADER_BYTES: usize = 16;
/// Bytes before the lines of a blocked filter: a whole line, so that the lines stay aligned.
pub(crate) const BLOCKED_HEADER_BYTES: usize = 64;
/// Bytes of a block.
pub(crate) const LINE_BYTES: usize = 64;

/// The header before the bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Seed of the key hash.
    pub(crate) seed: u64,
    /// Bits a key sets.
    pub(crate) hash_count: u32,
}

impl Header {
    /// Writes the header to the start of `body`.
    pub(crate) fn write(self, body: &mut [u8]) {
        body[..8].copy_from_slice(&self.seed.to_le_bytes());
        body[8..12].copy_from_slice(&self.hash_count.to_le_bytes());
    }

    /// Reads the header of a body whose bits start at `header_bytes`.
    pub(crate) fn read(body: &[u8], header_bytes: usize) -> Result<Self> {
        if body.len() <= header_bytes {
            return Err(Error::corrupt(format!(
                "a Bloom filter of {} bytes has no room for bits",
                body.len()
            )));
        }
        let seed = u64::from_le_bytes(*body.first_chunk().expect("longer than its header"));
        let hash_count = u32::from_le_bytes(*body[8..].first_chunk().expect("longer than its header"));
        if (1..=32).contains(&hash_count) {
            Ok(Self { seed, hash_count })
        } else {
            Err(Error::corrupt(format!("a Bloom filter that sets {hash_count} bits a key does not exist")))
        }
    }
}
