//! Writes.
//!
//! All clear the entries they touch first, and hold an exclusive lease until the entries are in their new state: nobody
//! can see the new row through one entry and afterwards the old one through another (P1), or what the store then refuses
//! (P2). A write is acknowledged as soon as it is durable; whoever reads meanwhile waits for the lease.
//!
//! | policy | before | durable by | after |
//! | --- | --- | --- | --- |
//! | around | entries are deleted | the store | |
//! | through | entries are hidden | the store | new values, in one script |
//! | back | entries are hidden | all logs | new values, in one script |
//!
//! Where the log has no room, a buffered write goes into the store at once, behind those before it.

use super::calls::{Call, Purpose};
use super::{Owner, TaskId};
use crate::buffered_writes::BufferedWrite;
use crate::call::{CacheCall, CacheReply, LogCall, StoreCall};
use crate::config::{Application, Flaw, Policy};
use crate::interval::Interval;
use crate::lease_table::{LeaseId, LeaseMode};
use crate::message::{Action, Notice, RequestId, Session, Value, Write, WriteOutcome};
use crate::query::{Query, Touched};

/// A write in progress.
#[derive(Debug)]
pub(super) struct WriteTask {
    /// `None` once it was answered.
    pub(super) request: Option<RequestId>,
    pub(super) step: WriteStep,
    write: Write,
    lease: LeaseId,
    session: Session,
    /// The entries it may touch; at the end, those that are gone.
    queries: Vec<Query>,
    /// Their values before it, where there were any.
    old: Vec<(Query, Value)>,
    /// Scripts without a reply, under the flaw that makes them many.
    commits: usize,
}

/// How far a write has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteStep {
    /// For its lease.
    Waiting,
    /// For its entries to be cleared.
    Clearing,
    /// For buffered writes of its intervals to be applied.
    Flushing,
    /// For the store.
    Storing,
    /// For so many logs.
    Logging { lsn: u64, missing: usize },
    /// For the store to have it as a buffered write, as a log does not.
    Draining { lsn: u64 },
    /// For its entries to have their new values.
    Committing,
}

impl<A: Application> Owner<A> {
    pub(super) fn begin_write(&mut self, request: RequestId, mut write: Write) {
        self.take_other_domains_whole(&mut write.touched);
        let task = self.next_number();
        let (lease, is_granted) = self.leases.request(LeaseMode::Exclusive, write.touched.clone());
        self.holders.insert(lease, task);
        let (queries, old) = (Vec::new(), Vec::new());
        let step = WriteStep::Waiting;
        let request = Some(request);
        self.writes.insert(
            task,
            WriteTask { request, step, write, lease, session: Session(0), queries, old, commits: 0 },
        );
        if is_granted {
            self.write_granted(task);
        }
    }

    /// A row lies in every domain; where the application does not say at which value, it may be any (P9).
    fn take_other_domains_whole(&self, touched: &mut Vec<Touched>) {
        for domain in 0..self.config.domain_count {
            let is_named = touched.iter().any(|(named, _)| *named == domain);
            if !is_named && !self.is_flawed(Flaw::OneDomainOnly) {
                touched.push((domain, Interval::all()));
            }
        }
    }

    pub(super) fn write_granted(&mut self, task: TaskId) {
        let session = self.new_session();
        let Some(write) = self.writes.get_mut(&task) else { return };
        write.session = session;
        write.step = WriteStep::Clearing;
        let touched = write.write.touched.clone();
        write.queries = self.index.touched(&touched);
        let queries = write.queries.clone();
        if self.is_flawed(Flaw::SplitGapLate) {
            self.late_splits.extend(touched);
        } else {
            self.gaps.split(&touched);
        }
        if queries.is_empty() {
            return self.cleared(task);
        }
        let is_visible = self.is_flawed(Flaw::SwapOneByOne) || self.is_flawed(Flaw::CacheBeforeStore);
        let call = match self.config.policy {
            Policy::WriteAround => CacheCall::Invalidate(session, queries),
            _ if is_visible => CacheCall::Peek(session, queries),
            _ => CacheCall::Hide(session, queries),
        };
        self.call(Purpose::Write(task), Call::Cache(call));
    }

