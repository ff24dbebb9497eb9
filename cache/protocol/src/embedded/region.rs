//! The entries of one range in memory, and what the scripts do to them.
//!
//! The rules are those of [`CacheServer`](crate::CacheModel), the model that the simulation tests; a test runs the
//! same scripts on both. This one finds entries by hash and counts bytes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::call::CacheReply;
use crate::message::{Epoch, Session, Value};
use crate::query::Query;

/// Bytes that an entry takes besides its value: query, lease, its slots in the table and in the queue.
const ENTRY_BYTES: usize = 320;

#[derive(Debug)]
pub(super) struct Region {
    pub(super) fence: Epoch,
    slots: HashMap<Query, Slot>,
    pub(super) bytes: usize,
}

#[derive(Debug)]
struct Slot {
    value: Option<Value>,
    session: Session,
    lease: Lease,
    /// Whether it was read since the clock hand last passed it.
    is_used: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lease {
    None,
    Install,
    Write,
}

impl Slot {
    fn new(value: Option<Value>, session: Session, lease: Lease) -> Self {
        Self { value, session, lease, is_used: AtomicBool::new(false) }
    }

    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.value.as_ref().map_or(0, |value| value.as_bytes().len())
    }

    fn visible(&self) -> Option<Value> {
        self.value.clone().filter(|_| self.lease != Lease::Write)
    }
}

impl Region {
    pub(super) fn new(fence: Epoch) -> Self {
        Self { fence, slots: HashMap::new(), bytes: 0 }
    }

    pub(super) fn get(&self, query: &Query) -> Option<Value> {
        let slot = self.slots.get(query)?;
        slot.is_used.store(true, Ordering::Relaxed);
        slot.visible()
    }

    fn put(&mut self, query: &Query, slot: Slot) {
        self.bytes += slot.bytes();
        if let Some(before) = self.slots.insert(query.clone(), slot) {
            self.bytes -= before.bytes();
        }
    }

    pub(super) fn remove(&mut self, query: &Query) {
        if let Some(before) = self.slots.remove(query) {
            self.bytes -= before.bytes();
        }
    }

    pub(super) fn look_up(&mut self, query: &Query, session: Session) -> CacheReply {
        let slot = self.slots.get(query);
        if let Some(value) = slot.and_then(Slot::visible) {
            return CacheReply::Found(value);
        }
        if slot.is_some_and(|slot| slot.session > session) {
            return CacheReply::Busy;
        }
        self.put(query, Slot::new(None, session, Lease::Install));
        CacheReply::Leased
    }

    pub(super) fn gather(&self, queries: &[Query]) -> CacheReply {
        let found = |query: &Query| Some((query.clone(), self.get(query)?));
        CacheReply::Hidden(queries.iter().filter_map(found).collect())
    }

    pub(super) fn install(&mut self, query: &Query, session: Session, value: Value) -> CacheReply {
        let holds = |slot: &Slot| slot.lease == Lease::Install && slot.session == session;
        if !self.slots.get(query).is_some_and(holds) {
            return CacheReply::NotHeld;
        }
        self.put(query, Slot::new(Some(value), session, Lease::None));
        CacheReply::Done
    }

    pub(super) fn hide(&mut self, session: Session, queries: &[Query]) -> CacheReply {
        let mut found = Vec::new();
        for query in queries {
            let Some(slot) = self.slots.get(query) else { continue };
            let is_foreign = slot.lease == Lease::Write && slot.session != session;
            if slot.session > session || slot.lease == Lease::Install {
                self.remove(query);
                continue;
            }
            // Two writers at once do not know of each other's change, so neither may keep the value.
            let value = slot.value.clone().filter(|_| !is_foreign);
            found.extend(value.clone().map(|value| (query.clone(), value)));
            self.put(query, Slot::new(value, session, Lease::Write));
        }
        CacheReply::Hidden(found)
    }

    pub(super) fn commit(&mut self, session: Session, entries: Vec<(Query, Option<Value>)>) -> CacheReply {
        for (query, value) in entries {
            let holds = |slot: &Slot| slot.lease == Lease::Write && slot.session == session;
            match value.filter(|_| self.slots.get(&query).is_some_and(holds)) {
                Some(value) => self.put(&query, Slot::new(Some(value), session, Lease::None)),
                None => self.remove(&query),
            }
        }
        CacheReply::Done
    }

    /// What the clock hand does to an entry: `true` if it may stay. An entry under a writer's lease must.
    pub(super) fn stays(&self, query: &Query) -> Option<bool> {
        let slot = self.slots.get(query)?;
        Some(slot.lease == Lease::Write || slot.is_used.swap(false, Ordering::Relaxed))
    }

    pub(super) fn holds(&self, query: &Query) -> bool {
        self.slots.contains_key(query)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}
