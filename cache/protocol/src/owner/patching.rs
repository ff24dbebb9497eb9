//! Changes entries in place: what writes do to them goes to the cache server in one script for all writes that wait.
//!
//! A write knows what it does to a result without seeing it ([`Application::patch`]): it adds some bytes to its value.
//! So an update of a row costs bytes of one row for each entry, whatever the entries are. At most one script is on its
//! way; writes that come meanwhile share the next one. Scripts of one owner so arrive in the order of their sessions, and
//! an entry that has seen a session refuses it and older ones: a script may be repeated, and a late one does nothing.
//!
//! A write that the store may refuse hides its entries before the store has it, and shows them in the script that changes
//! them (P1, P2). Several writes may hide one entry; the last of them shows it.
//!
//! A value whose patches are longer than half of the rest is read and replaced by one without them, unless the entry has
//! changed meanwhile. Cost: a byte that is patched in is rewritten at most three times.
//!
//! The report (section 4) reads, changes and writes each value.

use std::collections::BTreeMap;

use super::calls::{Call, Purpose};
use super::task::WriteStep;
use super::{Owner, TaskId};
use crate::call::{CacheCall, CacheReply, Change, Edit};
use crate::config::{Application, Flaw, Patch};
use crate::message::{Command, Session, Value};
use crate::query::Query;

/// What one write wants of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) query: Query,
    pub(super) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// To be hidden or visible, as all writes together want it.
    Keep,
    /// To be deleted.
    Drop,
    /// To have these bytes added.
    Append(Vec<u8>),
    /// To be replaced by a value of the same meaning, if its last change was that of the session.
    Compact(Session, Value),
}

/// Changes of entries, on their way and waiting.
#[derive(Debug, Clone, Default)]
pub(super) struct Patching {
    /// `None` where no write waits.
    waiting: Vec<(Option<TaskId>, Vec<Wish>)>,
    in_flight: Option<InFlight>,
    /// Hidden entries, and the number of writes that hide each.
    hidden: BTreeMap<Query, u32>,
    /// Bytes that were added to entries since they were installed or compacted.
    added: BTreeMap<Query, usize>,
}

/// The script that is on its way.
#[derive(Debug, Clone)]
enum InFlight {
    /// Changes for these writes, in `scripts` scripts; more than one only under a flaw.
    Patch { session: Session, tasks: Vec<TaskId>, queries: Vec<Query>, scripts: usize },
    /// The values of entries that are to be compacted, whose last change is that of the session.
    Values { session: Session },
    /// The same writes, after the server had no memory for their changes: the entries are deleted.
    Delete { tasks: Vec<TaskId>, queries: Vec<Query> },
}

impl Patching {
    /// Nothing is known of the value of this entry any more.
    pub(super) fn forget(&mut self, query: &Query) {
        self.added.remove(query);
    }

    fn show_once(&mut self, query: &Query) {
        if let Some(writes) = self.hidden.get_mut(query) {
            *writes -= 1;
            if *writes == 0 {
                self.hidden.remove(query);
            }
        }
    }

    fn want(wish: &Wish, changes: &mut BTreeMap<Query, Change>) {
        let change = changes.entry(wish.query.clone()).or_insert_with(|| Change::Edit(Edit::default()));
        match (&wish.what, change) {
            (What::Drop, change) => *change = Change::Drop,
            (What::Append(bytes), Change::Edit(edit)) => edit.patch.extend_from_slice(bytes),
            (What::Compact(session, value), Change::Edit(edit)) => {
                edit.compacted = Some((*session, value.clone()));
            }
            _ => {}
        }
    }

    /// All that is wanted by now, as one change for each entry.
    fn changes(&mut self) -> (Vec<TaskId>, Vec<(Query, Change)>) {
        let (mut tasks, mut changes) = (Vec::new(), BTreeMap::new());
        for (task, wishes) in std::mem::take(&mut self.waiting) {
            tasks.extend(task);
            wishes.iter().for_each(|wish| Self::want(wish, &mut changes));
        }
        for (query, change) in &mut changes {
            match change {
                Change::Edit(edit) => {
                    edit.is_hidden = self.hidden.contains_key(query);
                    *self.added.entry(query.clone()).or_default() += edit.patch.len();
                }
                Change::Drop => drop(self.added.remove(query)),
            }
        }
        (tasks, changes.into_iter().collect())
    }
}

impl<A: Application> Owner<A> {
    /// What a write does to these entries, apart from those to which it does nothing.
    pub(super) fn wishes(&self, command: &Command, queries: &[Query]) -> Vec<Wish> {
        let patches = self.application.patch(command, queries);
        debug_assert_eq!(patches.len(), queries.len());
        let wish = |(query, patch): (&Query, Patch)| {
            let what = match patch {
                Patch::Nothing => return None,
                Patch::Append(bytes) => What::Append(bytes),
                Patch::Unknown => What::Drop,
            };
            Some(Wish { query: query.clone(), what })
        };
        queries.iter().zip(patches).filter_map(wish).collect()
    }

