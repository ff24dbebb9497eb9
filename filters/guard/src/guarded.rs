//! A filter at its place in an engine: open, or "read always" and why.
//!
//! Every doubt is settled when the bytes are opened: nothing stored, cut short, a newer version, keys that went
//! through another codec. In each case the guard answers "maybe" to everything, and the case is counted. Queries then
//! take the engine's bounds, ask the codec for their cover, and ask the filter about that:
//!
//! | cover | answer |
//! | --- | --- |
//! | `Empty` | no: every key of this filter went through the codec, and none can lie between the bounds |
//! | `Unknown` | maybe |
//! | `Range` | what the filter says |
//!
//! After a "maybe" the file's learned gaps are asked, if there are any; they may deny the range.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lacuna_base::{Cover, DynFilter, Envelope, Error, KeyCodec, Result};

use crate::counters::Counters;
use crate::guard_key::GuardKey;
use crate::learned_gaps::FileGaps;
use crate::shared_bytes::SharedBytes;

/// A filter over the key space `K`, or "read always".
#[derive(Debug)]
pub(crate) struct Guarded<K: GuardKey + ?Sized> {
    filter: Result<Box<DynFilter<K>>>,
    codec: Arc<dyn KeyCodec<K>>,
    counters: Arc<Counters>,
    level: Option<usize>,
    gaps: Option<Arc<FileGaps>>,
}

/// Opens sealed bytes as a filter whose keys went through `codec`, or becomes a guard that answers "maybe" to
/// everything. No bytes at all mean that the writer stored no filter. Takes O(1).
pub(crate) fn open_or_scan<K: GuardKey + ?Sized>(
    bytes: SharedBytes,
    codec: Arc<dyn KeyCodec<K>>,
    counters: &Arc<Counters>,
) -> Guarded<K> {
    let filter = if bytes.as_ref().is_empty() {
        counters.count_unfiltered();
        Err(Error::unsupported("the writer of this file stored no filter"))
    } else {
        let opened = catch_unwind(AssertUnwindSafe(|| open(bytes, &*codec)));
        let panicked = |_| Err(Error::corrupt("opening the filter panicked; please report this"));
        opened
            .unwrap_or_else(panicked)
            .inspect(|_| counters.count_opened())
            .inspect_err(|e| counters.count_open_failure(e))
    };
    Guarded { filter, codec, counters: Arc::clone(counters), level: None, gaps: None }
}

fn open<K: GuardKey + ?Sized>(bytes: SharedBytes, codec: &dyn KeyCodec<K>) -> Result<Box<DynFilter<K>>> {
    let (envelope, _) = Envelope::open(bytes.as_ref())?;
    if envelope.key_space == K::ID && envelope.codec == codec.id() {
        K::open(bytes)
    } else {
        let (theirs, ours) = (envelope.codec, codec.name());
        Err(Error::unsupported(format!(
            "the filter's keys went through codec {} with parameter {}, not through {ours}; reading the file instead",
            theirs.number, theirs.parameter
        )))
    }
}

impl<K: GuardKey + ?Sized> Guarded<K> {
    /// Sets the level of the file, under which answers are counted.
    #[must_use]
    pub(crate) fn with_level(mut self, level: usize) -> Self {
        self.level = Some(level);
        self
    }

    /// Sets what is known of the file's gaps, to be asked after the filter said "maybe".
    #[must_use]
    pub(crate) fn with_gaps(mut self, gaps: Arc<FileGaps>) -> Self {
        self.gaps = Some(gaps);
        self
    }

    /// Whether the file may hold a key between two bounds of any kind; `false` proves that it holds none. A guard
    /// without a filter says `true` and counts nothing.
    pub(crate) fn may_contain_bounds(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        let Ok(filter) = &self.filter else { return true };
        let may_contain = match self.codec.cover(lo, hi) {
            Cover::Empty => false,
            Cover::Range(range) => filter.may_contain_range(range),
            Cover::Unknown => true,
        };
        if may_contain && self.gaps.as_ref().is_some_and(|gaps| gaps.is_known_empty(lo, hi)) {
            self.counters.count_gap_skip(self.level);
            return false;
        }
        self.counters.count_query(self.level, may_contain);
        may_contain
    }

    /// Why the file is always read; `None` if there is a filter.
    pub(crate) fn problem(&self) -> Option<&Error> {
        self.filter.as_ref().err()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::Included;

    use lacuna_base::Identity;

    use super::*;

    #[test]
    fn damaged_bytes_are_maybe_and_counted() {
        let counters = Arc::new(Counters::new());
        let damaged = SharedBytes::copy_of(b"LCNA and then nothing");
        let guarded = open_or_scan::<[u8]>(damaged, Arc::new(Identity), &counters);
        assert!(guarded.may_contain_bounds(Included(b"a"), Included(b"b")));
        assert_eq!(counters.snapshot().open_failures, 1);
    }
}
