//! How a full pair of buckets makes room: a search of the neighbouring buckets first, then a walk.
//!
//! Each of the eight fingerprints in the way has one other bucket. At 90 % load one of these has a free slot four times in
//! five, and one move is enough. Otherwise one of the eight is moved to its full other bucket, and the look around is
//! repeated from there: 0.7 moves an insertion, where a walk without looking takes 5.

use super::packed_slots::Bits;
use super::shape::SLOTS;
use super::table::CuckooTable;

/// Fingerprints that may be moved for a new one. At 95 % load about three are; a walk of 500 almost never fails.
const MAX_MOVES: usize = 500;

/// Chooses the fingerprint to move; its state is the same on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    state: u64,
    /// Buckets that have changed since a copy was begun, if one is under way.
    pub(super) changed: Option<Vec<u32>>,
}

/// Changed buckets from which on a copy begins anew.
const MAX_CHANGED: usize = 1 << 20;

impl Default for Walk {
    fn default() -> Self {
        Self { state: 0x9E37_79B9_7F4A_7C15, changed: None }
    }
}

impl Walk {
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state >> 33
    }

    /// A bucket has changed.
    #[inline(always)]
    pub(super) fn note(&mut self, bucket: u64) {
        if self.changed.is_some() {
            self.keep(bucket);
        }
    }

    #[cold]
    fn keep(&mut self, bucket: u64) {
        if let Some(changed) = &mut self.changed {
            changed.push(u32::try_from(bucket).expect("a table has fewer than 2^32 buckets"));
        }
        self.changed.take_if(|changed| changed.len() > MAX_CHANGED);
    }
}

impl CuckooTable {
    /// Stores a fingerprint whose buckets of both `classes` are full; what is left without a place at the end goes to the
    /// stash.
    #[inline(never)]
    pub(crate) fn evict<B: Bits>(&self, walk: &mut Walk, classes: [u64; 2], fingerprint: u64) {
        if self.make_way::<B>(walk, classes[0], fingerprint)
            || self.make_way::<B>(walk, classes[1], fingerprint)
        {
            return;
        }
        let (mut class, mut fingerprint) = (classes[usize::from(walk.next() & 1 == 0)], fingerprint);
        for _ in 0..MAX_MOVES {
            let slot = walk.next() % SLOTS;
            fingerprint = self.exchange::<B>(walk, class, fingerprint, slot);
            class = self.shape.other_class(class, fingerprint);
            if self.make_way::<B>(walk, class, fingerprint) {
                return;
            }
        }
        self.push_to_stash(class, fingerprint);
    }

    /// Asks for what the look around from the full bucket of `class` begins with.
    #[inline(always)]
    pub(crate) fn prefetch_ways<B: Bits>(&self, class: u64, fingerprint: u64) {
        let bits = B::read(self.spot(self.bucket(class, fingerprint)));
        for slot in 0..SLOTS {
            self.spot(self.elsewhere(class, bits.slot(self.fields, slot))).prefetch();
        }
    }

    /// Puts `fingerprint` into its full bucket of `class` if one of the four there has room in its other bucket.
    #[inline(always)]
    fn make_way<B: Bits>(&self, walk: &mut Walk, class: u64, fingerprint: u64) -> bool {
        let bucket = self.bucket(class, fingerprint);
        let spot = self.spot(bucket);
        let bits = B::read(spot);
        for slot in 0..SLOTS {
            let old = bits.slot(self.fields, slot);
            let elsewhere = self.elsewhere(class, old);
            let other = self.spot(elsewhere);
            let free = B::read(other).fields_of(self.fields, 0);
            if free > B::default() {
                walk.note(bucket);
                walk.note(elsewhere);
                other.turn(free.first(self.fields), old);
                spot.turn(slot * u64::from(self.shape.fingerprint_bits), old ^ fingerprint);
                return true;
            }
        }
        false
    }

    /// The other bucket of a fingerprint of `class`.
    #[inline(always)]
    fn elsewhere(&self, class: u64, fingerprint: u64) -> u64 {
        self.bucket(self.shape.other_class(class, fingerprint), fingerprint)
    }

    /// Puts `fingerprint` into a slot of its bucket and takes out what was there.
    fn exchange<B: Bits>(&self, walk: &mut Walk, class: u64, fingerprint: u64, slot: u64) -> u64 {
        let bucket = self.bucket(class, fingerprint);
        walk.note(bucket);
        let spot = self.spot(bucket);
        let old = B::read(spot).slot(self.fields, slot);
        spot.turn(slot * u64::from(self.shape.fingerprint_bits), old ^ fingerprint);
        old
    }
}
