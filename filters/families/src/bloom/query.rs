//! The standard Bloom filter, asked by hash.

use lacuna_base::hash::reduce;
use lacuna_base::{Envelope, Result, U64Range};
use lacuna_succinct::arch::{Isa, prefetch};

use super::batch::ask_points;
use super::codec::{HEADER_BYTES, Header, VERSION};
use crate::integer::answer_group;
use crate::points::{PointBody, Points};
use crate::probes::note_probe;

/// Lines of a key that a batch fetches ahead. An absent key stops at its first empty bit, which is its second on average.
const LINES_AHEAD: u32 = 2;

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

/// The bits of a filter in a body, or in a body and what follows it.
#[inline(always)]
pub(super) fn bits_of(body: &[u8]) -> &[u8] {
    body.get(HEADER_BYTES..).unwrap_or_default()
}

/// Starts the fetch of the bit at `place`.
#[inline(always)]
pub(super) fn prefetch_bit(bits: &[u8], place: u64) {
    prefetch(bits, (place >> 3) as usize);
}

/// Whether the bit at `place` is set, if it lies in a whole word of `bits`.
#[inline(always)]
fn in_whole_word(bits: &[u8], place: u64) -> Option<bool> {
    let word = bits.as_chunks::<8>().0.get((place >> 6) as usize)?;
    Some(u64::from_le_bytes(*word) >> (place & 63) & 1 != 0)
}

/// Whether the bit at `place` is set; one beyond the bits cannot be proven empty.
#[inline(always)]
pub(super) fn is_set(bits: &[u8], place: u64) -> bool {
    in_whole_word(bits, place).unwrap_or_else(|| is_set_in_the_rest(bits, place))
}

/// [`is_set`] for the last bytes, which are no whole word.
#[cold]
#[inline(never)]
fn is_set_in_the_rest(bits: &[u8], place: u64) -> bool {
    bits.get((place >> 3) as usize).is_none_or(|byte| byte >> (place & 7) & 1 != 0)
}

impl Bloom {
    /// The bits that a key with this hash has set.
    #[inline(always)]
    pub(super) fn places(&self, hash: u64) -> Places {
        Places::new(hash, self.bit_count)
    }

    pub(super) fn hash_count(&self) -> u32 {
        self.header.hash_count
    }

    /// [`may_contain`](PointBody::may_contain) for a key with a bit in the last bytes, which are no whole word.
    #[cold]
    #[inline(never)]
    fn may_contain_in_the_rest(&self, bits: &[u8], hash: u64) -> bool {
        let mut places = self.places(hash);
        (0..self.header.hash_count).all(|_| is_set(bits, places.next()))
    }
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
        let mut places = self.places(hash);
        for _ in 0..LINES_AHEAD.min(self.header.hash_count) {
            prefetch_bit(bits_of(body), places.next());
        }
    }

    /// Stops at the first empty bit. No processor can guess which that is, but a wrong guess costs less than a line of memory
    /// that need not be read.
    #[inline(always)]
    fn may_contain<I: Isa>(&self, _isa: I, body: &[u8], hash: u64) -> bool {
        note_probe();
        let (bits, mut places) = (bits_of(body), self.places(hash));
        for _ in 0..self.header.hash_count {
            match in_whole_word(bits, places.next()) {
                Some(true) => {}
                Some(false) => return false,
                None => return self.may_contain_in_the_rest(bits, hash),
            }
        }
        true
    }

    fn ask_group(points: &Points<Self>, bytes: &[u8], inside: &[(usize, U64Range)], answers: &mut [bool]) {
        if inside.iter().all(|(_, range)| range.lo() == range.hi()) {
            let hashes = inside.iter().map(|(place, range)| (*place, points.hash(range.lo())));
            ask_points(points.body(), bits_of(bytes), hashes, answers);
        } else {
            answer_group(points, bytes, inside, answers);
        }
    }

    fn point_rate(&self) -> f64 {
        let set_bits = self.key_count as f64 * f64::from(self.header.hash_count);
        let share_of_ones = 1.0 - (-set_bits / self.bit_count as f64).exp();
        share_of_ones.powi(self.header.hash_count.cast_signed())
    }
}
