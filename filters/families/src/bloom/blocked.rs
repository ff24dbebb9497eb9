//! The cache-line blocked Bloom filter, asked by hash.

use lacuna_base::hash::reduce;
use lacuna_base::{Envelope, Error, Result};
use lacuna_succinct::arch::{Isa, prefetch};

use super::codec::{BLOCKED_HEADER_BYTES, Header, LINE_BYTES, VERSION};
use crate::estimate::power;
use crate::points::{PointBody, points_in_groups};
use crate::probes::note_probe;

/// Words of a block.
const WORDS: u32 = 8;

/// Keys a line beyond which every bit of it is as good as set.
const CROWDED: f64 = 10_000.0;

/// A view of a blocked Bloom filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockedBloom {
    header: Header,
    line_count: u64,
    key_count: u64,
}

/// Bits a key sets at `bits_per_key`: a power of two, so that a key takes whole groups of words.
pub(crate) fn hash_count(bits_per_key: f64) -> u32 {
    match bits_per_key {
        bits if bits < 2.0 => 1,
        bits if bits < 4.0 => 2,
        bits if bits < 8.0 => 4,
        bits if bits < 22.0 => 8,
        _ => 16,
    }
}

/// The bits that `hash` sets in a block. With fewer bits than words, the hash also chooses the group of words.
#[inline(always)]
pub(crate) fn mask(hash: u64, hash_count: u32) -> [u64; WORDS as usize] {
    // The line number took the high bits of the hash; a multiplication mixes them down into fresh ones.
    let mixed = hash.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let mut mask = [0; WORDS as usize];
    for (word, bits) in (0u64..).zip(mask.iter_mut()) {
        *bits = 1u64 << ((mixed >> (6 * word)) & 63);
    }
    if hash_count < WORDS {
        let group_log2 = hash_count.ilog2();
        let group = (mixed >> 58) & u64::from((WORDS >> group_log2) - 1);
        for (word, bits) in (0u64..).zip(mask.iter_mut()) {
            *bits = if word >> group_log2 == group { *bits } else { 0 };
        }
    }
    if hash_count > WORDS {
        let again = (mixed ^ (mixed >> 32)).wrapping_mul(0xA076_1D64_78BD_642F);
        for (word, bits) in (0u64..).zip(mask.iter_mut()) {
            *bits |= 1u64 << ((again >> (6 * word + 8)) & 63);
        }
    }
    mask
}

/// First byte of line `line` in a body.
#[inline(always)]
pub(crate) fn line_start(line: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "lines lie within a slice in memory")]
    let line = line as usize;
    BLOCKED_HEADER_BYTES + line * LINE_BYTES
}

impl PointBody for BlockedBloom {
    const VERSION: u16 = VERSION;
    const WANTS_DISPATCH: bool = true;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let header = Header::read(body, BLOCKED_HEADER_BYTES)?;
        let line_count = ((body.len() - BLOCKED_HEADER_BYTES) / LINE_BYTES) as u64;
        if line_count > 0 && matches!(header.hash_count, 1 | 2 | 4 | 8 | 16) {
            Ok(Self { header, line_count, key_count: envelope.key_count })
        } else {
            Err(Error::corrupt("a blocked Bloom filter has whole lines and sets 1, 2, 4, 8 or 16 bits a key"))
        }
    }

    #[inline(always)]
    fn seed(&self) -> u64 {
        self.header.seed
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], hash: u64) {
        prefetch(body, line_start(reduce(hash, self.line_count)));
    }

    #[inline(always)]
    fn may_contain<I: Isa>(&self, _isa: I, body: &[u8], hash: u64) -> bool {
        note_probe();
        let start = line_start(reduce(hash, self.line_count));
        let Some(line) = body.get(start..).and_then(|rest| rest.first_chunk::<LINE_BYTES>()) else {
            return true;
        };
        let mask = mask(hash, self.header.hash_count);
        let mut missing = [0; WORDS as usize];
        for ((word, bits), missing) in line.as_chunks::<8>().0.iter().zip(mask).zip(missing.iter_mut()) {
            *missing = bits & !u64::from_le_bytes(*word);
        }
        missing.iter().fold(0, |all, word| all | word) == 0
    }

    fn point_rate(&self) -> f64 {
        rate(self.key_count as f64, self.line_count as f64, self.header.hash_count)
    }

    points_in_groups!();
}

/// Share of absent keys that are "maybe": the rate of a group of words with `c` keys, weighted by the chance of `c` keys
/// (Poisson). From additions, multiplications and divisions only, so that designs made by it are the same everywhere.
pub(crate) fn rate(key_count: f64, line_count: f64, hash_count: u32) -> f64 {
    let groups = f64::from(WORDS / hash_count.min(WORDS));
    let mean = key_count / (line_count * groups);
    if mean > CROWDED {
        return 1.0;
    }
    let zeros_a_key = power(1.0 - 1.0 / 64.0, hash_count.max(WORDS) / WORDS);
    let (mut chance, mut zeros, mut rate) = (libm::exp(-mean), 1.0, 0.0);
    let max = mean + 12.0 * mean.sqrt() + 20.0;
    let mut keys = 0.0;
    while keys <= max {
        rate += chance * power(1.0 - zeros, hash_count);
        keys += 1.0;
        chance *= mean / keys;
        zeros *= zeros_a_key;
    }
    rate
}
