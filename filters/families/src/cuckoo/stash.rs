//! The stash: up to eight fingerprints that found no place, each with a class.

use std::sync::atomic::Ordering;

use super::table::{CuckooTable, STASH};

impl CuckooTable {
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

    /// Whether a fingerprint waits under one of its classes.
    #[inline(always)]
    pub(crate) fn waits(&self, classes: [u64; 2], fingerprint: u64) -> bool {
        self.stash_len.load(Ordering::Relaxed) > 0 && self.stash_place(classes, fingerprint).is_some()
    }

    #[cold]
    fn stash_place(&self, classes: [u64; 2], fingerprint: u64) -> Option<usize> {
        let sought = classes.map(|class| class << 32 | fingerprint);
        let len = self.stash_len.load(Ordering::Relaxed).min(STASH);
        self.stash[..len].iter().position(|entry| sought.contains(&entry.load(Ordering::Relaxed)))
    }

    pub(crate) fn take_from_stash(&self, classes: [u64; 2], fingerprint: u64) -> bool {
        let Some(place) = self.stash_place(classes, fingerprint) else { return false };
        let last = self.stash_len.load(Ordering::Relaxed) - 1;
        self.stash[place].store(self.stash[last].load(Ordering::Relaxed), Ordering::Relaxed);
        self.stash_len.store(last, Ordering::Relaxed);
        true
    }
}
