//! Growth without keys, and fewer bits without keys.
//!
//! A new segment of buckets continues the row of buckets. Each new bucket takes from one older bucket the fingerprints that
//! have the next bit set in a hash of core and class (linear hashing); all others stay where they are, so growth costs one
//! pass over an eighth of the table and no fingerprint can be left without a place. While only some buckets have been
//! halved, the two choices that every fingerprint has even out the rest.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use super::evict::Walk;
use super::shape::{SLOTS, Shape};
use super::spot::list_of;
use super::table::{CuckooTable, segment};

impl CuckooTable {
    /// Adds a segment; `false` if the fingerprints have no bits left to distinguish more buckets.
    pub(crate) fn grow(&self, walk: &mut Walk) -> bool {
        let count = 1 << self.segment_log2;
        if self.buckets.load(Ordering::Relaxed) + count > self.shape.max_buckets() {
            return false;
        }
        let first = self.add_segment(count);
        (first..first + count).for_each(|bucket| self.split_into(walk, bucket));
        let waiting = self.stashed();
        self.stash_len.store(0, Ordering::Relaxed);
        for (class, fingerprint) in waiting {
            self.place(walk, class, fingerprint);
        }
        true
    }

    /// Moves the fingerprints that belong to a new bucket there.
    fn split_into(&self, walk: &mut Walk, new: u64) {
        let (parent, class) = (self.shape.parent(new), self.shape.class_of_bucket(new));
        walk.note(parent);
        walk.note(new);
        let old = self.read(parent);
        for slot in 0..SLOTS {
            let fingerprint = self.fields.slot(old, slot);
            if fingerprint != 0 && self.shape.bucket(class, fingerprint, new + 1) == new {
                let offset = slot * u64::from(self.shape.fingerprint_bits);
                self.spot(new).turn(offset, fingerprint);
                self.spot(parent).turn(offset, fingerprint);
            }
        }
    }

    /// The same table with fingerprints of `bits`, at least 8 and no more than now: less memory, a higher rate.
    #[must_use]
    pub fn with_fewer_bits(self, bits: u32) -> Self {
        let bits = bits.clamp(self.shape.core_bits, self.shape.fingerprint_bits);
        let shape = Shape { fingerprint_bits: bits, ..self.shape };
        let shorter = Self::with_shape(shape, self.grows);
        let buckets = self.buckets.load(Ordering::Relaxed);
        shorter.allocate(buckets);
        for bucket in 0..buckets {
            let old = self.read(bucket);
            for slot in 0..SLOTS {
                let fingerprint = self.fields.slot(old, slot) & ((1 << bits) - 1);
                shorter.spot(bucket).turn(slot * u64::from(bits), fingerprint);
            }
        }
        for (class, fingerprint) in self.stashed() {
            shorter.push_to_stash(class, fingerprint & ((1 << bits) - 1));
        }
        shorter.stored.store(self.stored(), Ordering::Relaxed);
        shorter.version.store(u64::from(self.is_broken()), Ordering::Relaxed);
        shorter
    }

    /// Segments for this many buckets, all free.
    pub(crate) fn allocate(&self, buckets: u64) {
        let count = 1 << self.segment_log2;
        while self.buckets.load(Ordering::Relaxed) < buckets {
            self.add_segment(count);
        }
    }

    fn add_segment(&self, count: u64) -> u64 {
        let first = self.buckets.load(Ordering::Relaxed);
        let (list, at) = list_of((first - self.shape.base) >> self.segment_log2);
        let segments = self.later[list].get_or_init(|| (0..8 << list).map(|_| OnceLock::new()).collect());
        segments[at].get_or_init(|| segment(self.shape, count));
        self.buckets.store(first + count, Ordering::Release);
        first
    }
}
