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

use super::across::Others;
use super::calls::{Call, Purpose};
use super::{Owner, TaskId};
use crate::buffered_writes::BufferedWrite;
use crate::cache_server::RangeId;
use crate::call::{CacheCall, CacheReply, LogCall, StoreCall};
use crate::config::{Application, Flaw, Policy};
use crate::interval::Interval;
use crate::lease_table::{LeaseId, LeaseMode};
use crate::message::{Action, CallId, Epoch, Notice, PeerId, RequestId, Session, Value, Write, WriteOutcome};
use crate::query::{Query, Touched};

/// A write in progress, or what else takes a lease and clears entries as a write does.
#[derive(Debug, Clone)]
pub(super) struct WriteTask {
    pub(super) kind: Kind,
    /// `None` once it was answered.
    pub(super) request: Option<RequestId>,
    pub(super) step: WriteStep,
    pub(super) write: Write,
    pub(super) lease: LeaseId,
    pub(super) session: Session,
    /// When it was asked for; of what another owner leads, when it must have ended.
    pub(super) time: u64,
    /// The entries it may touch; at the end, those that are gone.
    pub(super) queries: Vec<Query>,
    /// Parts of other ranges whose owners are still to be asked.
    pub(super) others: Others,
    /// Other ranges that are held, and the tenures of their owners.
    pub(super) held: Vec<(RangeId, Epoch)>,
    /// Their values before it, where there were any.
    pub(super) old: Vec<(Query, Value)>,
    /// Scripts without a reply, under the flaw that makes them many.
    pub(super) commits: usize,
}

/// What a task is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A write of this range alone.
    Write,
    /// A write of several ranges, led from here.
    Across,
    /// A read of several ranges, led from here.
    Read(Query),
    /// Several reads of one moment.
    ReadAll(Vec<Query>),
    /// The part of this range in what another owner leads, and whom to answer.
    Guest(PeerId, CallId, LeaseMode),
    /// Somebody writes past the cache, and says so before.
    Bulk,
    /// Somebody has written past the cache.
    Foreign,
}

impl Kind {
    pub(super) const fn mode(&self) -> LeaseMode {
        match self {
            Self::Read(_) | Self::ReadAll(_) => LeaseMode::Shared,
            Self::Guest(_, _, mode) => *mode,
            _ => LeaseMode::Exclusive,
        }
    }
}

/// How far a write has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum WriteStep {
    /// For its lease.
    Waiting,
    /// For its entries to be cleared.
    Clearing,
    /// For buffered writes of its intervals to be applied.
    Flushing,
    /// For owners of other ranges.
    Leading,
    /// For whoever leads it, or loads, to say that it is over.
    Held,
    /// For the store.
    Storing,
    /// For so many logs.
    Logging { lsn: u64, missing: usize },
    /// For the store to have it as a buffered write, as a log does not.
    Draining { lsn: u64 },
    /// For its entries to have their new values.
    Committing,
}

impl Kind {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Across => "write across",
            Self::Read(_) => "read across",
            Self::ReadAll(_) => "read all",
            Self::Guest(..) => "guest",
            Self::Bulk => "bulk load",
            Self::Foreign => "foreign write",
        }
    }
}

impl WriteStep {
    /// Whether nothing that was asked of store or logs can make it durable.
    pub(super) const fn is_before_the_store(self) -> bool {
        matches!(self, Self::Waiting | Self::Clearing | Self::Flushing | Self::Leading | Self::Held)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Clearing => "clearing",
            Self::Flushing => "flushing",
            Self::Leading => "leading",
            Self::Held => "held",
            Self::Storing => "storing",
            Self::Logging { .. } => "logging",
            Self::Draining { .. } => "draining",
            Self::Committing => "committing",
        }
    }
}

impl<A: Application> Owner<A> {
    pub(super) fn begin_write(&mut self, request: RequestId, mut write: Write) {
        self.take_other_domains_whole(&mut write.touched);
        self.load.count(&write.touched);
        let Some((mine, others)) = self.mine_and_others(&write.touched) else {
            return self.redirect(request);
        };
        let kind = if others.is_empty() { Kind::Write } else { Kind::Across };
        write.touched = mine;
        self.begin_task(kind, Some(request), write, others);
    }

    /// Asks for the lease of a task, and goes on if it is granted.
    pub(super) fn begin_task(
        &mut self,
        kind: Kind,
        request: Option<RequestId>,
        write: Write,
        others: Others,
    ) -> TaskId {
        let task = self.next_number();
        let (lease, is_granted) = self.leases.request(kind.mode(), write.touched.clone());
        self.holders.insert(lease, task);
        let new = WriteTask {
            kind,
            request,
            step: WriteStep::Waiting,
            write,
            lease,
            session: Session(task),
            time: self.now,
            queries: Vec::new(),
            others,
            held: Vec::new(),
            old: Vec::new(),
            commits: 0,
        };
        self.writes.insert(task, new);
        if is_granted {
            self.write_granted(task);
        }
        task
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
        if write.kind.mode() == LeaseMode::Shared {
            // Clears nothing, and shows that this owner was not replaced: what it knows of buffered writes is true.
            let show = match &write.kind {
                Kind::ReadAll(queries) => CacheCall::Gather(session, queries.clone(), Vec::new()),
                _ => CacheCall::Invalidate(session, Vec::new()),
            };
            return self.call(Purpose::Write(task), Call::Cache(show));
        }
        let is_plain = write.kind == Kind::Write;
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
            _ if !is_plain => CacheCall::Invalidate(session, queries),
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
        let write = &self.writes[&task];
        if write.kind == Kind::Write && self.is_buffering() {
            return self.log_write(task);
        }
        if write.kind == Kind::Foreign || self.was_released(task) {
            return self.end_write(task);
        }
        let write = self.writes.get_mut(&task).expect("the caller has it");
        write.step = WriteStep::Flushing;
        match self.buffered.last_overlapping(&write.write.touched) {
            Some(lsn) => self.wait_for_apply(lsn, task),
            None => self.flushed(task),
        }
    }

    /// The store has every buffered write of its intervals, and no more can come.
    pub(super) fn flushed(&mut self, task: TaskId) {
        match self.writes.get(&task).map(|write| &write.kind) {
            Some(Kind::Write) => self.store_write(task),
            Some(Kind::Guest(..)) => self.hold_for_peer(task),
            Some(_) => self.lead(task),
            None => {}
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
        let is_cleared = self.writes[&task].kind != Kind::Write || self.config.policy == Policy::WriteAround;
        if !has_entries || is_cleared {
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
    pub(super) fn end_write(&mut self, task: TaskId) {
        let Some(mut write) = self.writes.remove(&task) else { return };
        if matches!(write.kind, Kind::Write | Kind::Across) {
            self.writes_done += 1;
            self.auto_beta.was_written();
        }
        if let Some(request) = write.request.take() {
            self.answer_write(request, WriteOutcome::Done);
        }
        // Deleted, and nobody can have installed them since.
        write.queries.iter().for_each(|query| self.forget_entry(query));
        self.release_peers(task, &write);
        self.release(write.lease);
    }
}
