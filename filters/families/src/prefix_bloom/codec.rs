//! Bytes of the prefix Bloom filter: [`docs/format/prefix_bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/prefix_bloom.md).

use lacuna_base::{Error, Result};

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the Bloom filter's own body.
pub(crate) const HEADER_BYTES: usize = 8;

/// The header that says how many low bits each prefix leaves out.
pub(crate) fn encode_header(dropped_bits: u32) -> [u8; HEADER_BYTES] {
    u64::from(dropped_bits).to_le_bytes()
}

/// Reads the header at the start of `body`.
pub(crate) fn decode_header(body: &[u8]) -> Result<u32> {
    let header =
        body.first_chunk().ok_or_else(|| Error::corrupt("a prefix Bloom body is shorter than its header"))?;
    match u64::from_le_bytes(*header) {
        dropped @ 0..=63 => Ok(u32::try_from(dropped).expect("at most 63")),
        dropped => Err(Error::corrupt(format!("a prefix cannot leave out {dropped} of 64 bits"))),
    }
}
