//! The scripts of a cache server, and an embedded server that runs them in memory.
//!
//! The entries of a range share a *fence*: the epoch of the owner, without which nothing is read or written. An
//! entry has a value, hidden or visible, and the session of its last change: a change that comes again, or late,
//! is not made. An absent entry may have an I lease, a reader's permission to install; it is void as soon as a
//! writer takes the entry, because the reader may have read before the write (P4).
//!
//! Guarantee: each script is atomic. Cost: one search for each entry. A server that restarts is empty, fences
//! included, so that every lookup is a miss (P12).
//!
//! I leases: Ghandeharizadeh, Yap, Nguyen, "Strong Consistency in Cache Augmented SQL Systems", Middleware 2014.

mod region;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::call::{CacheCall, CacheReply};
use crate::config::Flaw;
use crate::message::{Epoch, Session, Value};
use crate::query::Query;

use region::{Region, Slot};

/// Number of a range among those of a cache server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RangeId(pub u32);

/// A cache server in memory, with a limit of entries and eviction.
#[derive(Debug, Clone)]
pub struct CacheModel {
    ranges: BTreeMap<RangeId, Region>,
    max_entries: usize,
    flaw: Option<Flaw>,
}

impl CacheModel {
    /// A server that keeps at most `max_entries` values a range.
    pub fn new(max_entries: usize) -> Self {
        Self { ranges: BTreeMap::new(), max_entries, flaw: None }
    }

    /// A server with a flaw, for tests that must fail.
    #[cfg(feature = "flaws")]
    #[doc(hidden)]
    #[must_use]
    pub fn with_flaw(mut self, flaw: Option<Flaw>) -> Self {
        self.flaw = flaw;
        self
    }

    /// The hit path: fence and value, read at once. A client takes the value only if the fence is the epoch it knows.
    pub fn get(&self, range: RangeId, query: &Query) -> Option<(Epoch, Option<Value>)> {
        let region = self.ranges.get(&range)?;
        Some((region.fence, region.slots.get(query).and_then(Slot::visible)))
    }

    /// The hit path for several queries: fence and values, all read at once.
    pub fn get_together(&self, range: RangeId, queries: &[Query]) -> Option<(Epoch, Vec<Option<Value>>)> {
        let region = self.ranges.get(&range)?;
        let visible = |query| region.slots.get(query).and_then(Slot::visible);
        Some((region.fence, queries.iter().map(visible).collect()))
    }

    /// Runs a script.
    pub fn call(&mut self, range: RangeId, epoch: Epoch, call: &CacheCall) -> CacheReply {
        match call {
            CacheCall::Fence => return self.raise_fence(range, epoch),
            CacheCall::TakeOver(before) => return self.take_over(range, epoch, *before),
            _ => {}
        }
        let (max, flaw) = (self.max_entries, self.flaw);
        let Some(region) = self.ranges.get_mut(&range).filter(|region| region.fence == epoch) else {
            return CacheReply::Fenced;
        };
        match call {
            CacheCall::Fence | CacheCall::TakeOver(_) => CacheReply::Done,
            CacheCall::Forget => {
                region.forget();
                CacheReply::Done
            }
            CacheCall::AppendLog(records) => {
                region.append(records);
                CacheReply::Done
            }
            CacheCall::ReadLog(chunk) => CacheReply::Log(region.chunk(*chunk).to_vec()),
            CacheCall::ReplaceLog(chunk, len, bytes) => region.replace_log(*chunk, *len, bytes),
            CacheCall::Gather(session, queries, gaps) => region.gather(*session, queries, gaps),
            CacheCall::Lookup(query, session) => region.look_up(query, *session),
            CacheCall::Install(query, session, value, record) => {
                region.install(query, *session, value, record, max)
            }
            CacheCall::Invalidate(_, queries) => {
                queries.iter().for_each(|query| drop(region.slots.remove(query)));
                CacheReply::Done
            }
            CacheCall::Patch(session, changes) => region.patch(*session, changes, flaw),
            CacheCall::Hide(session, queries) => region.hide(*session, queries),
        }
    }

    /// Entries of older epochs cannot be named any more; here they are removed immediately, on a real server when
    /// they expire.
    fn raise_fence(&mut self, range: RangeId, epoch: Epoch) -> CacheReply {
        match self.ranges.entry(range) {
            Entry::Occupied(region) if region.get().fence > epoch => return CacheReply::Fenced,
            Entry::Occupied(region) if region.get().fence == epoch => {}
            Entry::Occupied(mut region) => drop(region.insert(Region::new(epoch))),
            Entry::Vacant(place) => drop(place.insert(Region::new(epoch))),
        }
        CacheReply::Done
    }

    /// Raises the fence; entries of the tenure `before` stay if it was the last one here.
    fn take_over(&mut self, range: RangeId, epoch: Epoch, before: Option<Epoch>) -> CacheReply {
        let any = self.flaw == Some(Flaw::WarmFromAny);
        let is_warm = |region: &Region| {
            let is_next = before == Some(region.fence) || region.fence == epoch || any;
            region.log.is_some() && is_next && region.fence <= epoch
        };
        if let Some(region) = self.ranges.get_mut(&range).filter(|region| is_warm(region)) {
            region.fence = epoch;
            region.slots.retain(|_, slot| slot.visible().is_some());
            region.slots.values_mut().for_each(|slot| slot.session = Session(0));
            return CacheReply::Warm(region.log.iter().flat_map(BTreeMap::values).cloned().collect());
        }
        let reply = self.raise_fence(range, epoch);
        if reply == CacheReply::Done {
            self.ranges.get_mut(&range).expect("its fence was raised").log = Some(BTreeMap::new());
            return CacheReply::Warm(Vec::new());
        }
        reply
    }

    /// Bytes of the log of a range, over all chunks.
    pub fn log_bytes(&self, range: RangeId) -> usize {
        let log = self.ranges.get(&range).and_then(|region| region.log.as_ref());
        log.map_or(0, |log| log.values().map(Vec::len).sum())
    }

    /// Overwrites the log of a range with bytes that are not a log, as a broken server might.
    #[doc(hidden)]
    pub fn damage_log(&mut self, range: RangeId) {
        let log = self.ranges.get_mut(&range).and_then(|region| region.log.as_mut());
        log.into_iter().flat_map(BTreeMap::values_mut).for_each(|chunk| chunk.fill(0xFF));
    }

    /// Drops the value of one entry, chosen by `choice`, as a server short of memory does.
    pub fn evict(&mut self, range: RangeId, choice: usize) {
        let Some(region) = self.ranges.get_mut(&range) else { return };
        let values: Vec<&Query> =
            region.slots.iter().filter(|(_, slot)| slot.value.is_some()).map(|(query, _)| query).collect();
        if let Some(query) = values.get(choice % values.len().max(1)).copied().cloned() {
            region.slots.remove(&query);
        }
    }

    /// Drops an entry with its lease, which a correct server does not do even when its memory is full.
    #[cfg(test)]
    pub(crate) fn evict_lease(&mut self, range: RangeId, query: &Query) {
        self.ranges.get_mut(&range).and_then(|region| region.slots.remove(query));
    }

    /// The visible entries of a range.
    pub fn entries(&self, range: RangeId) -> impl Iterator<Item = (&Query, Value)> {
        let slots = self.ranges.get(&range).into_iter().flat_map(|region| &region.slots);
        slots.filter_map(|(query, slot)| slot.visible().map(|value| (query, value)))
    }
}

#[cfg(test)]
mod tests;
