//! Building Rosetta: allocate, then insert every prefix of every filtered level once.

use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_base::internal::thinned;

use super::allocation::{Allocation, Allocator};
use super::codec::{ENTRY_BYTES, HEADER_BYTES, Header, LEVELS, Level, WORD_BYTES, header_bytes};
use super::model::{Cover, Model};
use super::query::node_hash;
use super::spec::RosettaSpec;
use crate::bloom::Places;
use crate::integer_build::{BodyOrder, TooSmall};
use crate::rencoder::NodeCounts;

/// Smallest body: a header, one level, one word.
const SMALLEST_BYTES: usize = header_bytes(1) + WORD_BYTES;
/// Sampled ranges that are looked at.
const MAX_SAMPLED: usize = 128;
/// Ranges that filters without a sample are made for: at most this many, of these lengths, as in the REncoder paper.
const MAX_ASSUMED: u64 = 32;
const SHORTEST: u64 = 2;
const LONGEST: u64 = 32;

/// A design: the bits of each level, and the predicted rate.
pub(crate) struct Design {
    pub(crate) allocation: Allocation,
    pub(crate) model: Model,
}

impl Design {
    /// The design for ascending `keys` and a sample.
    pub(crate) fn new(
        spec: RosettaSpec,
        keys: &[u64],
        max_bytes: usize,
        sample: &[(u64, u64)],
    ) -> Result<Self, TooSmall> {
        if max_bytes < SMALLEST_BYTES {
            return Err(TooSmall { smallest_bytes: SMALLEST_BYTES });
        }
        let covers = covers_of(sample, keys.len());
        let max_words = u64::from(u32::MAX) / LEVELS as u64;
        let words = ((max_bytes - HEADER_BYTES - ENTRY_BYTES) / WORD_BYTES) as u64;
        let counts = NodeCounts::of(keys);
        let allocator = Allocator {
            counts: &counts,
            covers: &covers,
            words: words.min(max_words),
            max_probes: spec.max_probes(),
        };
        let allocation = allocator.allocate(spec.policy());
        Ok(Self { model: allocator.model(&allocation), allocation })
    }

    /// The header of its body; the shares of ones are still unknown.
    pub(crate) fn header(&self, seed: u64, max_probes: u32) -> Header {
        let mut header = Header { seed, max_probes, filtered: 0, levels: [Level::default(); LEVELS] };
        let mut start = 0;
        for (height, level) in header.levels.iter_mut().enumerate() {
            let words = u32::try_from(self.allocation.words[height]).expect("all together are below 2^32");
            if words > 0 {
                let hash_count = u16::try_from(self.allocation.hash_counts[height]).expect("at most 32");
                *level = Level { words, start, hash_count, ones: 0 };
                header.filtered |= 1 << height;
                start += words;
            }
        }
        header
    }
}

/// The covers of some of the sampled ranges, or of assumed ones: fewer for fewer keys, so that small filters are built
/// quickly.
fn covers_of(sample: &[(u64, u64)], key_count: usize) -> Vec<Cover> {
    if sample.is_empty() {
        let hasher = IntegerHasher::new(0);
        let assumed = (0..(key_count as u64 / 16).clamp(4, MAX_ASSUMED)).map(|number| {
            let lo = hasher.hash(2 * number) >> 1;
            let length = SHORTEST + reduce(hasher.hash(2 * number + 1), LONGEST - SHORTEST + 1);
            Cover::of(lo, lo + length - 1)
        });
        return assumed.collect();
    }
    let covers = thinned(sample.len(), MAX_SAMPLED).map(|index| Cover::of(sample[index].0, sample[index].1));
    covers.collect()
}

/// Writes the body for at least three ascending `keys`.
pub(crate) fn write_body(
    spec: RosettaSpec,
    keys: &[u64],
    max_bytes: usize,
    order: &BodyOrder<'_>,
) -> Result<Vec<u8>, TooSmall> {
    let design = Design::new(spec, keys, max_bytes, &(order.sample_ranges)())?;
    let mut header = design.header(order.seed, spec.max_probes());
    let mut body = vec![0; header.body_bytes()];
    let mut rest = &mut body[header.bits_offset()..];
    for height in 0..LEVELS {
        let level = header.levels[height];
        let (bits, behind) = rest.split_at_mut(level.words as usize * WORD_BYTES);
        if level.words > 0 {
            let ones = insert(level, u32::try_from(height).expect("below 64"), keys, order.seed, bits);
            header.levels[height] = level.with_ones(ones);
        }
        rest = behind;
    }
    header.write(&mut body);
    Ok(body)
}

/// Inserts all prefixes of one level; the number of ones.
fn insert(level: Level, height: u32, keys: &[u64], seed: u64, bits: &mut [u8]) -> u64 {
    let mut before = None;
    for &key in keys {
        if before.replace(key >> height) == Some(key >> height) {
            continue;
        }
        let mut places = Places::new(node_hash(seed, key, height), level.bits());
        for _ in 0..level.hash_count {
            let place = places.next();
            let byte = (place >> 3) as usize;
            bits[byte] |= 1 << (place & 7);
        }
    }
    bits.iter().map(|byte| u64::from(byte.count_ones())).sum()
}
