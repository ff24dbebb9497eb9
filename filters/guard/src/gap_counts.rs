//! Counts of hints and learned gaps.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts of learned gaps, in plain atomics.
#[derive(Debug, Default)]
pub struct GapCounters {
    hints: AtomicU64,
    hints_dropped: AtomicU64,
    reads: AtomicU64,
    learned: AtomicU64,
    refuted: AtomicU64,
    unresolved: AtomicU64,
    failures: AtomicU64,
}

impl GapCounters {
    pub(crate) fn count_hint(&self, taken: bool) {
        let counter = if taken { &self.hints } else { &self.hints_dropped };
        counter.fetch_add(1, Relaxed);
    }

    /// Counts `count` reads of a store that the background made.
    pub fn count_reads(&self, count: u64) {
        self.reads.fetch_add(count, Relaxed);
    }

    /// Counts a file that was read for a hint: with a gap there, or with a key.
    pub(crate) fn count_confirmation(&self, is_gap: bool) {
        let counter = if is_gap { &self.learned } else { &self.refuted };
        counter.fetch_add(1, Relaxed);
    }

    /// Counts a file of a hint that could not be found.
    pub fn count_unresolved(&self) {
        self.unresolved.fetch_add(1, Relaxed);
    }

    /// Counts a read that failed.
    pub fn count_failure(&self) {
        self.failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn snapshot(&self) -> GapCounts {
        GapCounts {
            hints: self.hints.load(Relaxed),
            hints_dropped: self.hints_dropped.load(Relaxed),
            reads: self.reads.load(Relaxed),
            learned: self.learned.load(Relaxed),
            refuted: self.refuted.load(Relaxed),
            unresolved: self.unresolved.load(Relaxed),
            failures: self.failures.load(Relaxed),
        }
    }
}

/// [`GapCounters`] as they stood at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GapCounts {
    /// Empty scans that were noted as hints.
    pub hints: u64,
    /// Empty scans for which there was no room.
    pub hints_dropped: u64,
    /// Reads of the store that the background made.
    pub reads: u64,
    /// Files that were read for a hint and have a gap there.
    pub learned: u64,
    /// Files that were read for a hint and hold a key there: deleted, expired, or hidden from the scan.
    pub refuted: u64,
    /// Files of hints that could not be found, because they are gone or their filter block cannot be read.
    pub unresolved: u64,
    /// Reads that failed; nothing was learned.
    pub failures: u64,
}

impl fmt::Display for GapCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hints, hints_dropped, reads, learned, refuted, unresolved, failures } = self;
        write!(
            f,
            "gaps: hints {hints} ({hints_dropped} dropped), reads {reads}, learned {learned}, refuted {refuted}, \
             not found {unresolved}, failed {failures}"
        )
    }
}