    /// Hides the entries that a write changes, and goes on with it afterwards.
    pub(super) fn hide_entries(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task).filter(|write| !write.wishes.is_empty()) else {
            return self.entries_are_hidden(task);
        };
        write.is_hiding = true;
        let hide = |wish: &Wish| Wish { query: wish.query.clone(), what: What::Keep };
        let wishes: Vec<Wish> = write.wishes.iter().map(hide).collect();
        for wish in &wishes {
            *self.patching.hidden.entry(wish.query.clone()).or_default() += 1;
        }
        self.wish(Some(task), wishes);
    }

    /// Changes the entries of a write that is done, and shows those that it has hidden.
    pub(super) fn change_entries(&mut self, task: TaskId, is_done: bool) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        let is_hiding = std::mem::take(&mut write.is_hiding);
        let mut wishes = std::mem::take(&mut write.wishes);
        if is_done {
            let gone = wishes.iter().filter(|wish| wish.what == What::Drop);
            write.queries.extend(gone.map(|wish| wish.query.clone()));
        } else {
            wishes.iter_mut().for_each(|wish| wish.what = What::Keep);
        }
        if is_hiding {
            wishes.iter().for_each(|wish| self.patching.show_once(&wish.query));
        }
        if wishes.is_empty() || !(is_done || is_hiding) {
            return self.entries_are_changed(task);
        }
        self.wish(Some(task), wishes);
    }

    pub(super) fn wish(&mut self, task: Option<TaskId>, wishes: Vec<Wish>) {
        self.patching.waiting.push((task, wishes));
        self.send_changes();
    }

    /// Sends what waits, unless a script is on its way.
    fn send_changes(&mut self) {
        if self.patching.in_flight.is_some() || self.patching.waiting.is_empty() {
            return;
        }
        let session = self.new_session();
        let (tasks, changes) = self.patching.changes();
        let queries = changes.iter().map(|(query, _)| query.clone()).collect();
        let scripts: Vec<Vec<_>> = if self.is_flawed(Flaw::SwapOneByOne) {
            changes.into_iter().map(|change| vec![change]).collect()
        } else {
            vec![changes]
        };
        self.patching.in_flight = Some(InFlight::Patch { session, tasks, queries, scripts: scripts.len() });
        for changes in scripts {
            self.call(Purpose::Entries, Call::Cache(CacheCall::Patch(session, changes)));
        }
    }

    pub(super) fn entries_answered(&mut self, reply: CacheReply) {
        match (self.patching.in_flight.take(), reply) {
            (Some(InFlight::Patch { session, tasks, queries, scripts }), _) if scripts > 1 => {
                let scripts = scripts - 1;
                self.patching.in_flight = Some(InFlight::Patch { session, tasks, queries, scripts });
            }
            (Some(InFlight::Patch { tasks, queries, .. }), CacheReply::Full) => {
                self.cache_is_full();
                let session = self.new_session();
                let delete = CacheCall::Invalidate(session, queries.clone());
                self.patching.in_flight = Some(InFlight::Delete { tasks, queries });
                self.call(Purpose::Entries, Call::Cache(delete));
            }
            (Some(InFlight::Patch { session, tasks, .. }), reply) => {
                let lengths = if let CacheReply::Patched(lengths) = reply { lengths } else { Vec::new() };
                self.compact_long_ones(session, &lengths);
                tasks.into_iter().for_each(|task| self.entries_of_task_answered(task));
            }
            (Some(InFlight::Values { session }), CacheReply::Gathered(values)) => {
                self.compact_values(session, values);
            }
            (Some(InFlight::Delete { tasks, queries }), _) => {
                tasks.into_iter().for_each(|task| self.entries_were_deleted(task, &queries));
            }
            _ => {}
        }
        self.send_changes();
    }

    /// The values that were to be compacted did not come: another time.
    pub(super) fn values_are_lost(&mut self) {
        self.patching.in_flight = None;
        self.send_changes();
    }

    fn entries_of_task_answered(&mut self, task: TaskId) {
        match self.writes.get(&task).map(|write| write.step) {
            Some(WriteStep::Patching) => self.entries_are_changed(task),
            Some(_) => self.entries_are_hidden(task),
            None => {}
        }
    }

    /// The server had no memory: the entries of the task are gone, and no longer hidden.
    fn entries_were_deleted(&mut self, task: TaskId, queries: &[Query]) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        let wishes = std::mem::take(&mut write.wishes);
        if std::mem::take(&mut write.is_hiding) {
            wishes.iter().for_each(|wish| self.patching.show_once(&wish.query));
        }
        // Under its lease no reader can have installed them since.
        let touched = self.index.touched(&self.writes[&task].write.touched);
        touched.iter().filter(|query| queries.contains(query)).for_each(|query| self.forget_entry(query));
        self.entries_of_task_answered(task);
    }

    /// Reads the values whose patches have become long.
    fn compact_long_ones(&mut self, session: Session, lengths: &[(Query, usize)]) {
        let room = self.config.patch_room;
        let is_long = |(query, len): &&(Query, usize)| {
            let added = self.patching.added.get(query).copied().unwrap_or(0);
            added > room && 3 * added > *len
        };
        let long: Vec<Query> = lengths.iter().filter(is_long).map(|(query, _)| query.clone()).collect();
        if long.is_empty() {
            return;
        }
        self.patching.in_flight = Some(InFlight::Values { session });
        let reader = self.new_session();
        self.call(Purpose::Entries, Call::Cache(CacheCall::Gather(reader, long, Vec::new())));
    }

    fn compact_values(&mut self, session: Session, values: Vec<(Query, Value)>) {
        let compact = |(query, value): (Query, Value)| {
            self.patching.added.remove(&query);
            let compacted = self.application.settle(&query, &value);
            let what = match compacted.filter(|value| value.as_bytes().len() <= self.config.largest_value) {
                Some(value) => What::Compact(session, value),
                None => What::Drop,
            };
            Wish { query, what }
        };
        let wishes: Vec<Wish> = values.into_iter().map(compact).collect();
        if !wishes.is_empty() {
            self.patching.waiting.insert(0, (None, wishes));
        }
    }
}
