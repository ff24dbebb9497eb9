//! Hashes of whole keys beside a body that sees a place only: what makes points of long keys exact.
//!
//! Places of 64 bits cannot tell apart what follows after them. The section holds a hash of each whole key as values of a
//! circle, as Grafite does ([`crate::grafite`]); a point that is not among them is "no" before its place is looked at.

use lacuna_base::hash::hash_bytes;
use lacuna_base::{Envelope, Error, Result, SortedKeys};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};
use lacuna_succinct::elias_fano::encoded_len;

use crate::grafite::{Grafite, GrafiteSpec, HEADER_BYTES, MAX_LAST, write_circle};
use crate::hashing::Hashing;
use crate::integer::IntegerBody;
use crate::largest::largest_within;
use crate::threads::Threads;

/// Bytes of the seed before the hashes.
const SEED_BYTES: usize = 8;
/// Bits for each key beyond the logarithm of the rate.
const BITS_BESIDE_RATE: f64 = 2.3;

/// An opened section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointSection {
    seed: u64,
    hashes: Grafite,
}

impl PointSection {
    /// The section for `keys` in at most `max_bytes`; empty if there is too little room.
    pub(crate) fn write(keys: SortedKeys<'_, [u8]>, seed: u64, max_bytes: usize) -> Vec<u8> {
        let geometry = GrafiteSpec::new().geometry();
        let room = max_bytes.saturating_sub(SEED_BYTES + HEADER_BYTES);
        let fits = |last: u64| encoded_len(keys.len() as u64, last, geometry) <= room;
        let Some(last) = largest_within(MAX_LAST, |last| last < keys.len() as u64 || fits(last)) else {
            return Vec::new();
        };
        if !fits(last) {
            return Vec::new();
        }
        let hashes: Vec<u64> = keys.iter().map(|key| hash_bytes(key, seed)).collect();
        let hashing = Hashing::Seeded(seed);
        let circle = write_circle(GrafiteSpec::new(), &hashes, last, 0, hashing, Threads::ONE);
        [&seed.to_le_bytes()[..], &circle].concat()
    }

    /// Opens what [`write`](Self::write) wrote; `None` for an empty section.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are no section.
    pub(crate) fn open(bytes: &[u8], envelope: &Envelope) -> Result<Option<Self>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let (seed, body) = bytes
            .split_first_chunk::<SEED_BYTES>()
            .ok_or_else(|| Error::corrupt("the section for points is shorter than its seed"))?;
        Ok(Some(Self { seed: u64::from_le_bytes(*seed), hashes: Grafite::open(body, envelope)? }))
    }

    /// Whether `key` may be there; `bytes` are those of the section.
    #[inline(always)]
    pub(crate) fn may_contain(&self, bytes: &[u8], key: &[u8]) -> bool {
        let body = bytes.get(SEED_BYTES..).unwrap_or_default();
        dispatch(AskPoint { hashes: &self.hashes, body, hash: hash_bytes(key, self.seed) })
    }

    /// The expected rate of absent keys that pass a section of `bits_per_key`.
    pub(crate) fn rate(bits_per_key: f64) -> f64 {
        libm::exp2(BITS_BESIDE_RATE - bits_per_key).min(1.0)
    }
}

struct AskPoint<'a> {
    hashes: &'a Grafite,
    body: &'a [u8],
    hash: u64,
}

impl Kernel for AskPoint<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.hashes.any_in(isa, self.body, self.hash, self.hash)
    }
}
