//! The end of a write: it is durable, or refused, and its entries get their new values, or their old ones back.

use super::calls::{Call, Purpose};
use super::task::{Kind, WriteStep};
use super::{Owner, TaskId};
use crate::call::CacheCall;
use crate::config::{Application, Flaw, Policy};
use crate::message::{Session, Value, WriteOutcome};
use crate::query::Query;

impl<A: Application> Owner<A> {
    pub(super) fn durable_or_refused(&mut self, task: TaskId, is_done: bool) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        write.step = WriteStep::Committing;
        let (request, session, has_entries) =
            (write.request.take(), write.session, !write.queries.is_empty());
        let is_late = is_done && self.is_flawed(Flaw::SwapOneByOne);
        let outcome = if is_done { WriteOutcome::Done } else { WriteOutcome::Refused };
        match request {
            Some(request) if is_late => {
                self.writes.get_mut(&task).expect("it was there").request = Some(request);
            }
            Some(request) => self.answer_write(request, outcome),
            None => {}
        }
        let is_cleared = self.writes[&task].kind != Kind::Write || self.config.policy == Policy::WriteAround;
        if !has_entries || is_cleared {
            return self.end_write(task);
        }
        let entries = if is_done { self.new_entries(task) } else { self.old_entries(task) };
        self.commit(task, session, entries);
    }

    pub(super) fn commit(&mut self, task: TaskId, session: Session, entries: Vec<(Query, Option<Value>)>) {
        let write = self.writes.get_mut(&task).expect("the caller has it");
        write.queries =
            entries.iter().filter(|(_, value)| value.is_none()).map(|(query, _)| query.clone()).collect();
        let scripts: Vec<Vec<_>> = if self.is_flawed(Flaw::SwapOneByOne) {
            entries.into_iter().map(|entry| vec![entry]).collect()
        } else {
            vec![entries]
        };
        self.writes.get_mut(&task).expect("the caller has it").commits = scripts.len();
        for entries in scripts {
            self.call(Purpose::Write(task), Call::Cache(CacheCall::Commit(session, entries)));
        }
    }

    /// The values of the entries after the write. Entries whose value is not known are deleted, and forgotten at
    /// the end.
    pub(super) fn new_entries(&mut self, task: TaskId) -> Vec<(Query, Option<Value>)> {
        let write = &self.writes[&task];
        let new = |query: &Query| {
            let old = write.old.iter().find(|(known, _)| known == query).map(|(_, old)| old)?;
            let new = self.application.update(&write.write.command, query, old)?;
            (new.as_bytes().len() <= self.config.largest_value).then_some(new)
        };
        write.queries.iter().map(|query| (query.clone(), new(query))).collect()
    }

    pub(super) fn old_entries(&self, task: TaskId) -> Vec<(Query, Option<Value>)> {
        let write = &self.writes[&task];
        let old =
            |query: &Query| write.old.iter().find(|(known, _)| known == query).map(|(_, old)| old.clone());
        write.queries.iter().map(|query| (query.clone(), old(query))).collect()
    }

    /// The entries have their new values: waiting requests may proceed.
    pub(super) fn end_write(&mut self, task: TaskId) {
        let Some(mut write) = self.writes.remove(&task) else { return };
        if matches!(write.kind, Kind::Write | Kind::Across) {
            self.auto_beta.was_written();
        }
        if let Some(request) = write.request.take() {
            self.answer_write(request, WriteOutcome::Done);
        }
        // Deleted, and under the exclusive lease no reader can have installed them since.
        write.queries.iter().for_each(|query| self.forget_entry(query));
        self.release_peers(task, &write);
        self.release(write.lease);
        self.next_turn(task);
    }
}
