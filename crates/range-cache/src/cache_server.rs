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
use crate::log::{LOG_CHUNKS, LogRecord, write_chunk};
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
    /// Chunks of the log, if one is kept.
    log: Option<BTreeMap<u32, Vec<u8>>>,
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
        match call {
            CacheCall::Fence => return self.raise_fence(range, epoch),
            CacheCall::TakeOver(before) => return self.take_over(range, epoch, *before),
            _ => {}
        }
        let (most, flaw) = (self.most_entries, self.flaw);
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
                region.install(query, *session, value, record, most)
            }
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

    /// Raises the fence; what the tenure `before` left stays, if it was the last one here.
    fn take_over(&mut self, range: RangeId, epoch: Epoch, before: Option<Epoch>) -> CacheReply {
        let any = self.flaw == Some(Flaw::WarmFromAny);
        let is_warm = |region: &Region| {
            let is_next = before == Some(region.fence) || region.fence == epoch || any;
            region.log.is_some() && is_next && region.fence <= epoch
        };
        if let Some(region) = self.ranges.get_mut(&range).filter(|region| is_warm(region)) {
            region.fence = epoch;
            region.slots.retain(|_, slot| slot.visible().is_some());
            region.slots.values_mut().for_each(|slot| (slot.session, slot.lease) = (Session(0), Lease::None));
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

    /// Overwrites the log of a range with bytes that are none, as a broken server might.
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
        Self { fence, slots: BTreeMap::new(), log: None }
    }

    fn forget(&mut self) {
        self.slots.clear();
        self.log = self.log.take().map(|_| BTreeMap::new());
    }

    fn append(&mut self, records: &[LogRecord]) {
        let Some(log) = &mut self.log else { return };
        for record in records {
            write_chunk(log.entry(record.chunk(LOG_CHUNKS)).or_default(), [record]);
        }
    }

    fn chunk(&self, chunk: u32) -> &[u8] {
        self.log.as_ref().and_then(|log| log.get(&chunk)).map_or(&[], Vec::as_slice)
    }

    fn replace_log(&mut self, chunk: u32, len: usize, bytes: &[u8]) -> CacheReply {
        let Some(old) = self.log.as_mut().and_then(|log| log.get_mut(&chunk)) else {
            return CacheReply::NotHeld;
        };
        if len > old.len() {
            return CacheReply::NotHeld;
        }
        old.splice(..len, bytes.iter().copied());
        CacheReply::Done
    }

    fn gather(&mut self, session: Session, queries: &[Query], gaps: &[Query]) -> CacheReply {
        for gap in gaps {
            self.look_up(gap, session);
        }
        let found = |query: &Query| Some((query.clone(), self.slots.get(query)?.visible()?));
        CacheReply::Hidden(queries.iter().filter_map(found).collect())
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

    fn install(
        &mut self,
        query: &Query,
        session: Session,
        value: &Value,
        record: &LogRecord,
        most: usize,
    ) -> CacheReply {
        let holds = |slot: &Slot| slot.lease == Lease::Install && slot.session == session;
        if !self.slots.get(query).is_some_and(holds) {
            return CacheReply::NotHeld;
        }
        if self.slots.values().filter(|slot| slot.value.is_some()).count() >= most {
            self.slots.remove(query);
            return CacheReply::Full;
        }
        self.append(std::slice::from_ref(record));
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
