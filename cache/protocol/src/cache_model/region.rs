//! The entries of one range, and what the scripts do to them.

use std::collections::BTreeMap;

use crate::call::CacheReply;
use crate::config::Flaw;
use crate::log::{LOG_CHUNKS, LogRecord, write_chunk};
use crate::message::{Epoch, Session, Value};
use crate::query::Query;

#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) fence: Epoch,
    pub(super) slots: BTreeMap<Query, Slot>,
    /// Chunks of the log, if one is kept.
    pub(super) log: Option<BTreeMap<u32, Vec<u8>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) value: Option<Value>,
    /// The last lease on it, held or not.
    pub(super) session: Session,
    pub(super) lease: Lease,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lease {
    None,
    Install,
    /// A writer's lease; the value is hidden or not.
    Write {
        hides: bool,
    },
}

impl Slot {
    pub(super) fn visible(&self) -> Option<Value> {
        let is_hidden = self.lease == Lease::Write { hides: true };
        self.value.clone().filter(|_| !is_hidden)
    }
}

impl Region {
    pub(super) const fn new(fence: Epoch) -> Self {
        Self { fence, slots: BTreeMap::new(), log: None }
    }

    pub(super) fn forget(&mut self) {
        self.slots.clear();
        self.log = self.log.take().map(|_| BTreeMap::new());
    }

    pub(super) fn append(&mut self, records: &[LogRecord]) {
        let Some(log) = &mut self.log else { return };
        for record in records {
            write_chunk(log.entry(record.chunk(LOG_CHUNKS)).or_default(), [record]);
        }
    }

    pub(super) fn chunk(&self, chunk: u32) -> &[u8] {
        self.log.as_ref().and_then(|log| log.get(&chunk)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn replace_log(&mut self, chunk: u32, len: usize, bytes: &[u8]) -> CacheReply {
        let Some(old) = self.log.as_mut().and_then(|log| log.get_mut(&chunk)) else {
            return CacheReply::NotHeld;
        };
        if len > old.len() {
            return CacheReply::NotHeld;
        }
        old.splice(..len, bytes.iter().copied());
        CacheReply::Done
    }

    pub(super) fn gather(&mut self, session: Session, queries: &[Query], gaps: &[Query]) -> CacheReply {
        for gap in gaps {
            self.look_up(gap, session);
        }
        let found = |query: &Query| Some((query.clone(), self.slots.get(query)?.visible()?));
        CacheReply::Hidden(queries.iter().filter_map(found).collect())
    }

    pub(super) fn look_up(&mut self, query: &Query, session: Session) -> CacheReply {
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

    pub(super) fn install(
        &mut self,
        query: &Query,
        session: Session,
        value: &Value,
        record: &LogRecord,
        max: usize,
    ) -> CacheReply {
        let holds = |slot: &Slot| slot.lease == Lease::Install && slot.session == session;
        if !self.slots.get(query).is_some_and(holds) {
            return CacheReply::NotHeld;
        }
        if self.slots.values().filter(|slot| slot.value.is_some()).count() >= max {
            self.slots.remove(query);
            return CacheReply::Full;
        }
        self.append(std::slice::from_ref(record));
        self.slots.insert(query.clone(), Slot { value: Some(value.clone()), session, lease: Lease::None });
        CacheReply::Done
    }

    pub(super) fn quarantine(&mut self, session: Session, queries: &[Query], hides: bool) -> CacheReply {
        let mut found = Vec::new();
        for query in queries {
            let Some(slot) = self.slots.get_mut(query) else { continue };
            let is_foreign = matches!(slot.lease, Lease::Write { .. }) && slot.session != session;
            if slot.session > session || slot.lease == Lease::Install {
                self.slots.remove(query);
                continue;
            }
            if is_foreign {
                // Two writers at once do not know of each other's change, so neither may keep the value.
                slot.value = None;
            }
            (slot.session, slot.lease) = (session, Lease::Write { hides });
            found.extend(slot.value.clone().map(|value| (query.clone(), value)));
        }
        CacheReply::Hidden(found)
    }

    pub(super) fn commit(
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
