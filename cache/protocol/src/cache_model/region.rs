//! The entries of one range, and what the scripts do to them.

use std::collections::BTreeMap;

use crate::call::{CacheReply, Change, Edit, Edited};
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
    /// Of the last change of the value, or of the lease.
    pub(super) session: Session,
    /// Whether a reader may install here.
    pub(super) is_leased: bool,
    pub(super) is_hidden: bool,
}

impl Slot {
    pub(super) fn visible(&self) -> Option<Value> {
        self.value.clone().filter(|_| !self.is_hidden)
    }

    const fn leased(session: Session) -> Self {
        Self { value: None, session, is_leased: true, is_hidden: false }
    }

    const fn installed(session: Session, value: Value) -> Self {
        Self { value: Some(value), session, is_leased: false, is_hidden: false }
    }

    /// `None` if the edit comes late or there is no value.
    fn edit(&mut self, session: Session, edit: &Edit, flaw: Option<Flaw>) -> Option<Edited> {
        let is_late = self.session >= session && flaw != Some(Flaw::RepeatPatch);
        let value = self.value.as_mut().filter(|_| !is_late)?;
        let is_as_expected = edit.is_expected(self.session) || flaw == Some(Flaw::PatchAnywhere);
        if let Some((last, compacted)) = &edit.compacted
            && (*last == self.session || flaw == Some(Flaw::CompactLate))
        {
            *value = compacted.clone();
        }
        let (edited, has_grown) = edit.edited(value, is_as_expected);
        *value = edited;
        self.is_hidden = edit.is_hidden;
        self.session = session;
        Some(Edited { is_as_expected, len: has_grown.then(|| value.as_bytes().len()) })
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
        CacheReply::Gathered(queries.iter().filter_map(found).collect())
    }

    pub(super) fn look_up(&mut self, query: &Query, session: Session) -> CacheReply {
        let slot = self.slots.get(query);
        if let Some(value) = slot.and_then(Slot::visible) {
            return CacheReply::Found(value);
        }
        if slot.is_some_and(|slot| slot.session > session) {
            return CacheReply::Busy;
        }
        self.slots.insert(query.clone(), Slot::leased(session));
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
        let holds = |slot: &Slot| slot.is_leased && slot.session == session;
        if !self.slots.get(query).is_some_and(holds) {
            return CacheReply::NotHeld;
        }
        if self.slots.values().filter(|slot| slot.value.is_some()).count() >= max {
            self.slots.remove(query);
            return CacheReply::Full;
        }
        self.append(std::slice::from_ref(record));
        self.slots.insert(query.clone(), Slot::installed(session, value.clone()));
        CacheReply::Done
    }

    /// Voids I leases of readers: they may have read before the change (P4).
    fn void_lease(&mut self, query: &Query, flaw: Option<Flaw>) {
        if flaw != Some(Flaw::KeepForeignLease) && self.slots.get(query).is_some_and(|slot| slot.is_leased) {
            self.slots.remove(query);
        }
    }

    pub(super) fn patch(
        &mut self,
        session: Session,
        changes: &[(Query, Change)],
        flaw: Option<Flaw>,
    ) -> CacheReply {
        let mut edited = Vec::new();
        for (query, change) in changes {
            self.void_lease(query, flaw);
            match (change, self.slots.get_mut(query)) {
                (Change::Drop, Some(slot)) if slot.value.is_some() => drop(self.slots.remove(query)),
                (Change::Edit(edit), Some(slot)) => {
                    edited.extend(slot.edit(session, edit, flaw).map(|edited| (query.clone(), edited)));
                }
                _ => {}
            }
        }
        CacheReply::Patched(edited)
    }

    pub(super) fn hide(&mut self, session: Session, queries: &[Query]) -> CacheReply {
        for query in queries {
            self.void_lease(query, None);
            let slot = self.slots.get_mut(query).filter(|slot| slot.session < session);
            slot.into_iter().for_each(|slot| slot.is_hidden = true);
        }
        CacheReply::Done
    }
}
