//! All entries, a few at a time, so that hits wait for none of it.

use std::sync::Arc;
use std::time::Duration;

use super::{ColumnId, Results, Spans};

/// Entries that are looked at under one lock: less than a millisecond.
const AT_ONCE: usize = 1_024;

/// What people are shown of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) column: ColumnId,
    pub(crate) spans: Spans,
    pub(crate) shape: Arc<str>,
    pub(crate) took: Duration,
    pub(crate) hits: u64,
    pub(crate) bytes: usize,
}

impl Results {
    /// Every entry that is there from the first to the last step, the oldest first. It takes time, and no lock for long.
    pub(crate) fn walk(&self, mut each: impl FnMut(Walked)) {
        let mut next = Some(0);
        while let Some(from) = next {
            let mut some = Vec::with_capacity(AT_ONCE);
            next = self.lock().entries.walk(from, AT_ONCE, &mut some);
            some.into_iter().for_each(&mut each);
        }
    }
}
