//! Writes.
//!
//! All hold an exclusive lease until the entries that they touch have their new values. A write that the store may
//! refuse makes its entries invisible first: no client can see the new row in the store or through one entry, and
//! afterwards the old row through another (P1), or a row that the store then refuses (P2). A buffered write needs
//! that not: one script changes all its entries once it is in the logs, and then it is acknowledged. Reads that come
//! meanwhile wait for the lease.
//!
//! | policy | before | durable by | acknowledged | after |
//! | --- | --- | --- | --- | --- |
//! | around | entries are deleted | the store | when durable | |
//! | through | entries are hidden | the store | when durable | changed and shown, in one script |
//! | back, certain | | all logs | when changed | changed, in one script |
//! | back, in doubt | entries are hidden | the store | when durable | changed and shown, in one script |
//!
//! Under write-back a write goes into the logs only if the store cannot refuse it any more (P14,
//! [`Application::is_certain`]).
//!
//! This file covers a write until it may become durable, and its end; the logs are in `buffer.rs`, its entries in
//! `patching.rs`.

use super::across::Others;
use super::calls::{Call, Purpose};
use super::task::{Kind, WriteStep, WriteTask};
use super::{Owner, TaskId};
use crate::call::{CacheCall, CacheReply, StoreCall};
use crate::config::{Application, Flaw, Policy};
use crate::interval::Interval;
use crate::lease_table::LeaseMode;
use crate::message::{RequestId, Value, Write, WriteOutcome};
use crate::query::{Query, Touched};

impl<A: Application> Owner<A> {
    pub(super) fn begin_write(&mut self, request: RequestId, mut write: Write) {
        self.take_as_numbered(&mut write);
        self.load.count(&write.touched);
        let Some((mine, others)) = self.mine_and_others(&write.touched) else {
            return self.redirect(request);
        };
        let kind = if others.is_empty() { Kind::Write } else { Kind::Across };
        write.touched = mine;
        self.begin_task(kind, Some(request), write, others);
    }

