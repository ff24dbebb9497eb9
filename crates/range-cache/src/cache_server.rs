//! The scripts of a cache server, and an embedded one that runs them in memory.
//!
//! Entries of a range lie together, behind a *fence*: the epoch of its owner, without which nothing is read or written.
//! An entry has a value, or a lease, or both. An I lease is a reader's permission to install, and void as soon as a
//! writer comes by. A Q lease is a writer's, and the newest takes it over: whoever finds its lease gone deletes the
//! value and voids whatever I lease is there (P4), because it cannot know what happened in between.
//!
//! Guarantee: each script happens whole. Cost: one search an entry. A server that restarts is empty, fences included, so
//! that every question is a miss (P12).
//!
//! Leases: Ghandeharizadeh, Yap, Nguyen, "Strong Consistency in Cache Augmented SQL Systems", Middleware 2014.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::call::{CacheCall, CacheReply};
use crate::config::Flaw;
use crate::message::{Epoch, Session, Value};
use crate::query::Query;

/// Number of a range among those of a cache server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RangeId(pub u32);

/// A cache server in memory, with a limit of entries and eviction.
#[derive(Debug, Clone)]
pub struct CacheServer {
    ranges: BTreeMap<RangeId, Region>,
    most_entries: usize,
    flaw: Option<Flaw>,
}

#[derive(Debug, Clone)]
struct Region {
    fence: Epoch,
    slots: BTreeMap<Query, Slot>,
}

#[derive(Debug, Clone)]
struct Slot {
    value: Option<Value>,
    /// The last lease on it, held or not.
    session: Session,
    lease: Lease,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lease {
    None,
    Install,
    /// A writer's; the value is hidden or not.
    Write {
        hides: bool,
    },
}

impl CacheServer {
    /// A server that keeps at most `most_entries` values a range.
    pub fn new(most_entries: usize) -> Self {
        Self { ranges: BTreeMap::new(), most_entries, flaw: None }
    }

    /// A server with a flaw, for tests that must fail.
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

    /// Runs a script.
    pub fn call(&mut self, range: RangeId, epoch: Epoch, call: &CacheCall) -> CacheReply {
        if matches!(call, CacheCall::Fence) {
            return self.raise_fence(range, epoch);
        }
        let (most, flaw) = (self.most_entries, self.flaw);
        let Some(region) = self.ranges.get_mut(&range).filter(|region| region.fence == epoch) else {
            return CacheReply::Fenced;
        };
        match call {
            CacheCall::Fence => CacheReply::Done,
            CacheCall::Lookup(query, session) => region.look_up(query, *session),
            CacheCall::Install(query, session, value, _) => region.install(query, *session, value, most),
            CacheCall::Invalidate(_, queries) => {
                queries.iter().for_each(|query| drop(region.slots.remove(query)));
                CacheReply::Done
            }
            CacheCall::Hide(session, queries) => region.quarantine(*session, queries, true),
            CacheCall::Peek(session, queries) => region.quarantine(*session, queries, false),
            CacheCall::Commit(session, entries) => region.commit(*session, entries, flaw),
        }
    }

    /// Entries of older epochs cannot be named any more; here they go at once, on a real server when their time is over.
    fn raise_fence(&mut self, range: RangeId, epoch: Epoch) -> CacheReply {
        match self.ranges.entry(range) {
            Entry::Occupied(region) if region.get().fence > epoch => return CacheReply::Fenced,
            Entry::Occupied(region) if region.get().fence == epoch => {}
            Entry::Occupied(mut region) => drop(region.insert(Region::new(epoch))),
            Entry::Vacant(place) => drop(place.insert(Region::new(epoch))),
        }
        CacheReply::Done
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

    /// Drops an entry with its lease, as a server that must not does when its memory is full.
    pub fn evict_lease(&mut self, range: RangeId, query: &Query) {
        self.ranges.get_mut(&range).and_then(|region| region.slots.remove(query));
    }

    /// The visible entries of a range.
    pub fn entries(&self, range: RangeId) -> impl Iterator<Item = (&Query, Value)> {
        let slots = self.ranges.get(&range).into_iter().flat_map(|region| &region.slots);
        slots.filter_map(|(query, slot)| slot.visible().map(|value| (query, value)))
    }
}

impl Slot {
    fn visible(&self) -> Option<Value> {
        let is_hidden = self.lease == Lease::Write { hides: true };
        self.value.clone().filter(|_| !is_hidden)
    }
}

impl Region {
    const fn new(fence: Epoch) -> Self {
        Self { fence, slots: BTreeMap::new() }
    }

    fn look_up(&mut self, query: &Query, session: Session) -> CacheReply {
        let slot = self.slots.get(query);
        if let Some(value) = slot.and_then(Slot::visible) {
            return CacheReply::Found(value);
        }
        if slot.is_some_and(|slot| slot.session > session) {
            return CacheReply::Busy;
        }
        self.slots.insert(query.clone(), Slot { value: None, session, lease: Lease::Install });
        CacheReply::Leased
    }

    fn install(&mut self, query: &Query, session: Session, value: &Value, most: usize) -> CacheReply {
        let holds = |slot: &Slot| slot.lease == Lease::Install && slot.session == session;
        if !self.slots.get(query).is_some_and(holds) {
            return CacheReply::NotHeld;
        }
        if self.slots.values().filter(|slot| slot.value.is_some()).count() >= most {
            self.slots.remove(query);
            return CacheReply::Full;
        }
        self.slots.insert(query.clone(), Slot { value: Some(value.clone()), session, lease: Lease::None });
        CacheReply::Done
    }

    fn quarantine(&mut self, session: Session, queries: &[Query], hides: bool) -> CacheReply {
        let mut found = Vec::new();
        for query in queries {
            let Some(slot) = self.slots.get_mut(query) else { continue };
            let is_foreign = matches!(slot.lease, Lease::Write { .. }) && slot.session != session;
            if slot.session > session || slot.lease == Lease::Install {
                self.slots.remove(query);
                continue;
            }
            if is_foreign {
                // Another writer is at work: neither knows what the other does, so neither may keep the value.
                slot.value = None;
            }
            (slot.session, slot.lease) = (session, Lease::Write { hides });
            found.extend(slot.value.clone().map(|value| (query.clone(), value)));
        }
        CacheReply::Hidden(found)
    }

    fn commit(
        &mut self,
        session: Session,
        entries: &[(Query, Option<Value>)],
        flaw: Option<Flaw>,
    ) -> CacheReply {
        for (query, value) in entries {
            let slot = self.slots.get_mut(query);
            let holds = |slot: &Slot| matches!(slot.lease, Lease::Write { .. }) && slot.session == session;
            match (slot, value) {
                (Some(slot), Some(value)) if holds(slot) => {
                    (slot.value, slot.lease) = (Some(value.clone()), Lease::None);
                }
                (Some(slot), _) if flaw == Some(Flaw::KeepForeignLease) && slot.lease == Lease::Install => {
                    slot.value = None;
                }
                _ => drop(self.slots.remove(query)),
            }
        }
        CacheReply::Done
    }
}

#[cfg(test)]
#[path = "cache_server_tests.rs"]
mod tests;
