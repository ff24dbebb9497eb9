//! The entries of one range in memory, and what the scripts do to them.
//!
//! The rules are those of [`CacheServer`](crate::CacheModel), the model that the simulation tests; a test runs the
//! same scripts on both. This one finds entries by hash and counts bytes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::call::{CacheReply, Change, Edit, Edited};
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
    /// Of the last change of the value, or of the lease.
    session: Session,
    is_leased: bool,
    is_hidden: bool,
    /// Whether it was read since the clock hand last passed it.
    is_used: AtomicBool,
}

impl Slot {
    fn leased(session: Session) -> Self {
        Self { value: None, session, is_leased: true, is_hidden: false, is_used: AtomicBool::new(false) }
    }

    fn installed(session: Session, value: Value) -> Self {
        Self { value: Some(value), is_leased: false, ..Self::leased(session) }
    }

    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.value.as_ref().map_or(0, |value| value.as_bytes().len())
    }

    fn visible(&self) -> Option<Value> {
        self.value.clone().filter(|_| !self.is_hidden)
    }

    /// `None` if the edit comes late or there is no value.
    fn edit(&mut self, session: Session, edit: &Edit) -> Option<Edited> {
        let value = self.value.as_mut().filter(|_| self.session < session)?;
        let is_as_expected = edit.is_expected(self.session);
        if let Some((_, compacted)) = edit.compacted.as_ref().filter(|(last, _)| *last == self.session) {
            *value = compacted.clone();
        }
        let mut len = None;
        if !edit.pieces.is_empty() {
            let (edited, has_grown) = edit.edited(value, is_as_expected);
            *value = edited;
            len = has_grown.then(|| value.as_bytes().len());
        }
        self.is_hidden = edit.is_hidden;
        self.session = session;
        Some(Edited { is_as_expected, len })
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
        self.put(query, Slot::leased(session));
        CacheReply::Leased
    }

    pub(super) fn gather(&self, queries: &[Query]) -> CacheReply {
        let found = |query: &Query| Some((query.clone(), self.get(query)?));
        CacheReply::Gathered(queries.iter().filter_map(found).collect())
    }

    pub(super) fn install(&mut self, query: &Query, session: Session, value: Value) -> CacheReply {
        let holds = |slot: &Slot| slot.is_leased && slot.session == session;
        if !self.slots.get(query).is_some_and(holds) {
            return CacheReply::NotHeld;
        }
        self.put(query, Slot::installed(session, value));
        CacheReply::Done
    }

    pub(super) fn patch(&mut self, session: Session, changes: Vec<(Query, Change)>) -> CacheReply {
        let mut edited = Vec::new();
        for (query, change) in changes {
            let Some(slot) = self.slots.get_mut(&query) else { continue };
            match change {
                Change::Edit(edit) if !slot.is_leased => {
                    self.bytes -= slot.bytes();
                    let done = slot.edit(session, &edit);
                    self.bytes += slot.bytes();
                    edited.extend(done.map(|done| (query, done)));
                }
                _ => self.remove(&query),
            }
        }
        CacheReply::Patched(edited)
    }

    pub(super) fn hide(&mut self, session: Session, queries: &[Query]) -> CacheReply {
        for query in queries {
            match self.slots.get_mut(query) {
                Some(slot) if slot.is_leased => self.remove(query),
                Some(slot) if slot.session < session => slot.is_hidden = true,
                _ => {}
            }
        }
        CacheReply::Done
    }

    /// What the clock hand does to an entry: `true` if it may stay.
    pub(super) fn stays(&self, query: &Query) -> Option<bool> {
        let slot = self.slots.get(query)?;
        Some(slot.is_used.swap(false, Ordering::Relaxed))
    }

    pub(super) fn holds(&self, query: &Query) -> bool {
        self.slots.contains_key(query)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}