    /// Requests the lease of a task, and continues if it is granted.
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
            time: self.now,
            asked: self.now,
            queries: Vec::new(),
            wishes: Vec::new(),
            is_hiding: false,
            lsn: None,
            is_done: false,
            facts: Vec::new(),
            others,
            held: Vec::new(),
            unconfirmed: 0,
            old: Vec::new(),
            empty: Vec::new(),
            is_released: false,
        };
        self.writes.insert(task, new);
        if is_granted {
            self.write_granted(task);
        }
        task
    }

    /// Takes every domain whole if the application numbers them otherwise, else those that the write does not name.
    pub(super) fn take_as_numbered(&self, write: &mut Write) {
        if !self.application.numbers_domains_of(&write.command) {
            write.touched.clear();
        }
        self.take_other_domains_whole(&mut write.touched);
    }

    /// A row has a value in every domain; where the application does not name it, it may be any value (P9).
    fn take_other_domains_whole(&self, touched: &mut Vec<Touched>) {
        for domain in 0..self.config.domain_count {
            let is_named = touched.iter().any(|(named, _)| *named == domain);
            if !is_named && !self.is_flawed(Flaw::OneDomainOnly) {
                touched.push((domain, Interval::all()));
            }
        }
    }

    pub(super) fn write_granted(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        write.step = WriteStep::Clearing;
        if write.kind.mode() == LeaseMode::Shared {
            return self.prove_presence(task);
        }
        let touched = write.write.touched.clone();
        let facts = self.known.take(&touched);
        let queries = self.index.read().touched(&touched);
        let empty = if self.is_buffering() { self.gaps.covering(&touched) } else { Vec::new() };
        if self.is_flawed(Flaw::SplitGapLate) {
            self.late_splits.extend(touched);
        } else {
            self.gaps.split(&touched);
        }
        if self.is_plain_write(task) && self.config.policy != Policy::WriteAround {
            let command = self.writes[&task].write.command.clone();
            let wishes = self.wishes(&command, &queries);
            let write = self.writes.get_mut(&task).expect("it was there");
            (write.wishes, write.facts, write.empty) = (wishes, facts, empty);
            return self.decide(task, queries);
        }
        if self.is_plain_write(task) {
            self.auto_beta.was_written(queries.len().saturating_sub(1) as u64);
        }
        if queries.is_empty() {
            return self.cleared(task);
        }
        self.writes.get_mut(&task).expect("it was there").queries.clone_from(&queries);
        let session = self.new_session();
        self.call(Purpose::Write(task), Call::Cache(CacheCall::Invalidate(session, queries)));
    }

    /// Deletes no entry. A reply proves that this owner was not replaced, so its index of buffered writes is complete (P3).
    fn prove_presence(&mut self, task: TaskId) {
        let session = self.new_session();
        let show = match &self.writes[&task].kind {
            Kind::ReadAll(queries) => CacheCall::Gather(session, queries.clone(), Vec::new()),
            _ => CacheCall::Invalidate(session, Vec::new()),
        };
        self.call(Purpose::Write(task), Call::Cache(show));
    }

    /// Whether the task is a write of this range alone.
    pub(super) fn is_plain_write(&self, task: TaskId) -> bool {
        self.writes.get(&task).is_some_and(|write| write.kind == Kind::Write)
    }

    /// Buffers a write that is certain, and reads its entries if it could be so by what they show.
    fn decide(&mut self, task: TaskId, queries: Vec<Query>) {
        if !self.is_buffering() {
            return self.write_through(task);
        }
        if self.is_certain(&self.writes[&task]) {
            return self.log_write(task);
        }
        if queries.is_empty() {
            return self.write_through(task);
        }
        let session = self.new_session();
        self.call(Purpose::Write(task), Call::Cache(CacheCall::Gather(session, queries, Vec::new())));
    }

    pub(super) fn write_entries_read(&mut self, task: TaskId, values: Vec<(Query, Value)>) {
        let shown = self.settled(values);
        let Some(write) = self.writes.get_mut(&task) else { return };
        write.old = shown;
        if self.is_buffering() && self.is_certain(&self.writes[&task]) {
            self.log_write(task);
        } else {
            self.write_through(task);
        }
    }

    /// Whether the store cannot refuse the write (P14). Entries show every acknowledged write, and the lease keeps
    /// others away until this write has its number after them; a replaced owner, which may know less, is refused
    /// by the logs.
    fn is_certain(&self, write: &WriteTask) -> bool {
        let mut shown = write.old.clone();
        shown.extend(write.empty.iter().map(|query| (query.clone(), self.application.empty(query))));
        self.is_flawed(Flaw::BufferInDoubt)
            || self.application.is_certain(&write.write.command, &shown, &write.facts)
    }

    fn write_through(&mut self, task: TaskId) {
        let write = self.writes.get_mut(&task).expect("the caller has it");
        (write.step, write.old) = (WriteStep::Hiding, Vec::new());
        if self.is_flawed(Flaw::ShowWhileStoring) || self.is_flawed(Flaw::SwapOneByOne) {
            return self.cleared(task);
        }
        if self.is_flawed(Flaw::CacheBeforeStore) {
            let wishes = self.writes[&task].wishes.clone();
            self.wish(None, wishes);
            self.writes.get_mut(&task).expect("it was there").wishes.clear();
        }
        self.hide_entries(task);
    }

    /// The entries of a write are hidden, or those of a write that a log did not take.
    pub(super) fn entries_are_hidden(&mut self, task: TaskId) {
        match self.writes.get(&task).map(|write| write.step) {
            Some(WriteStep::Hiding) => self.cleared(task),
            Some(WriteStep::Draining { lsn }) => self.drain(task, lsn),
            _ => {}
        }
    }

    pub(super) fn write_cache_answered(&mut self, task: TaskId, reply: CacheReply) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        match (write.step, reply) {
            (WriteStep::Clearing, CacheReply::Gathered(values)) if write.kind == Kind::Write => {
                self.write_entries_read(task, values);
            }
            (WriteStep::Clearing, CacheReply::Gathered(values)) => {
                self.writes.get_mut(&task).expect("it was there").old = self.settled(values);
                self.cleared(task);
            }
            (WriteStep::Clearing, _) => self.cleared(task),
            _ => {}
        }
    }

    /// Values as the store would give them. One that only the store knows is left out.
    pub(super) fn settled(&self, values: Vec<(Query, Value)>) -> Vec<(Query, Value)> {
        let settle = |(query, value): (Query, Value)| {
            let settled = self.application.settle(&query, &value)?;
            Some((query, settled))
        };
        values.into_iter().filter_map(settle).collect()
    }

    /// No client sees the entries any more: now the write may become durable.
    fn cleared(&mut self, task: TaskId) {
        if self.writes[&task].kind == Kind::Foreign || self.was_released(task) {
            return self.end_write(task);
        }
        let write = self.writes.get_mut(&task).expect("the caller has it");
        write.step = WriteStep::Flushing;
        match self.buffered.last_overlapping(&write.write.touched) {
            Some(lsn) => self.wait_for_apply(lsn, task),
            None => self.flushed(task),
        }
    }

    /// The store has every buffered write of its intervals, and no more can come while the lease is held.
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

    /// It was not executed, and may be tried again: the store has refused it for its epoch (P3), or for others that hold its rows.
    pub(super) fn write_may_be_repeated(&mut self, task: TaskId) {
        let request = self.writes.get_mut(&task).and_then(|write| write.request.take());
        request.into_iter().for_each(|request| self.answer_write(request, WriteOutcome::Retry));
    }

    pub(super) fn durable_or_refused(&mut self, task: TaskId, is_done: bool) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        // The entries of a buffered write are visible: it is acknowledged when they are changed.
        let is_visible = !write.is_hiding && !write.wishes.is_empty();
        write.step = WriteStep::Patching;
        if !(is_done && is_visible)
            && let Some(request) = write.request.take()
        {
            self.answer_write(request, if is_done { WriteOutcome::Done } else { WriteOutcome::Refused });
        }
        self.writes.get_mut(&task).expect("it was there").is_done = is_done;
        self.change_entries(task, is_done);
    }

    /// The entries show what the write has done: it may end, and the store may have it if it was buffered.
    pub(super) fn entries_are_changed(&mut self, task: TaskId) {
        let Some(write) = self.writes.get(&task) else { return };
        let was_set_aside = write.lsn.is_some_and(|lsn| self.applying.was_set_aside(lsn));
        if write.is_done && write.kind == Kind::Write && !was_set_aside {
            let facts = self.application.facts_after(&write.write.command);
            self.known.learn(facts);
        }
        self.end_write(task);
    }

    /// Waiting requests may proceed.
    pub(super) fn end_write(&mut self, task: TaskId) {
        let Some(mut write) = self.writes.remove(&task) else { return };
        if let Some(request) = write.request.take() {
            self.answer_write(request, WriteOutcome::Done);
        }
        if let Some(lsn) = write.lsn {
            self.may_apply(lsn);
        }
        // Deleted, and under the exclusive lease no reader can have installed them since.
        write.queries.iter().for_each(|query| self.forget_entry(query));
        self.release_peers(task, &write);
        self.release(write.lease);
        self.admit();
    }
}
