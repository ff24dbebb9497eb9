//! The standard Bloom filter, asked by hash.

use lacuna_base::hash::reduce;
use lacuna_base::{ENVELOPE_BYTES, Envelope, Result, U64Range};
use lacuna_succinct::arch::{Isa, prefetch};

use super::batch::ask_points;
use super::codec::{HEADER_BYTES, Header, VERSION};
use crate::frame::bytes_from;
use crate::integer::answer_group;
use crate::points::{PointBody, Points};
use crate::probes::note_probe;

/// Lines of a key that a batch fetches ahead. An absent key stops at its first empty bit, which is its second on average.
const LINES_AHEAD: u32 = 2;

/// Bits of a key that are looked at before a branch on them. Seven of eight absent keys have an empty bit among their first
/// three, so the processor guesses right that often, and starts on the next question early; after one bit it guesses
/// right half of the time. The price is a line of memory or two more for an absent key, fetched with the first.
const TOGETHER: u32 = 3;

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
    bytes_from(body, HEADER_BYTES)
}

/// Starts the fetch of the bit at `place`.
#[inline(always)]
pub(super) fn prefetch_bit(bits: &[u8], place: u64) {
    prefetch(bits, (place >> 3) as usize);
}

/// A number whose lowest bit is the bit at `place`, if that lies in a whole word of `bits`.
#[inline(always)]
fn in_whole_word(bits: &[u8], place: u64) -> Option<u64> {
    let word = bits.as_chunks::<8>().0.get((place >> 6) as usize)?;
    Some(u64::from_le_bytes(*word) >> (place & 63))
}

/// Whether the next [`TOGETHER`] places are set, if all lie in whole words, without a branch on one of them.
#[inline(always)]
fn together(bits: &[u8], places: &mut Places) -> Option<bool> {
    let mut all = 1;
    for _ in 0..TOGETHER {
        all &= in_whole_word(bits, places.next())?;
    }
    Some(all & 1 != 0)
}

/// Whether the bit at `place` is set; one beyond the bits cannot be proven empty.
#[inline(always)]
pub(super) fn is_set(bits: &[u8], place: u64) -> bool {
    in_whole_word(bits, place).map_or_else(|| is_set_in_the_rest(bits, place), |bit| bit & 1 != 0)
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

    /// Looks at [`TOGETHER`] bits before it branches on them; what follows is a call in the end, so that this part has few
    /// registers to save and restore.
    #[inline(always)]
    fn ask(&self, bits: &[u8], hash: u64) -> bool {
        note_probe();
        if self.header.hash_count < TOGETHER {
            return self.ask_one_by_one(bits, hash);
        }
        match together(bits, &mut self.places(hash)) {
            Some(false) => false,
            Some(true) => self.ask_the_others(bits, hash),
            None => self.ask_one_by_one(bits, hash),
        }
    }

    /// [`ask`](Self::ask) for a key whose first bits are set: it is likely there, so that one bit after the other costs least.
    #[inline(never)]
    fn ask_the_others(&self, bits: &[u8], hash: u64) -> bool {
        let mut places = self.places(hash);
        (0..TOGETHER).for_each(|_| _ = places.next());
        for _ in TOGETHER..self.header.hash_count {
            match in_whole_word(bits, places.next()) {
                Some(bit) if bit & 1 == 0 => return false,
                Some(_) => {}
                None => return self.ask_one_by_one(bits, hash),
            }
        }
        true
    }

    /// [`ask`](Self::ask) for a key with few bits, or with a bit in the last bytes.
    #[cold]
    #[inline(never)]
    fn ask_one_by_one(&self, bits: &[u8], hash: u64) -> bool {
        let mut places = self.places(hash);
        (0..self.header.hash_count).all(|_| is_set(bits, places.next()))
    }

    pub(super) fn hash_count(&self) -> u32 {
        self.header.hash_count
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

    #[inline(always)]
    fn may_contain<I: Isa>(&self, _isa: I, body: &[u8], hash: u64) -> bool {
        self.ask(bits_of(body), hash)
    }

    #[inline(always)]
    fn may_contain_sealed<I: Isa>(&self, _isa: I, sealed: &[u8], hash: u64) -> bool {
        sealed.get(ENVELOPE_BYTES + HEADER_BYTES..).is_none_or(|bits| self.ask(bits, hash))
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
