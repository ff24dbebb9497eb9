//! Where fingerprints stand and how they make room: single buckets, the walk from bucket to bucket, the stash.

use std::sync::atomic::Ordering;

use super::shape::SLOTS;
use super::table::{CuckooTable, STASH, Segment};

/// Fingerprints that may be moved for one that comes. At 95 % load some ten are; a walk of 500 fails about never.
const MOST_MOVES: usize = 500;

/// Chooses whom to move; its state is the same on every machine.
#[derive(Debug)]
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

    /// Stores a fingerprint, moving others; what is left without a place at the end comes back, with its class.
    pub(crate) fn place(&mut self, table: &CuckooTable, class: u64, fingerprint: u64) -> Option<(u64, u64)> {
        let other = table.shape.other_class(class, fingerprint);
        if table.swap(class, fingerprint, 0, fingerprint) || table.swap(other, fingerprint, 0, fingerprint) {
            return None;
        }
        let (mut class, mut fingerprint) = (if self.next() & 1 == 0 { class } else { other }, fingerprint);
        for _ in 0..MOST_MOVES {
            fingerprint = table.exchange(class, fingerprint, self.next() % SLOTS);
            class = table.shape.other_class(class, fingerprint);
            if table.swap(class, fingerprint, 0, fingerprint) {
                return None;
            }
        }
        Some((class, fingerprint))
    }
}

impl CuckooTable {
    /// The segment of a bucket, and its number there.
    #[inline(always)]
    pub(crate) fn place(&self, bucket: u64) -> (&Segment, u64) {
        if bucket < self.shape.base {
            return (&self.base, bucket);
        }
        let beyond = bucket - self.shape.base;
        let (list, at) = list_of(beyond >> self.segment_log2);
        let list = self.later[list].get().expect("buckets are counted after they are there");
        let segment = list[at].get().expect("buckets are counted after they are there");
        (segment, beyond & ((1 << self.segment_log2) - 1))
    }

    /// Bits from the start of a bucket on, 64 of them.
    #[inline(always)]
    pub(crate) fn narrow(&self, bucket: u64) -> u64 {
        let (segment, at) = self.place(bucket);
        let bit = at * self.shape.bucket_bits();
        let (word, shift) = (index(bit >> 6), bit & 63);
        let (low, high) = (segment[word].load(Ordering::Relaxed), segment[word + 1].load(Ordering::Relaxed));
        low >> shift | (high << 1) << (63 - shift)
    }

    /// Bits from the start of a bucket on, 128 of them.
    #[inline(always)]
    pub(crate) fn wide(&self, bucket: u64) -> u128 {
        let (segment, at) = self.place(bucket);
        let bit = at * self.shape.bucket_bits();
        let (word, shift) = (index(bit >> 6), bit & 63);
        let [low, middle, high] =
            [0, 1, 2].map(|next| u128::from(segment[word + next].load(Ordering::Relaxed)));
        (low | middle << 64) >> shift | (high << 1) << (127 - shift)
    }

    /// The bits of a bucket, whatever its width; further bits behind them.
    pub(crate) fn read(&self, bucket: u64) -> u128 {
        if self.fields.is_narrow() { u128::from(self.narrow(bucket)) } else { self.wide(bucket) }
    }

    /// Writes one slot of a bucket.
    pub(crate) fn write_slot(&self, bucket: u64, slot: u64, fingerprint: u64) {
        let (segment, at) = self.place(bucket);
        let width = u64::from(self.shape.fingerprint_bits);
        let bit = at * self.shape.bucket_bits() + slot * width;
        let (word, shift) = (index(bit >> 6), bit & 63);
        let mask = u128::from((1u64 << width) - 1) << shift;
        let bits = u128::from(fingerprint) << shift;
        for (word, half) in [(word, 0), (word + 1, 64)] {
            #[expect(clippy::cast_possible_truncation, reason = "one half, then the other")]
            let (mask, bits) = ((mask >> half) as u64, (bits >> half) as u64);
            if mask != 0 {
                let old = segment[word].load(Ordering::Relaxed);
                segment[word].store(old & !mask | bits, Ordering::Relaxed);
            }
        }
    }

    /// Writes `new` where the bucket of `fingerprint` in `class` holds `old`; `false` if it holds none.
    #[inline]
    pub(crate) fn swap(&self, class: u64, fingerprint: u64, old: u64, new: u64) -> bool {
        let bucket = self.shape.bucket(class, fingerprint, self.buckets.load(Ordering::Relaxed));
        let slot = self.fields.find(self.read(bucket), old);
        slot.inspect(|&slot| self.write_slot(bucket, slot, new)).is_some()
    }

    /// Puts `fingerprint` into a slot of its bucket and takes out what was there.
    fn exchange(&self, class: u64, fingerprint: u64, slot: u64) -> u64 {
        let bucket = self.shape.bucket(class, fingerprint, self.buckets.load(Ordering::Relaxed));
        let old = self.fields.slot(self.read(bucket), slot);
        self.write_slot(bucket, slot, fingerprint);
        old
    }

    pub(crate) fn push_to_stash(&self, class: u64, fingerprint: u64) {
        let len = self.stash_len.load(Ordering::Relaxed);
        self.stash[len].store(class << 32 | fingerprint, Ordering::Relaxed);
        self.stash_len.store(len + 1, Ordering::Relaxed);
    }

    /// The fingerprints that wait, each with a class.
    pub(crate) fn stashed(&self) -> Vec<(u64, u64)> {
        let waiting = self.stash[..self.stash_len.load(Ordering::Relaxed).min(STASH)].iter();
        waiting
            .map(|entry| entry.load(Ordering::Relaxed))
            .map(|entry| (entry >> 32, entry & 0xFFFF_FFFF))
            .collect()
    }

    #[cold]
    pub(crate) fn stash_holds(&self, class: u64, other: u64, fingerprint: u64) -> bool {
        self.stash_place(class, other, fingerprint).is_some()
    }

    fn stash_place(&self, class: u64, other: u64, fingerprint: u64) -> Option<usize> {
        let sought = [class, other].map(|class| class << 32 | fingerprint);
        let len = self.stash_len.load(Ordering::Relaxed).min(STASH);
        self.stash[..len].iter().position(|entry| sought.contains(&entry.load(Ordering::Relaxed)))
    }

    pub(crate) fn take_from_stash(&self, class: u64, other: u64, fingerprint: u64) -> bool {
        let Some(place) = self.stash_place(class, other, fingerprint) else { return false };
        let last = self.stash_len.load(Ordering::Relaxed) - 1;
        self.stash[place].store(self.stash[last].load(Ordering::Relaxed), Ordering::Relaxed);
        self.stash_len.store(last, Ordering::Relaxed);
        true
    }
}

/// The list of a later segment, and its place there.
#[inline(always)]
pub(crate) fn list_of(segment: u64) -> (usize, usize) {
    let list = (segment / 8 + 1).ilog2();
    (list as usize, index(segment - 8 * ((1 << list) - 1)))
}

/// An index into a slice in memory.
#[inline(always)]
fn index(word: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "words lie in memory")]
    let word = word as usize;
    word
}
