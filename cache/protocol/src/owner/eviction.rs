//! Bounds the entries that an owner knows of.
//!
//! A cache server evicts entries, or lets them expire, and no owner learns of it: an owner that forgot nothing would
//! take memory for every query that was ever asked. Beyond `max_entries` some entries are deleted, and forgotten when
//! they are gone (P5). They are taken in the order of domains and keys, from where the last ones were taken: a query
//! asked again and again comes back with its next miss.
//!
//! Guarantee: an entry that a reader installs while it is being deleted stays known. The deletion voids the I leases that were
//! granted before it, so what is installed after it is noted after it was sent.
//!
//! Cost: one script for at most 256 entries, and of few entries a 64th.

use std::collections::BTreeSet;

use super::Owner;
use super::calls::{Call, Purpose};
use crate::call::CacheCall;
use crate::config::{Application, Flaw};
use crate::predicate_index::Place;
use crate::query::Query;

/// Most entries that are deleted by one script.
const BATCH: usize = 256;

/// Entries that are being deleted, and where to look for the next ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Eviction {
    /// Those that were not installed anew since the script was sent.
    going: BTreeSet<Query>,
    is_under_way: bool,
    next: Place,
}

impl<A: Application> Owner<A> {
    /// An entry that may be in the cache again stays known.
    pub(super) fn spare(&mut self, query: &Query) {
        if self.eviction.is_under_way && !self.is_flawed(Flaw::ForgetInstalledAnew) {
            self.eviction.going.remove(query);
        }
    }

    /// Deletes entries if there are too many, unless a script is on its way.
    pub(super) fn evict_if_many(&mut self) {
        let (len, max) = (self.index.read().len(), self.config.max_entries);
        if len <= max || self.eviction.is_under_way || !self.is_serving() {
            return;
        }
        let count = (len - max + max / 64).min(BATCH);
        let going = self.index.read().after(&mut self.eviction.next, count);
        self.eviction.going = going.iter().cloned().collect();
        self.eviction.is_under_way = true;
        let session = self.new_session();
        self.call(Purpose::Evict, Call::Cache(CacheCall::Invalidate(session, going)));
    }

    pub(super) fn entries_were_evicted(&mut self) {
        self.eviction.is_under_way = false;
        for query in std::mem::take(&mut self.eviction.going) {
            self.forget_entry(&query);
        }
        self.evict_if_many();
    }
}
