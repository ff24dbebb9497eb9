//! Writes a Bloom filter for each level.

use lacuna_base::hash::IntegerHasher;

use super::codec::{MIN_BLOOM_BYTES, encode_header, header_bytes};
use super::design::Level;
use crate::bloom::{BloomSpec, write_standard};
use crate::integer_build::TooSmall;
use crate::proteus::prefix_key::{PrefixKey as _, PrefixKeys};

/// Bytes of the smallest body of `count` filters.
pub(super) fn smallest_bytes(count: usize) -> usize {
    header_bytes(count) + count * MIN_BLOOM_BYTES
}

/// The body of these levels, asked in this order.
pub(super) fn write_body(
    keys: &(impl PrefixKeys + ?Sized),
    levels: &[Level],
    probes: u32,
    seed: u64,
    max_bytes: usize,
) -> Result<Vec<u8>, TooSmall> {
    let smallest_bytes = smallest_bytes(levels.len());
    if smallest_bytes > max_bytes {
        return Err(TooSmall { smallest_bytes });
    }
    let shared = shared_with_previous(keys);
    let counts: Vec<usize> =
        levels.iter().map(|level| shared.iter().filter(|&&bits| bits < level.bits).count()).collect();
    let asked: Vec<f64> =
        levels.iter().zip(&counts).map(|(level, &count)| level.set_bits(count as f64)).collect();
    let bytes = filter_bytes(&asked, max_bytes - header_bytes(levels.len()));
    let mut body = encode_header(levels, &bytes, probes);
    for ((level, &count), bytes) in levels.iter().zip(&counts).zip(bytes) {
        let seed = level_seed(seed, level.bits);
        let new = shared.iter().enumerate().filter(|(_, shared)| **shared < level.bits);
        let hashes = new.map(|(index, _)| {
            let key = keys.key(index);
            key.hasher(level.bits, seed).hash(key.tail(level.bits))
        });
        let spec = BloomSpec::new().with_hash_count(level.hash_count);
        body.extend(write_standard(spec, hashes, count, seed, bytes));
    }
    Ok(body)
}

/// The seed of a length. A key that ends before two lengths has the same head and tail in both: under one seed both filters would
/// err on the same keys.
fn level_seed(seed: u64, bits: u32) -> u64 {
    IntegerHasher::new(seed).hash(u64::from(bits))
}

/// Bits that each key shares with the one before it: a key that shares fewer than a prefix has is the first one with it.
fn shared_with_previous(keys: &(impl PrefixKeys + ?Sized)) -> Vec<u32> {
    let shared = |index| if index == 0 { 0 } else { keys.key(index - 1).shared_bits(keys.key(index)) };
    (0..keys.len()).map(shared).collect()
}

/// The parts of `room` bytes that filters get, of which each sets its number of bits: in proportion, after what each needs at the
/// least.
pub(super) fn filter_bytes(set_bits: &[f64], room: usize) -> Vec<usize> {
    let mut left = room - set_bits.len() * MIN_BLOOM_BYTES;
    let (beyond, total) = (left as f64, set_bits.iter().sum::<f64>());
    let mut bytes = vec![MIN_BLOOM_BYTES; set_bits.len()];
    for (bytes, bits) in bytes.iter_mut().zip(set_bits).skip(1) {
        #[expect(clippy::cast_possible_truncation, reason = "about `beyond` at most; casts saturate")]
        let part = ((beyond * bits / total) as usize).min(left);
        *bytes += part;
        left -= part;
    }
    // With what was rounded away.
    bytes[0] += left;
    bytes
}
