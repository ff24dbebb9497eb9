//! The counters of a client.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::owner::Counts;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    reads: AtomicU64,
    writes: AtomicU64,
    redirects: AtomicU64,
}

impl Tally {
    pub(crate) fn read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn redirect(&self) {
        self.redirects.fetch_add(1, Ordering::Relaxed);
    }

    /// Redirects that were followed count as forwards: either way the request went on to the owner.
    pub(crate) fn counts(&self) -> Counts {
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            reads: now(&self.reads),
            writes: now(&self.writes),
            forwards: now(&self.redirects),
            ..Counts::default()
        }
    }
}
