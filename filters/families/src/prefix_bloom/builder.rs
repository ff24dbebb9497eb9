//! Building the prefix Bloom filter.

use lacuna_base::hash::IntegerHasher;

use super::codec::encode_header;
use crate::bloom::{BloomSpec, write_standard};

/// Writes the body for ascending `keys`; each distinct prefix goes in once.
pub(crate) fn write_body(dropped_bits: u32, keys: &[u64], max_bytes: usize, seed: u64) -> Vec<u8> {
    let header = encode_header(dropped_bits);
    let mut prefixes: Vec<u64> = keys.iter().map(|key| key >> dropped_bits).collect();
    prefixes.dedup();
    let hasher = IntegerHasher::new(seed);
    let hashes = prefixes.iter().map(|&prefix| hasher.hash(prefix));
    let bloom = write_standard(BloomSpec::new(), hashes, prefixes.len(), seed, max_bytes - header.len());
    [&header[..], &bloom].concat()
}
