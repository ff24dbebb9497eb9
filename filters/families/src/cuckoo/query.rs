//! The sealed cuckoo filter, asked by hash.

use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::{Isa, prefetch};

use super::codec::{HEADER_BYTES, Header, STASHED_BYTES, VERSION, bucket_at};
use super::packed_slots::{Bits, Fields};
use super::shape::SLOTS;
use crate::points::{PointBody, points_in_groups};
use crate::probes::note_probe;

/// A view of a sealed cuckoo filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cuckoo {
    header: Header,
    fields: Fields,
    key_count: u64,
}

impl Cuckoo {
    /// The two buckets of a hash, its fingerprint and its classes.
    #[inline(always)]
    fn places(&self, hash: u64) -> ([u64; 2], [u64; 2], u64) {
        let (shape, buckets) = (self.header.shape, self.header.buckets);
        let (class, fingerprint) = (shape.class(hash), shape.fingerprint(hash));
        let other = shape.other_class(class, fingerprint);
        let classes = [class, other];
        (classes.map(|class| shape.bucket(class, fingerprint, buckets)), classes, fingerprint)
    }

    #[cold]
    fn stash_holds(&self, body: &[u8], classes: [u64; 2], fingerprint: u64) -> bool {
        let entries =
            body.get(self.header.stash_start()..).unwrap_or_default().as_chunks::<STASHED_BYTES>().0;
        let sought = classes.map(|class| class << 32 | fingerprint);
        let mut waiting = entries.iter().take(self.header.stash_len);
        waiting.any(|entry| sought.contains(&u64::from_le_bytes(*entry)))
    }
}

impl PointBody for Cuckoo {
    const VERSION: u16 = VERSION;
    const WANTS_DISPATCH: bool = false;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let header = Header::read(body)?;
        Ok(Self { header, fields: Fields::new(header.shape), key_count: envelope.key_count })
    }

    #[inline(always)]
    fn seed(&self) -> u64 {
        self.header.seed
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], hash: u64) {
        let ([first, second], ..) = self.places(hash);
        for bucket in [first, second] {
            let byte = ((bucket * self.header.shape.bucket_bits()) >> 3) as usize;
            prefetch(body, HEADER_BYTES + byte);
        }
    }

    #[inline(always)]
    fn may_contain<I: Isa>(&self, _isa: I, body: &[u8], hash: u64) -> bool {
        note_probe();
        let ([first, second], classes, fingerprint) = self.places(hash);
        let shape = self.header.shape;
        let (Some(first), Some(second)) = (bucket_at(body, shape, first), bucket_at(body, shape, second))
        else {
            return true; // A bucket beyond the body cannot be proven empty.
        };
        let found = if self.fields.is_narrow() {
            #[expect(clippy::cast_possible_truncation, reason = "narrow buckets have at most 64 bits")]
            let [first, second] = [first as u64, second as u64];
            first.holds(self.fields, fingerprint) | second.holds(self.fields, fingerprint)
        } else {
            first.holds(self.fields, fingerprint) | second.holds(self.fields, fingerprint)
        };
        found || (self.header.stash_len > 0 && self.stash_holds(body, classes, fingerprint))
    }

    fn point_rate(&self) -> f64 {
        let slots = self.header.buckets * SLOTS + self.header.stash_len as u64;
        self.header.shape.rate(self.key_count.min(slots) as f64)
    }

    points_in_groups!();
}
