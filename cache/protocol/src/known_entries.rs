//! The entries that an owner knows of, for itself and for the clients in its process.
//!
//! An entry is known before it is installed and forgotten after it is gone (P5), so what is not known here is in no
//! cache, and a client need not ask. With β = 0 a query is seldom an entry itself: its rows are in several entries.
//! With `[18, 22]` and `(22, 30]` known, a client that wants `[20, 25]` reads both in one command of the cache server
//! and puts them together, where otherwise it would find nothing and ask the owner, which reads the same two.
//!
//! Guarantee: none. An answer is a hint of where to look; what is found there is judged by the fence, as any hit.
//!
//! Cost: one read lock and one walk of the tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::predicate_index::PredicateIndex;
use crate::query::Query;

/// Most cached results for one query: reading more of them costs more than one store query.
pub(crate) const MAX_PARTS: usize = 16;

/// The index of an owner. A copy has an index of its own.
#[derive(Debug)]
pub(crate) struct KnownEntries(Arc<Known>);

#[derive(Debug)]
struct Known {
    index: RwLock<PredicateIndex>,
    /// Whether β is 0 now.
    are_parts: AtomicBool,
}

impl Known {
    fn read(&self) -> RwLockReadGuard<'_, PredicateIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownEntries {
    pub(crate) fn new(domain_count: usize) -> Self {
        Self::of(PredicateIndex::new(domain_count), false)
    }

    fn of(index: PredicateIndex, are_parts: bool) -> Self {
        Self(Arc::new(Known { index: RwLock::new(index), are_parts: AtomicBool::new(are_parts) }))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, PredicateIndex> {
        self.0.read()
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, PredicateIndex> {
        self.0.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether entries are parts of results, so that readers are to put them together.
    pub(crate) fn set_parts(&self, are_parts: bool) {
        self.0.are_parts.store(are_parts, Ordering::Relaxed);
    }

    pub(crate) fn reader(&self) -> EntryReader {
        EntryReader(Arc::clone(&self.0))
    }
}

impl Clone for KnownEntries {
    fn clone(&self) -> Self {
        Self::of(self.read().clone(), self.0.are_parts.load(Ordering::Relaxed))
    }
}

/// Where the results of a tenure are, for clients in the process of its owner.
#[derive(Debug, Clone)]
pub struct EntryReader(Arc<Known>);

impl EntryReader {
    /// The entries from which the result of `query` can be put together; none if its own is to be looked up, as it is with β
    /// above 0. `None`: ask the owner, since the result is in no cache, or in more than 16 entries.
    pub fn parts(&self, query: &Query) -> Option<Vec<Query>> {
        if !self.0.are_parts.load(Ordering::Relaxed) {
            return Some(Vec::new());
        }
        let index = self.0.read();
        if index.knows(query) {
            return Some(Vec::new());
        }
        let covered = Some(query).filter(|query| query.is_all_rows());
        covered.and_then(|query| index.cover(query, MAX_PARTS, 0)).map(|(entries, _)| entries)
    }
}
