//! Insertion: one at a time beside readers, one at a time alone, and many at once.
//!
//! The cost is waiting for two cache lines, and for one more each time a fingerprint moves. So hashes go in by 32 at a
//! time: the lines of all 32 are asked for at once, then those that a full pair of buckets will look at, then each
//! hash is inserted. Pairs are written out here: the compiler leaves closures over arrays as calls, a quarter of the
//! time of an insertion.

use std::sync::atomic::Ordering;

use lacuna_base::{Error, ErrorKind, Result};

use super::evict::Walk;
use super::packed_slots::Bits;
use super::table::{CuckooTable, STASH};

/// Hashes that go in together, a bit of a `u32` each; two cache lines and, at 90 % load, one and a half of other buckets.
pub(crate) const TOGETHER: usize = 32;

/// Bytes from which on a table does not lie in a core's own cache, where a prefetch costs more than it saves.
const LARGE: u64 = 4 << 20;

/// Where a fingerprint may stand.
#[derive(Clone, Copy)]
struct Candidate {
    fingerprint: u64,
    classes: [u64; 2],
    buckets: [u64; 2],
}

impl CuckooTable {
    /// Makes sure that `hash` is found: `true` if that changed the table, `false` if it, or a twin, was there already.
    ///
    /// # Errors
    /// `Full` if the table has no room and does not grow; it is as before.
    pub fn insert(&self, hash: u64) -> Result<bool> {
        self.write(|walk| self.insert_with(walk, hash))
    }

