//! SlateDB's `Filter` over a guard.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::{BufMut, Bytes};
use lacuna_guard::{Counters, FileGaps, FileTag, Guard};
use slatedb::{Filter, FilterQuery, FilterTarget};

use crate::file_tag;
use crate::policy::Shared;
use crate::probes::Probes;

/// The filter of one SST, or "always read". Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct SstFilter {
    guard: Arc<Guard>,
    counters: Arc<Counters>,
    probes: Arc<Probes>,
    /// Stored after the filter.
    tag: Option<FileTag>,
    /// The file's number, if its gaps are learned; else zero.
    file: u64,
}

impl SstFilter {
    pub(crate) fn new(guard: Guard, shared: &Shared, tag: Option<FileTag>) -> Self {
        let (counters, probes) = (Arc::clone(&shared.counters), Arc::clone(&shared.probes));
        Self { guard: Arc::new(guard), counters, probes, tag, file: 0 }
    }

    /// Asks `gaps` after the filter said "maybe", and hints at their file when a scan found nothing.
    pub(crate) fn with_gaps(guard: Guard, shared: &Shared, gaps: Arc<FileGaps>) -> Self {
        let (tag, file) = (Some(gaps.tag()), gaps.number());
        Self { file, ..Self::new(guard.with_gaps(gaps), shared, tag) }
    }

    fn answer(&self, query: &FilterQuery) -> bool {
        let may_contain = match &query.target {
            FilterTarget::Point(key) => self.guard.may_contain_key(key),
            FilterTarget::Prefix(prefix) => self.guard.may_contain_prefix(prefix),
            // A compaction reads everything; asking and counting would say nothing about queries.
            FilterTarget::Range { lower: Bound::Unbounded, upper: Bound::Unbounded } => return true,
            FilterTarget::Range { lower, upper } => {
                self.guard.may_contain_bounds(borrow(lower), borrow(upper))
            }
        };
        if may_contain && self.guard.problem().is_none() {
            self.probes.count_pass(query.context.as_ref(), self.file);
        }
        may_contain
    }
}

impl Filter for SstFilter {
    /// A panic, of a codec from elsewhere or of ours, is "read", and counted.
    fn might_match(&self, query: &FilterQuery) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.answer(query))).unwrap_or_else(|_| {
            self.counters.count_panic("a question to a filter panicked; please report this");
            true
        })
    }

    fn encode(&self, writer: &mut dyn BufMut) {
        writer.put_slice(self.guard.as_bytes());
        if let Some(tag) = self.tag {
            writer.put_slice(&file_tag::trailer(tag));
        }
    }

    fn size(&self) -> usize {
        let trailer = if self.tag.is_some() { file_tag::TRAILER_BYTES } else { 0 };
        self.guard.as_bytes().len() + trailer
    }

    /// The bytes are held exactly sized from the start.
    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        Arc::new(self.clone())
    }
}

fn borrow(bound: &Bound<Bytes>) -> Bound<&[u8]> {
    bound.as_ref().map(|bytes| &bytes[..])
}
