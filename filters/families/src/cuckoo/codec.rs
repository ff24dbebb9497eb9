//! Bytes of a cuckoo filter: [`docs/format/cuckoo.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/cuckoo.md).

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_base::{Error, Result};

use super::shape::{SLOTS, Shape};
use super::spot::index;
use super::table::{CuckooTable, STASH, Segment};

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the buckets.
pub(crate) const HEADER_BYTES: usize = 24;
/// Bytes of a fingerprint that waits.
pub(crate) const STASHED_BYTES: usize = 8;

/// The header before the buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Seed of the key hash.
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    pub(crate) buckets: u64,
    pub(crate) stash_len: usize,
}

/// Zeros after the buckets, so that each is read whole: 8 bytes, or 16 for fingerprints of more than 16 bits.
pub(crate) fn padding(shape: Shape) -> usize {
    if shape.fingerprint_bits <= 16 { 8 } else { 16 }
}

impl Header {
    pub(crate) fn of(table: &CuckooTable, seed: u64) -> Self {
        let (buckets, stash_len) =
            (table.buckets.load(Ordering::Relaxed), table.stash_len.load(Ordering::Relaxed));
        Self { seed, shape: table.shape, buckets, stash_len }
    }

    /// Where the stash starts.
    pub(crate) fn stash_start(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "checked against the body, which lies in memory")]
        let buckets = self.shape.bytes_of(self.buckets) as usize;
        HEADER_BYTES + buckets + padding(self.shape)
    }

    /// Bytes of the whole body.
    pub(crate) fn body_bytes(&self) -> usize {
        self.stash_start() + self.stash_len * STASHED_BYTES
    }

    pub(super) fn write(&self, body: &mut [u8]) {
        body[..8].copy_from_slice(&self.seed.to_le_bytes());
        let number = |buckets: u64| u32::try_from(buckets).expect("a table has fewer than 2^32 buckets");
        body[8..12].copy_from_slice(&number(self.shape.base).to_le_bytes());
        body[12..16].copy_from_slice(&number(self.buckets).to_le_bytes());
        body[16] = u8::try_from(self.shape.fingerprint_bits).expect("at most 32");
        body[17] = u8::try_from(self.shape.core_bits).expect("at most 8");
        body[18] = u8::try_from(self.stash_len).expect("at most 8");
    }

    /// Reads the header of a body.
    pub(crate) fn read(body: &[u8]) -> Result<Self> {
        let malformed = |what: &str| Error::corrupt(format!("a cuckoo filter's {what} does not exist"));
        let header: &[u8; HEADER_BYTES] = body.first_chunk().ok_or_else(|| malformed("header"))?;
        let number =
            |at: usize| u32::from_le_bytes(*header[at..].first_chunk().expect("the header has 24 bytes"));
        let (bits, core) = (u32::from(header[16]), u32::from(header[17]));
        let shape = Shape::new(bits, number(8).into());
        if shape.fingerprint_bits != bits || shape.core_bits != core || number(8) == 0 {
            return Err(malformed("fingerprint or bucket count"));
        }
        let (buckets, stash_len) = (u64::from(number(12)), usize::from(header[18]));
        if !(shape.base..=shape.max_buckets()).contains(&buckets) || stash_len > STASH {
            return Err(malformed("number of buckets or stash"));
        }
        let seed = u64::from_le_bytes(*header.first_chunk().expect("the header has 24 bytes"));
        let header = Self { seed, shape, buckets, stash_len };
        let fits = shape.bytes_of(buckets) <= body.len() as u64 && header.body_bytes() <= body.len();
        if fits { Ok(header) } else { Err(Error::corrupt("a cuckoo filter was cut before its end")) }
    }
}

impl CuckooTable {
    /// Appends the table to `bytes`, for [`from_bytes`](Self::from_bytes); `seed` says how keys were hashed. Writers wait
    /// meanwhile.
    ///
    /// # Panics
    /// If a change has panicked before: bytes have no way to say that what is not found may be there.
    pub fn write_to(&self, seed: u64, bytes: &mut Vec<u8>) {
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(!self.is_broken(), "a change of this table broke off, it may miss a fingerprint");
        let header = Header::of(self, seed);
        let start = bytes.len();
        bytes.resize(start + header.body_bytes(), 0);
        let body = &mut bytes[start..];
        header.write(body);
        for (segment, run) in self.segments() {
            put_bits(body, run, &segment[..run.words()]);
        }
        self.put_stash(&header, body);
    }

    /// Writes the fingerprints that wait after the buckets.
    pub(super) fn put_stash(&self, header: &Header, body: &mut [u8]) {
        for (entry, (class, fingerprint)) in
            body[header.stash_start()..].chunks_mut(STASHED_BYTES).zip(self.stashed())
        {
            entry.copy_from_slice(&(class << 32 | fingerprint).to_le_bytes());
        }
    }

