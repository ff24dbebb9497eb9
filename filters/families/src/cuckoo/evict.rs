//! How a full pair of buckets makes room: a search of the neighbouring buckets first, then a walk.
//!
//! Each of the eight fingerprints in the way has one other bucket. At 90 % load one of these has a free slot four times in
//! five, and one move is enough. Otherwise one of the eight is moved to its full other bucket, and the look around is
//! repeated from there: 0.7 moves an insertion, where a walk without looking takes 5.

use super::packed_slots::Bits;
use super::shape::SLOTS;
use super::spot::Spot;
use super::table::CuckooTable;

/// Fingerprints that may be moved for a new one. At 95 % load about three are; a walk of 500 almost never fails.
const MAX_MOVES: usize = 500;

/// Chooses the fingerprint to move; its state is the same on every machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    state: u64,
}

impl Default for Walk {
    fn default() -> Self {
        Self { state: 0x9E37_79B9_7F4A_7C15 }
    }
}

impl Walk {
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state >> 33
    }
}

impl CuckooTable {
    /// Stores a fingerprint whose buckets of both `classes` are full; what is left without a place at the end goes to the
    /// stash.
    #[inline(never)]
    pub(crate) fn evict<B: Bits>(&self, walk: &mut Walk, classes: [u64; 2], fingerprint: u64) {
        if self.make_way::<B>(classes[0], fingerprint) || self.make_way::<B>(classes[1], fingerprint) {
            return;
        }
        let (mut class, mut fingerprint) = (classes[usize::from(walk.next() & 1 == 0)], fingerprint);
        for _ in 0..MAX_MOVES {
            fingerprint = self.exchange::<B>(class, fingerprint, walk.next() % SLOTS);
            class = self.shape.other_class(class, fingerprint);
            if self.make_way::<B>(class, fingerprint) {
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
            self.spot_elsewhere(class, bits.slot(self.fields, slot)).prefetch();
        }
    }

    /// Puts `fingerprint` into its full bucket of `class` if one of the four there has room in its other bucket.
    #[inline(always)]
    fn make_way<B: Bits>(&self, class: u64, fingerprint: u64) -> bool {
        let spot = self.spot(self.bucket(class, fingerprint));
        let bits = B::read(spot);
        for slot in 0..SLOTS {
            let old = bits.slot(self.fields, slot);
            let other = self.spot_elsewhere(class, old);
            let free = B::read(other).fields_of(self.fields, 0);
            if free > B::default() {
                other.turn(free.first(self.fields), old);
                spot.turn(slot * u64::from(self.shape.fingerprint_bits), old ^ fingerprint);
                return true;
            }
        }
        false
    }

    /// Where the other bucket is of a fingerprint of `class`.
    #[inline(always)]
    fn spot_elsewhere(&self, class: u64, fingerprint: u64) -> Spot<'_> {
        self.spot(self.bucket(self.shape.other_class(class, fingerprint), fingerprint))
    }

    /// Puts `fingerprint` into a slot of its bucket and takes out what was there.
    fn exchange<B: Bits>(&self, class: u64, fingerprint: u64, slot: u64) -> u64 {
        let spot = self.spot(self.bucket(class, fingerprint));
        let old = B::read(spot).slot(self.fields, slot);
        spot.turn(slot * u64::from(self.shape.fingerprint_bits), old ^ fingerprint);
        old
    }
}
