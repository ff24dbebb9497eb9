//! Tables that had to be read because nothing could be asked, by reason.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why a table could not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Missing,
    Unsupported,
    Corrupt,
    Comparator,
}

/// One counter for each reason.
#[derive(Debug, Default)]
pub(crate) struct ScannedCounters {
    counters: [AtomicU64; 4],
}

impl ScannedCounters {
    pub(crate) fn count(&self, reason: Reason) {
        self.counters[reason as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Scanned {
        let get = |reason: Reason| self.counters[reason as usize].load(Relaxed);
        Scanned {
            missing: get(Reason::Missing),
            unsupported: get(Reason::Unsupported),
            corrupt: get(Reason::Corrupt),
            comparator: get(Reason::Comparator),
        }
    }
}

/// How often a table was read because nothing could be asked. A table is counted once for each iterator that met it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scanned {
    /// It has no property: written before the filters, by another tool, or over keys that take none.
    pub missing: u64,
    /// Its property is newer than this code, of a family it does not know, or of another codec.
    pub unsupported: u64,
    /// Its property does not hold together.
    pub corrupt: u64,
    /// Its keys are ordered by another comparator, user-defined timestamps included.
    pub comparator: u64,
}

impl Scanned {
    /// All together.
    pub fn total(&self) -> u64 {
        self.missing + self.unsupported + self.corrupt + self.comparator
    }
}

impl fmt::Display for Scanned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { missing, unsupported, corrupt, comparator } = self;
        write!(
            f,
            "tables read unasked: {missing} without a filter, {unsupported} unsupported, {corrupt} corrupt, \
             {comparator} of another comparator"
        )
    }
}