    /// The table of bytes that [`write_to`](Self::write_to) wrote, and the seed of its hashes; it grows further.
    ///
    /// # Errors
    /// `Corrupt` if the bytes cannot be a table.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, u64)> {
        let header = Header::read(bytes)?;
        let table = Self::with_shape(header.shape, true);
        if header.buckets > header.shape.base
            && !(header.buckets - header.shape.base).is_multiple_of(1 << table.segment_log2)
        {
            return Err(Error::corrupt("a cuckoo filter's number of buckets does not exist"));
        }
        table.allocate(header.buckets);
        for (segment, run) in table.segments() {
            take_bits(bytes, run, &segment[..run.words()]);
        }
        let bits_of_slot = u64::from(header.shape.fingerprint_bits);
        let taken = |bucket| {
            let bits = table.read(bucket);
            (0..SLOTS).map(|slot| u64::from(table.fields.slot(bits, slot) != 0)).sum::<u64>()
        };
        let stored = header.stash_len as u64 + (0..header.buckets).map(taken).sum::<u64>();
        for entry in
            bytes[header.stash_start()..].as_chunks::<STASHED_BYTES>().0.iter().take(header.stash_len)
        {
            let entry = u64::from_le_bytes(*entry);
            let (class, fingerprint) = (entry >> 32, entry & 0xFFFF_FFFF);
            if class >= header.shape.base || fingerprint == 0 || fingerprint >> bits_of_slot != 0 {
                return Err(Error::corrupt("a cuckoo filter's fingerprint that waits does not exist"));
            }
            table.push_to_stash(class, fingerprint);
        }
        table.stored.store(stored, Ordering::Relaxed);
        Ok((table, header.seed))
    }
}

/// Bits of a body, from one on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    start: u64,
    len: u64,
}

impl Run {
    /// Words that hold it in memory.
    pub(super) fn words(self) -> usize {
        index(self.len.div_ceil(64))
    }

    /// The byte after its last one.
    pub(super) fn end(self) -> usize {
        index((self.start + self.len).div_ceil(8))
    }

    /// The part from word `first` on, of `count` words.
    pub(super) fn part(self, first: usize, count: usize) -> Self {
        let before = 64 * first as u64;
        Self { start: self.start + before, len: (self.len - before).min(64 * count as u64) }
    }
}

impl CuckooTable {
    /// The segments, and where their buckets stand in a body: one after the other, as they stand in memory.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&Segment, Run)> {
        let (shape, count) = (self.shape, 1 << self.segment_log2);
        let run = move |first: u64, buckets: u64| Run {
            start: 8 * HEADER_BYTES as u64 + first * shape.bucket_bits(),
            len: buckets * shape.bucket_bits(),
        };
        let later = (shape.base..self.buckets.load(Ordering::Relaxed)).step_by(count);
        std::iter::once((&self.base, run(0, shape.base)))
            .chain(later.map(move |first| (self.spot(first).segment(), run(first, count as u64))))
    }
}

/// Writes the bits of a segment's words into a body, whose bits from there on are 0.
pub(super) fn put_bits(body: &mut [u8], run: Run, words: &[AtomicU64]) {
    let (at, shift) = (index(run.start / 8), run.start % 8);
    // The bits of the last word that the next place begins with.
    let mut left = u64::from(body[at]);
    for (place, word) in body[at..].chunks_mut(8).zip(words) {
        let word = word.load(Ordering::Relaxed);
        let bytes = (left | word << shift).to_le_bytes();
        place.copy_from_slice(&bytes[..place.len()]);
        left = (word >> 1) >> (63 - shift);
    }
    if let Some(next) = body.get_mut(at + 8 * words.len()) {
        *next |= left.to_le_bytes()[0];
    }
}

/// The reverse, into a segment's words.
fn take_bits(body: &[u8], run: Run, words: &[AtomicU64]) {
    let (at, shift) = (index(run.start / 8), run.start % 8);
    let word_at = |at: usize| {
        let bytes = body.get(at..).unwrap_or_default();
        let mut word = [0; 8];
        let len = bytes.len().min(8);
        word[..len].copy_from_slice(&bytes[..len]);
        u64::from_le_bytes(word)
    };
    for (nth, word) in words.iter().enumerate() {
        let (place, rest) = (at + 8 * nth, run.len - 64 * nth as u64);
        let bits = word_at(place) >> shift | (word_at(place + 8) << 1) << (63 - shift);
        let mask = if rest < 64 { (1 << rest) - 1 } else { u64::MAX };
        word.store(bits & mask, Ordering::Relaxed);
    }
}

/// Writes the bits of a bucket into a body, over those that are there.
pub(super) fn put_bucket(body: &mut [u8], shape: Shape, bucket: u64, bits: u128) {
    let width = shape.bucket_bits();
    // Halves of at most 64 bits, each within nine bytes.
    for (first, len) in [(0, width.min(64)), (64, width.saturating_sub(64))] {
        let bit = 8 * HEADER_BYTES as u64 + bucket * width + first;
        let (at, shift) = (index(bit / 8), bit % 8);
        let mask = ((1_u128 << len) - 1) << shift;
        let new = (bits >> first) << shift & mask;
        let place = body[at..].iter_mut().zip(mask.to_le_bytes()).zip(new.to_le_bytes());
        place.for_each(|((byte, mask), new)| *byte = *byte & !mask | new);
    }
}

/// The bits of a bucket in a body, whatever its width; further bits after them.
#[inline(always)]
pub(crate) fn bucket_at(body: &[u8], shape: Shape, bucket: u64) -> Option<u128> {
    let bit = bucket * shape.bucket_bits();
    let rest = body.get(HEADER_BYTES + (bit >> 3) as usize..)?;
    let bits = if shape.fingerprint_bits <= 16 {
        u128::from(u64::from_le_bytes(*rest.first_chunk()?))
    } else {
        u128::from_le_bytes(*rest.first_chunk()?)
    };
    Some(bits >> (bit & 7))
}
