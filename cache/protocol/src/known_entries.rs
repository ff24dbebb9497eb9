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

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::predicate_index::PredicateIndex;
use crate::query::Query;

/// Most cached results for one query: reading more of them costs more than one store query.
pub(crate) const MAX_PARTS: usize = 16;

/// The index of an owner. A copy has an index of its own.
#[derive(Debug)]
pub(crate) struct KnownEntries(Arc<RwLock<PredicateIndex>>);

impl KnownEntries {
    pub(crate) fn new(domain_count: usize) -> Self {
        Self(Arc::new(RwLock::new(PredicateIndex::new(domain_count))))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, PredicateIndex> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, PredicateIndex> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reader(&self) -> EntryReader {
        EntryReader(Arc::clone(&self.0))
    }
}

impl Clone for KnownEntries {
    fn clone(&self) -> Self {
        Self(Arc::new(RwLock::new(self.read().clone())))
    }
}

/// Where the results of a tenure are, for clients in the process of its owner.
#[derive(Debug, Clone)]
pub struct EntryReader(Arc<RwLock<PredicateIndex>>);

impl EntryReader {
    /// The entries from which the result of `query` can be made: its own, or others that cover it without a gap.
    /// `None`: it cannot be a hit.
    pub fn parts(&self, query: &Query) -> Option<Vec<Query>> {
        let index = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if index.knows(query) {
            return Some(vec![query.clone()]);
        }
        let covered = Some(query).filter(|query| query.is_all_rows());
        covered.and_then(|query| index.cover(query, MAX_PARTS, 0)).map(|(entries, _)| entries)
    }
}
