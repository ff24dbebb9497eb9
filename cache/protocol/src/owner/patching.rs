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
//! A patch takes the place of the last one about the same part of the same row (`patched_value.rs`). A value to which more
//! than one and a half times the rest was added all the same is read, and replaced by one without patches unless the entry has
//! changed meanwhile; half of the rest is enough where no write waits. Cost: a byte that is patched in is rewritten at most
//! three times, and under many writes less than once.
//!
//! The report (section 4) reads, changes and writes each value.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::calls::{Call, Purpose};
use super::covered::covered;
use super::patched_value::{PatchedValue, PlannedEdit};
use super::patched_values::PatchedValues;
use super::task::WriteStep;
use super::{Owner, TaskId};
use crate::call::{CacheCall, CacheReply, Change, Edit, Edited};
use crate::config::{Addition, Application, Flaw, Patch};
use crate::message::{Command, Session, Value};
use crate::query::Query;

/// How long patches may be, in percent of what they were added to, before the value is compacted: where writes wait, and
/// where none does.
const LONG_PERCENT: usize = 150;
const IDLE_LONG_PERCENT: usize = 50;
/// Most values that are compacted together where no write waits.
const IDLE_BATCH: usize = 64;
/// Milliseconds that such a batch may keep the writes that come meanwhile: fewer values are taken where it lasts longer, more where
/// it lasts less than a quarter of that.
const IDLE_MILLIS: u64 = 16;
/// Of the time, a line to a cache server is busy with such batches for one part in this many.
const IDLE_SHARE: u64 = 10;

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
    /// To have this added.
    Append(Addition),
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
    hidden: HashMap<Query, u32>,
    /// The values of entries that were changed since they were installed or compacted.
    values: PatchedValues,
    /// Those of them that are long enough to be compacted where no write waits.
    long: BTreeSet<Query>,
    idle: Idle,
}

/// How much is compacted while no write waits, as the line to the cache server allows.
#[derive(Debug, Clone)]
struct Idle {
    batch: usize,
    next_at: u64,
}

impl Default for Idle {
    fn default() -> Self {
        Self { batch: IDLE_BATCH / 16, next_at: 0 }
    }
}

impl Idle {
    /// A batch that began at one time has been read at another, or is lost.
    fn has_taken(&mut self, began: u64, now: u64) {
        let took = now.saturating_sub(began);
        if took > IDLE_MILLIS {
            self.batch = (self.batch / 2).max(1);
        } else if 4 * took < IDLE_MILLIS {
            self.batch = (2 * self.batch).min(IDLE_BATCH);
        }
        self.next_at = now + (IDLE_SHARE - 1) * took;
    }
}

/// The script that is on its way.
#[derive(Debug, Clone)]
enum InFlight {
    /// Changes for these writes, in `scripts` scripts; more than one only under a flaw.
    Patch { session: Session, tasks: Vec<TaskId>, plans: HashMap<Query, PlannedEdit>, scripts: usize },
    /// The values of entries that are to be compacted, whose last changes are those of the sessions; since when, if no write waited.
    Values { last: BTreeMap<Query, Session>, idle_since: Option<u64> },
    /// The same writes, after the server had no memory for their changes: the entries are deleted. Their queries are sorted.
    Delete { tasks: Vec<TaskId>, queries: Vec<Query> },
}

impl Patching {
    /// Nothing is known of the value of this entry any more.
    pub(super) fn forget(&mut self, query: &Query) {
        if self.values.remove(query).is_some_and(|value| value.is_queued) {
            self.long.remove(query);
        }
        // Nor after the script that is on its way.
        if let Some(InFlight::Patch { plans, .. }) = &mut self.in_flight {
            plans.remove(query);
        }
    }

    /// About the bytes of memory that it takes to know the values that were changed.
    pub(super) fn memory_bytes(&self) -> usize {
        self.values.memory_bytes()
    }

    fn show_once(&mut self, query: &Query) {
        if let Some(writes) = self.hidden.get_mut(query) {
            *writes -= 1;
            if *writes == 0 {
                self.hidden.remove(query);
            }
        }
    }

