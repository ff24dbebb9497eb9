//! The standard Bloom filter, asked by hash.

use lacuna_base::hash::reduce;
use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::{Isa, prefetch};

use super::codec::{HEADER_BYTES, Header, VERSION};
use crate::points::{PointBody, points_in_groups};
use crate::probes::note_probe;

/// Probes that are made before the first branch, and whose lines a batch fetches ahead. An absent key fails each with a chance
/// of about a half, which no processor can guess; that one of three fails it guesses well.
const EAGER_PROBES: u32 = 3;

/// Factor between the hashes of a key, 5 modulo 8 for the longest cycle (Steele and Vigna, "Computationally easy,
/// spectrally good multipliers", 2022).
const STEP: u64 = 0xF135_7AEA_2E62_A9C5;

/// A view of a standard Bloom filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bloom {
    header: Header,
    bit_count: u64,
    key_count: u64,
}

/// The places of one key: a multiplicative sequence of hashes, each scaled to the number of bits. An arithmetic one
/// would be cheaper by a cycle, but in a filter of a few bytes two keys then share all their places far too often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    next: u64,
    bit_count: u64,
}

impl Places {
    #[inline(always)]
    pub(crate) fn new(hash: u64, bit_count: u64) -> Self {
        Self { next: hash, bit_count }
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        let place = reduce(self.next, self.bit_count);
        self.next = self.next.wrapping_mul(STEP);
        place
    }
}

#[inline(always)]
fn byte_of(place: u64) -> usize {
    let byte = (place >> 3) as usize;
    HEADER_BYTES + byte
}

/// The bit at `place`, lowest; one beyond the body, which cannot be proven empty.
#[inline(always)]
fn bit_at(body: &[u8], place: u64) -> u8 {
    let byte = body.get(byte_of(place)).copied().unwrap_or(0xFF);
    (byte >> (place & 7)) & 1
}

impl PointBody for Bloom {
    const VERSION: u16 = VERSION;
    const WANTS_DISPATCH: bool = false;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let header = Header::read(body, HEADER_BYTES)?;
        let bit_count = (body.len() - HEADER_BYTES) as u64 * 8;
        Ok(Self { header, bit_count, key_count: envelope.key_count })
    }

    #[inline(always)]
    fn seed(&self) -> u64 {
        self.header.seed
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], hash: u64) {
        let mut places = Places::new(hash, self.bit_count);
        for _ in 0..EAGER_PROBES.min(self.header.hash_count) {
            prefetch(body, byte_of(places.next()));
        }
    }

    #[inline(always)]
    fn may_contain<I: Isa>(&self, _isa: I, body: &[u8], hash: u64) -> bool {
        note_probe();
        let mut places = Places::new(hash, self.bit_count);
        let hash_count = self.header.hash_count;
        if hash_count < EAGER_PROBES {
            return (0..hash_count).all(|_| bit_at(body, places.next()) != 0);
        }
        let eager = (0..EAGER_PROBES).fold(1, |all, _| all & bit_at(body, places.next()));
        eager != 0 && (EAGER_PROBES..hash_count).all(|_| bit_at(body, places.next()) != 0)
    }

    fn point_rate(&self) -> f64 {
        let set_bits = self.key_count as f64 * f64::from(self.header.hash_count);
        let share_of_ones = 1.0 - (-set_bits / self.bit_count as f64).exp();
        share_of_ones.powi(self.header.hash_count.cast_signed())
    }

    points_in_groups!();
}