    /// As [`insert`](Self::insert), by the table's only owner, who needs no lock.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_mut(&mut self, hash: u64) -> Result<bool> {
        self.write_mut(|table, walk| table.insert_with(walk, hash))
    }

    /// Makes sure that all `hashes` are found, faster than one by one where the table is large; how many changed the table. Readers
    /// are held up no longer than by a few single insertions.
    ///
    /// # Errors
    /// `Full` if the table has no room and does not grow; some of the hashes may be there.
    pub fn insert_all(&self, hashes: &[u64]) -> Result<u64> {
        let chunks = hashes.chunks(TOGETHER);
        chunks.map(|chunk| self.write(|walk| self.insert_chunk(walk, chunk))).sum()
    }

    /// As [`insert_all`](Self::insert_all), by the table's only owner.
    ///
    /// # Errors
    /// As [`insert_all`](Self::insert_all).
    pub fn insert_all_mut(&mut self, hashes: &[u64]) -> Result<u64> {
        let chunks = hashes.chunks(TOGETHER);
        chunks.map(|chunk| self.write_mut(|table, walk| table.insert_chunk(walk, chunk))).sum()
    }

    /// Stores a fingerprint even if it is there, growing before that if the table is full.
    pub(crate) fn put(&self, walk: &mut Walk, class: u64, fingerprint: u64) -> Result<()> {
        if !self.fits_one() || self.is_crowded() {
            self.make_room(walk)?;
        }
        self.place(walk, class, fingerprint);
        self.count(1);
        Ok(())
    }

    /// Stores a fingerprint in a bucket or in the stash.
    pub(crate) fn place(&self, walk: &mut Walk, class: u64, fingerprint: u64) {
        let candidate = self.candidate_of(class, fingerprint);
        if self.fields.is_narrow() {
            self.place_as::<u64>(walk, candidate);
        } else {
            self.place_as::<u128>(walk, candidate);
        }
    }

    fn insert_with(&self, walk: &mut Walk, hash: u64) -> Result<bool> {
        if self.fields.is_narrow() {
            self.insert_as::<u64>(walk, hash)
        } else {
            self.insert_as::<u128>(walk, hash)
        }
    }

    fn insert_chunk(&self, walk: &mut Walk, hashes: &[u64]) -> Result<u64> {
        if self.fields.is_narrow() {
            self.insert_chunk_as::<u64>(walk, hashes)
        } else {
            self.insert_chunk_as::<u128>(walk, hashes)
        }
    }

    fn insert_chunk_as<B: Bits>(&self, walk: &mut Walk, hashes: &[u64]) -> Result<u64> {
        self.prefetch_all::<B>(hashes);
        hashes.iter().map(|&hash| self.insert_as::<B>(walk, hash).map(u64::from)).sum()
    }

    /// Asks for what insertion of up to [`TOGETHER`] hashes reads: a load in place of that would hold up all that follow it.
    #[inline(always)]
    fn prefetch_all<B: Bits>(&self, hashes: &[u64]) {
        for &hash in hashes {
            let [first, second] = self.candidate(hash).buckets;
            self.spot(first).prefetch();
            self.spot(second).prefetch();
        }
        if self.shape.bytes_of(self.buckets.load(Ordering::Relaxed)) < LARGE {
            return;
        }
        // Gathered without a branch for each, which would be mispredicted for every third at 90 % load.
        let is_full = |&hash: &u64| self.is_full::<B>(self.candidate(hash));
        let mut full = hashes.iter().rev().fold(0u32, |full, hash| full << 1 | u32::from(is_full(hash)));
        while full > 0 {
            let Candidate { fingerprint, classes, .. } =
                self.candidate(hashes[full.trailing_zeros() as usize]);
            self.prefetch_ways::<B>(classes[0], fingerprint);
            full &= full - 1;
        }
    }

    #[inline(always)]
    fn insert_as<B: Bits>(&self, walk: &mut Walk, hash: u64) -> Result<bool> {
        let mut candidate = self.candidate(hash);
        if self.has::<B>(candidate) {
            return Ok(false);
        }
        if !self.fits_one() || self.is_crowded() {
            self.make_room(walk)?;
            candidate = self.candidate(hash);
        }
        self.place_as::<B>(walk, candidate);
        self.count(1);
        Ok(true)
    }

    #[inline(always)]
    fn has<B: Bits>(&self, candidate: Candidate) -> bool {
        let Candidate { fingerprint, classes, buckets } = candidate;
        let (first, second) = (B::read(self.spot(buckets[0])), B::read(self.spot(buckets[1])));
        first.holds(self.fields, fingerprint) | second.holds(self.fields, fingerprint)
            || self.waits(classes, fingerprint)
    }

    /// Whether neither bucket has a free slot.
    #[inline(always)]
    fn is_full<B: Bits>(&self, candidate: Candidate) -> bool {
        let [first, second] = candidate.buckets;
        let (first, second) = (B::read(self.spot(first)), B::read(self.spot(second)));
        !(first.holds(self.fields, 0) | second.holds(self.fields, 0))
    }

    /// Puts a fingerprint into a free slot of the emptier one of its buckets, or makes one free.
    #[inline(always)]
    fn place_as<B: Bits>(&self, walk: &mut Walk, candidate: Candidate) {
        let [first, second] = candidate.buckets;
        let [in_first, in_second] =
            [first, second].map(|bucket| B::read(self.spot(bucket)).fields_of(self.fields, 0));
        // Slots fill from below, so the emptier bucket has the larger marks.
        let (bucket, free) = if in_second > in_first { (second, in_second) } else { (first, in_first) };
        if free > B::default() {
            walk.note(bucket);
            self.spot(bucket).turn(free.first(self.fields), candidate.fingerprint);
        } else {
            self.evict::<B>(walk, candidate.classes, candidate.fingerprint);
        }
    }

    #[inline(always)]
    fn candidate(&self, hash: u64) -> Candidate {
        self.candidate_of(self.shape.class(hash), self.shape.fingerprint(hash))
    }

    #[inline(always)]
    fn candidate_of(&self, class: u64, fingerprint: u64) -> Candidate {
        let classes = [class, self.shape.other_class(class, fingerprint)];
        let buckets = [self.bucket(classes[0], fingerprint), self.bucket(classes[1], fingerprint)];
        Candidate { fingerprint, classes, buckets }
    }

    /// Whether one more stays within the capacity; a table that does not grow has none.
    #[inline(always)]
    fn fits_one(&self) -> bool {
        !self.grows || self.stored() < self.capacity()
    }

    #[inline(always)]
    fn is_crowded(&self) -> bool {
        self.stash_len.load(Ordering::Relaxed) >= STASH
    }

    /// Grows until there is room for one more.
    #[cold]
    fn make_room(&self, walk: &mut Walk) -> Result<()> {
        while self.grows && (!self.fits_one() || self.is_crowded()) && self.grow(walk) {}
        if self.is_crowded() {
            return Err(Error::new(ErrorKind::Full, "the cuckoo table is full; rebuild it with more room"));
        }
        Ok(())
    }

    /// Counts fingerprints that came. There is one writer at a time.
    #[inline(always)]
    pub(crate) fn count(&self, more: u64) {
        self.stored.store(self.stored() + more, Ordering::Relaxed);
    }
}
