//! The four builders of SlateDB that take filter policies.

use std::sync::Arc;

use slatedb::object_store::path::Path;
use slatedb::{CompactionWorkerBuilder, CompactorBuilder, DbBuilder, DbReaderBuilder, FilterPolicy};

/// A builder of SlateDB that takes filter policies.
///
/// SSTs are written by databases, compactors and compaction workers, and read by databases and readers. All of
/// them must have the same policies: what a process does not know, it does not use, and a compactor does not write.
pub trait ApplyFilters: Sized {
    /// Sets the policies, in place of those it had.
    #[must_use]
    fn with_policies(self, policies: Vec<Arc<dyn FilterPolicy>>) -> Self;
}

impl<P: Into<Path>> ApplyFilters for DbBuilder<P> {
    fn with_policies(self, policies: Vec<Arc<dyn FilterPolicy>>) -> Self {
        self.with_filter_policies(policies)
    }
}

impl<P: Into<Path>> ApplyFilters for DbReaderBuilder<P> {
    fn with_policies(self, policies: Vec<Arc<dyn FilterPolicy>>) -> Self {
        self.with_filter_policies(policies)
    }
}

impl<P: Into<Path>> ApplyFilters for CompactorBuilder<P> {
    fn with_policies(self, policies: Vec<Arc<dyn FilterPolicy>>) -> Self {
        self.with_filter_policies(policies)
    }
}

impl<P: Into<Path>> ApplyFilters for CompactionWorkerBuilder<P> {
    fn with_policies(self, policies: Vec<Arc<dyn FilterPolicy>>) -> Self {
        self.with_filter_policies(policies)
    }
}
