//! The gaps of one file.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::learned_gaps::file_tag::FileTag;
use crate::learned_gaps::store::LearnedGaps;

/// Two keys side by side among **all** entries of a file, of every type and sequence number: the proof of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbours<'a> {
    /// The key below the gap; `None` if the file starts after it.
    pub below: Option<&'a [u8]>,
    /// The key above the gap; `None` if the file ends before it.
    pub above: Option<&'a [u8]>,
    /// A key of the file, or a string, at or below all of its keys.
    pub smallest: &'a [u8],
    /// A key of the file, or a string, at or above all of its keys.
    pub largest: &'a [u8],
}

/// The learned gaps of one file. Its guard asks them after the filter said "maybe".
#[derive(Debug)]
pub struct FileGaps {
    tag: FileTag,
    number: u64,
    /// The lease under which it has its place, or had it.
    lease: AtomicU64,
    all: Arc<LearnedGaps>,
}

impl FileGaps {
    pub(super) fn new(tag: FileTag, number: u64, lease: u64, all: Arc<LearnedGaps>) -> Self {
        Self { tag, number, lease: AtomicU64::new(lease), all }
    }

    /// The identity of the file.
    pub fn tag(&self) -> FileTag {
        self.tag
    }

    /// The file's number in this process: never zero, never given to another file.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn lease(&self) -> u64 {
        self.lease.load(Ordering::Acquire)
    }

    pub(super) fn set_lease(&self, lease: u64) {
        self.lease.store(lease, Ordering::Release);
    }

    /// Whether the file was shown to hold no key between the bounds. Takes no lock and allocates nothing.
    pub fn is_known_empty(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        self.all.is_known_empty_for(self, lo, hi)
    }

    /// Notes that **this** file has no entry between two of its keys. Takes a lock; not for a query's path.
    pub fn learn(&self, found: &Neighbours<'_>) {
        self.all.learn(self, found);
    }
}