    /// All that is wanted by now, as one change for each entry.
    fn changes(&mut self) -> Changes {
        let mut changes = Changes::default();
        for (task, wishes) in std::mem::take(&mut self.waiting) {
            changes.tasks.extend(task);
            for Wish { query, what } in wishes {
                if !matches!(what, What::Append(_) | What::Keep) {
                    self.forget(&query);
                }
                changes.want(query, what, &self.values);
            }
        }
        for ((query, change), plan) in changes.changes.iter_mut().zip(&changes.plans) {
            let Change::Edit(edit) = change else { continue };
            edit.is_hidden = self.hidden.contains_key(query);
            edit.expected = self.values.get(query).and_then(PatchedValue::last);
            edit.pieces = plan.pieces();
        }
        changes
    }

    /// The values are as the server says after a script of this session. One of which it says nothing is gone.
    fn were_edited(
        &mut self,
        session: Session,
        mut plans: HashMap<Query, PlannedEdit>,
        edited: Vec<(Query, Edited)>,
        (room, keeps_first): (usize, bool),
    ) -> Vec<Query> {
        let mut too_long = Vec::new();
        for (query, edited) in edited {
            let Some(plan) = plans.remove(&query) else { continue };
            self.values.was_edited(&query, session, plan, edited, keeps_first);
            let Some(value) = self.values.get(&query) else { continue };
            if value.is_longer_than(room, LONG_PERCENT) {
                too_long.push(query);
            } else if !value.is_queued && value.is_longer_than(room, IDLE_LONG_PERCENT) {
                self.values.set_queued(&query, true);
                self.long.insert(query);
            }
        }
        plans.keys().for_each(|query| self.forget(query));
        too_long
    }
}

/// What a script is to do, and the plan of each change.
#[derive(Debug, Default)]
struct Changes {
    tasks: Vec<TaskId>,
    changes: Vec<(Query, Change)>,
    plans: Vec<PlannedEdit>,
    places: HashMap<Query, usize>,
}

impl Changes {
    fn want(&mut self, query: Query, what: What, values: &PatchedValues) {
        let place = self.places.get(&query).copied().unwrap_or(self.changes.len());
        if place == self.changes.len() {
            self.places.insert(query.clone(), place);
            self.changes.push((query, Change::Edit(Edit::default())));
            self.plans.push(PlannedEdit::default());
        }
        let (query, change) = &mut self.changes[place];
        match (what, change) {
            (What::Drop, change) => *change = Change::Drop,
            (What::Append(addition), Change::Edit(_)) => self.plans[place].add(&addition, values.get(query)),
            (What::Compact(session, value), Change::Edit(edit)) => edit.compacted = Some((session, value)),
            _ => {}
        }
    }
}

impl<A: Application> Owner<A> {
    /// What a write does to these entries, apart from those to which it does nothing.
    ///
    /// With β at 0 no entry overlaps another, unless β was larger before: then those that others cover are deleted, by which no
    /// row is lost.
    pub(super) fn wishes(&mut self, command: &Command, queries: &[Query]) -> Vec<Wish> {
        let patches = self.application.patch(command, queries);
        debug_assert_eq!(patches.len(), queries.len());
        let wish = |(query, patch): (&Query, Patch)| {
            let what = match patch {
                Patch::Nothing => return None,
                Patch::Append(addition) => What::Append(addition),
                Patch::Unknown => What::Drop,
            };
            Some(Wish { query: query.clone(), what })
        };
        let mut wishes: Vec<Wish> = queries.iter().zip(patches).filter_map(wish).collect();
        if self.config.beta_auto || self.beta() == 0 {
            let covered = covered(&mut wishes);
            self.auto_beta.was_written(covered.len() as u64);
            if self.beta() == 0 {
                covered.into_iter().for_each(|wish| wish.what = What::Drop);
            }
        }
        wishes
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
        let Changes { tasks, changes, plans, .. } = self.patching.changes();
        let plans = changes.iter().map(|(query, _)| query.clone()).zip(plans).collect();
        let scripts: Vec<Vec<_>> = if self.is_flawed(Flaw::SwapOneByOne) {
            changes.into_iter().map(|change| vec![change]).collect()
        } else {
            vec![changes]
        };
        self.patching.in_flight = Some(InFlight::Patch { session, tasks, plans, scripts: scripts.len() });
        for changes in scripts {
            self.call(Purpose::Entries, Call::Cache(CacheCall::Patch(session, changes)));
        }
    }

