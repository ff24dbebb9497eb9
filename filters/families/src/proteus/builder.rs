//! Writes the trie, and gives the remaining space to the Bloom filter.

use lacuna_succinct::trie::uniform::{UniformBuilder, UniformParts};

use super::codec::{HEADER_BYTES, MIN_BLOOM_BYTES, encode_header};
use super::design::Design;
use super::prefix_key::{PrefixKey, PrefixKeys};
use crate::bloom::{BloomSpec, write_standard};
use crate::integer_build::TooSmall;

/// The body of exactly this design.
pub(crate) fn write_body(
    keys: &(impl PrefixKeys + ?Sized),
    design: Design,
    seed: u64,
    max_bytes: usize,
) -> Result<Vec<u8>, TooSmall> {
    let trie = if design.trie_bits > 0 { Some(trie_of(keys, design.trie_bits)) } else { None };
    let trie_bytes = trie.as_ref().map_or(0, UniformParts::byte_len);
    let bloom_bytes = if design.bloom_bits > 0 { MIN_BLOOM_BYTES } else { 0 };
    let smallest_bytes = HEADER_BYTES + trie_bytes + bloom_bytes;
    if smallest_bytes > max_bytes {
        return Err(TooSmall { smallest_bytes });
    }
    let mut body = Vec::with_capacity(if bloom_bytes > 0 { max_bytes } else { smallest_bytes });
    body.extend_from_slice(&encode_header(design, trie_bytes));
    if let Some(trie) = trie {
        trie.encode(&mut body);
    }
    if design.bloom_bits > 0 {
        let room = max_bytes - body.len();
        body.extend(bloom_of(keys, design.bloom_bits, seed, room));
    }
    Ok(body)
}

/// As [`write_body`]; a trie that no budget holds gives way to a Bloom filter of the same prefixes, or the longer ones.
pub(crate) fn write_asked(
    keys: &(impl PrefixKeys + ?Sized),
    design: Design,
    seed: u64,
    max_bytes: usize,
    key_count: usize,
) -> Result<Vec<u8>, TooSmall> {
    write_body(keys, design, seed, max_bytes).or_else(|small| {
        // The largest budget is 16 bytes a key; the common prefix of strings may take a quarter of them.
        let largest = key_count * 12 + 32;
        if small.smallest_bytes <= largest {
            return Err(small);
        }
        let bloom_bits = if design.bloom_bits > 0 { design.bloom_bits } else { design.trie_bits };
        write_body(keys, Design { trie_bits: 0, bloom_bits, ..design }, seed, max_bytes)
    })
}

/// The body of this design, or of one with the deepest trie below it that fits; a Bloom filter alone if none does.
///
/// A deeper trie has more nodes, so the depth is found by halving: six tries for 64 bits, each over all keys.
pub(crate) fn write_within(
    keys: &(impl PrefixKeys + ?Sized),
    design: Design,
    seed: u64,
    max_bytes: usize,
) -> Result<Vec<u8>, TooSmall> {
    let write = |trie_bits| {
        let bloom_bits = if trie_bits == 0 { design.bloom_bits.max(1) } else { design.bloom_bits };
        write_body(keys, Design { trie_bits, bloom_bits, ..design }, seed, max_bytes)
    };
    let asked = write_body(keys, design, seed, max_bytes);
    if asked.is_ok() || design.trie_bits == 0 {
        return asked;
    }
    let (mut fits, mut too_deep, mut deepest) = (0, design.trie_bits, None);
    while too_deep - fits > 1 {
        let middle = fits.midpoint(too_deep);
        match write(middle) {
            Ok(body) => (fits, deepest) = (middle, Some(body)),
            Err(_) => too_deep = middle,
        }
    }
    deepest.map_or_else(|| write(0), Ok)
}

fn trie_of(keys: &(impl PrefixKeys + ?Sized), bits: u32) -> UniformParts {
    let mut builder = UniformBuilder::new(bits);
    for index in 0..keys.len() {
        if is_new(keys, index, bits) {
            builder.add(&keys.key(index).path(bits)).expect("prefixes of ascending keys ascend");
        }
    }
    builder.finish()
}

/// Whether the key at `index` is the first one with its prefix.
#[inline(always)]
fn is_new(keys: &(impl PrefixKeys + ?Sized), index: usize, bits: u32) -> bool {
    index == 0 || keys.key(index - 1).shared_bits(keys.key(index)) < bits
}

/// A Bloom filter of `room` bytes over the distinct prefixes of `bits` bits.
pub(crate) fn bloom_of(keys: &(impl PrefixKeys + ?Sized), bits: u32, seed: u64, room: usize) -> Vec<u8> {
    let new = || (0..keys.len()).filter(|&index| is_new(keys, index, bits));
    let hashes = new().map(|index| {
        let key = keys.key(index);
        key.hasher(bits, seed).hash(key.tail(bits))
    });
    write_standard(BloomSpec::new(), hashes, new().count(), seed, room)
}