    pub(super) fn write_cache_answered(&mut self, task: TaskId, reply: CacheReply) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        match write.step {
            WriteStep::Clearing => {
                if let CacheReply::Hidden(old) = reply {
                    write.old = old;
                }
                if self.is_flawed(Flaw::CacheBeforeStore) && self.config.policy == Policy::WriteThrough {
                    let entries = self.new_entries(task);
                    let session = self.writes[&task].session;
                    self.call(Purpose::Trim, Call::Cache(CacheCall::Commit(session, entries)));
                }
                self.cleared(task);
            }
            WriteStep::Committing if write.commits > 1 => write.commits -= 1,
            WriteStep::Committing => self.end_write(task),
            _ => {}
        }
    }

    /// Nobody sees the entries: now the write may become durable.
    fn cleared(&mut self, task: TaskId) {
        if self.is_buffering() {
            return self.log_write(task);
        }
        let write = self.writes.get_mut(&task).expect("the caller has it");
        write.step = WriteStep::Flushing;
        match self.buffered.last_overlapping(&write.write.touched) {
            Some(lsn) => self.wait_for_apply(lsn, task),
            None => self.store_write(task),
        }
    }

    pub(super) fn store_write(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        write.step = WriteStep::Storing;
        let command = write.write.command.clone();
        self.call(Purpose::Write(task), Call::Store(StoreCall::Write(command)));
    }

    pub(super) fn write_store_answered(&mut self, task: TaskId, is_done: bool) {
        self.durable_or_refused(task, is_done);
    }

    /// The store has refused it for its epoch: it was not carried out.
    pub(super) fn write_was_fenced(&mut self, task: TaskId) {
        let request = self.writes.get_mut(&task).and_then(|write| write.request.take());
        request.into_iter().for_each(|request| self.answer_write(request, WriteOutcome::Retry));
    }

    fn log_write(&mut self, task: TaskId) {
        let (lsn, missing) = (self.next_lsn, self.config.log_count);
        self.next_lsn += 1;
        let write = self.writes.get_mut(&task).expect("the caller has it");
        write.step = WriteStep::Logging { lsn, missing };
        let logged = write.write.clone();
        let (touched, command) = (logged.touched.clone(), Some(logged.command.clone()));
        self.buffered.insert(lsn, BufferedWrite { touched, command, may_apply: false });
        for server in 0..missing {
            self.call(Purpose::Write(task), Call::Log(server, LogCall::Append(lsn, logged.clone())));
        }
    }

    pub(super) fn write_log_answered(&mut self, task: TaskId, is_kept: bool) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        let WriteStep::Logging { lsn, missing } = write.step else { return };
        if is_kept && missing > 1 {
            write.step = WriteStep::Logging { lsn, missing: missing - 1 };
            return;
        }
        let is_logged = is_kept;
        write.step = WriteStep::Draining { lsn };
        if let Some(buffered) = self.buffered.get_mut(lsn) {
            buffered.may_apply = true;
        }
        if is_logged {
            self.drained(task);
        } else {
            self.write_through_for_a_while();
            self.wait_for_apply(lsn, task);
        }
    }

    pub(super) fn write_through_for_a_while(&mut self) {
        if self.now >= self.write_through_until {
            self.actions.push(Action::Notice(Notice::WritingThrough));
        }
        self.write_through_until = self.now + self.config.write_through_for;
    }

    /// All logs or the store have the buffered write, unless it depends on one that was set aside.
    pub(super) fn drained(&mut self, task: TaskId) {
        let Some(WriteStep::Draining { lsn }) = self.writes.get(&task).map(|write| write.step) else {
            return;
        };
        let was_set_aside = self.applying.was_set_aside(lsn);
        self.durable_or_refused(task, !was_set_aside);
    }

    fn durable_or_refused(&mut self, task: TaskId, is_done: bool) {
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
        if !has_entries || self.config.policy == Policy::WriteAround {
            return self.end_write(task);
        }
        let entries = if is_done { self.new_entries(task) } else { self.old_entries(task) };
        self.commit(task, session, entries);
    }

    fn commit(&mut self, task: TaskId, session: Session, entries: Vec<(Query, Option<Value>)>) {
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

    /// What the entries hold after the write. Where that is not known they are deleted, and forgotten at the end.
    fn new_entries(&mut self, task: TaskId) -> Vec<(Query, Option<Value>)> {
        let write = &self.writes[&task];
        let new = |query: &Query| {
            let old = write.old.iter().find(|(known, _)| known == query).map(|(_, old)| old)?;
            let new = self.application.update(&write.write.command, query, old)?;
            (new.as_bytes().len() <= self.config.largest_value).then_some(new)
        };
        write.queries.iter().map(|query| (query.clone(), new(query))).collect()
    }

    fn old_entries(&self, task: TaskId) -> Vec<(Query, Option<Value>)> {
        let write = &self.writes[&task];
        let old =
            |query: &Query| write.old.iter().find(|(known, _)| known == query).map(|(_, old)| old.clone());
        write.queries.iter().map(|query| (query.clone(), old(query))).collect()
    }

    /// The entries are in their new state: others may come in.
    fn end_write(&mut self, task: TaskId) {
        let Some(mut write) = self.writes.remove(&task) else { return };
        if let Some(request) = write.request.take() {
            self.answer_write(request, WriteOutcome::Done);
        }
        // Deleted, and nobody can have installed them since.
        write.queries.iter().for_each(|query| self.index.remove(query));
        self.release(write.lease);
    }
}
