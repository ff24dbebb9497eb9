//! Bytes of a cuckoo filter: [`docs/format/cuckoo.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/cuckoo.md).

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use lacuna_base::{Error, Result};

use super::shape::{SLOTS, Shape};
use super::table::{CuckooTable, STASH};

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

    fn write(&self, body: &mut [u8]) {
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
        let width = self.shape.bucket_bits();
        for bucket in 0..header.buckets {
            let bits = if width == 128 { self.read(bucket) } else { self.read(bucket) & ((1 << width) - 1) };
            let at = HEADER_BYTES + (bucket * width / 8) as usize;
            let shifted = bits << (bucket * width % 8);
            for (byte, new) in body[at..].iter_mut().zip(shifted.to_le_bytes()) {
                *byte |= new;
            }
        }
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
        let (mut stored, bits_of_slot) = (header.stash_len as u64, u64::from(header.shape.fingerprint_bits));
        for bucket in 0..header.buckets {
            let bits = bucket_at(bytes, header.shape, bucket).unwrap_or_default();
            for slot in 0..SLOTS {
                let fingerprint = table.fields.slot(bits, slot);
                stored += u64::from(fingerprint != 0);
                table.spot(bucket).turn(slot * bits_of_slot, fingerprint);
            }
        }
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