    pub(super) fn entries_answered(&mut self, reply: CacheReply) {
        match (self.patching.in_flight.take(), reply) {
            (Some(InFlight::Patch { session, tasks, plans, scripts }), _) if scripts > 1 => {
                let scripts = scripts - 1;
                self.patching.in_flight = Some(InFlight::Patch { session, tasks, plans, scripts });
            }
            (Some(InFlight::Patch { tasks, plans, .. }), CacheReply::Full) => {
                self.cache_is_full();
                let session = self.new_session();
                let mut queries: Vec<Query> = plans.into_keys().collect();
                queries.sort();
                let delete = CacheCall::Invalidate(session, queries.clone());
                self.patching.in_flight = Some(InFlight::Delete { tasks, queries });
                self.call(Purpose::Entries, Call::Cache(delete));
            }
            (Some(InFlight::Patch { session, tasks, plans, .. }), reply) => {
                let edited = if let CacheReply::Patched(edited) = reply { edited } else { Vec::new() };
                let settings = (self.config.patch_room, self.is_flawed(Flaw::PatchEarlier));
                let too_long = self.patching.were_edited(session, plans, edited, settings);
                self.read_to_compact(too_long, None);
                tasks.into_iter().for_each(|task| self.entries_of_task_answered(task));
            }
            (Some(InFlight::Values { last, idle_since }), CacheReply::Gathered(values)) => {
                self.idle_batch_ended(idle_since);
                self.compact_values(&last, values);
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
        if let Some(InFlight::Values { idle_since, .. }) = self.patching.in_flight.take() {
            self.idle_batch_ended(idle_since);
        }
        self.send_changes();
    }

    fn idle_batch_ended(&mut self, since: Option<u64>) {
        if let Some(began) = since {
            self.patching.idle.has_taken(began, self.now);
        }
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
        let touched = self.index.read().touched(&self.writes[&task].write.touched);
        let deleted = touched.iter().filter(|query| queries.binary_search(query).is_ok());
        deleted.for_each(|query| self.forget_entry(query));
        self.entries_of_task_answered(task);
    }

    /// Reads values to which much was added.
    fn read_to_compact(&mut self, values: Vec<Query>, idle_since: Option<u64>) {
        if values.is_empty() {
            return;
        }
        let last = |query: &Query| Some((query.clone(), self.patching.values.get(query)?.last()?));
        let last = values.iter().filter_map(last).collect();
        self.patching.in_flight = Some(InFlight::Values { last, idle_since });
        let reader = self.new_session();
        self.call(Purpose::Entries, Call::Cache(CacheCall::Gather(reader, values, Vec::new())));
    }

    /// The same of values to which less was added, while no write waits for its entries.
    pub(super) fn compact_while_idle(&mut self) {
        let is_idle = self.patching.in_flight.is_none() && self.patching.waiting.is_empty();
        if is_idle && self.patching.idle.next_at <= self.now {
            let mut long = Vec::new();
            while long.len() < self.patching.idle.batch
                && let Some(query) = self.patching.long.pop_first()
            {
                self.patching.values.set_queued(&query, false);
                long.push(query);
            }
            self.read_to_compact(long, Some(self.now));
        }
    }

    fn compact_values(&mut self, last: &BTreeMap<Query, Session>, values: Vec<(Query, Value)>) {
        let compact = |(query, value): (Query, Value)| {
            let last = *last.get(&query)?;
            let compacted = self.application.settle(&query, &value);
            let what = match compacted.filter(|value| value.as_bytes().len() <= self.config.largest_value) {
                Some(value) => What::Compact(last, value),
                None => What::Drop,
            };
            Some(Wish { query, what })
        };
        let wishes: Vec<Wish> = values.into_iter().filter_map(compact).collect();
        if !wishes.is_empty() {
            self.patching.waiting.insert(0, (None, wishes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_batches_fit_the_line() {
        let (mut fast, mut slow) = (Idle::default(), Idle::default());
        for round in 0..10 {
            fast.has_taken(100 * round, 100 * round + 1);
            // A value takes 60 ms.
            slow.has_taken(10_000 * round, 10_000 * round + 60 * slow.batch as u64);
        }
        assert_eq!((fast.batch, slow.batch), (IDLE_BATCH, 1));
        assert_eq!((fast.next_at, slow.next_at), (901 + 9, 90_060 + 540));
    }
}
