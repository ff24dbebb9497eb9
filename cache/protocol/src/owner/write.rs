//! Writes.
//!
//! All clear the entries they touch first, and hold an exclusive lease until the entries have their new values: no
//! client can see the new row through one entry and afterwards the old row through another (P1), or a row that the
//! store then refuses (P2). A write is acknowledged as soon as it is durable; reads that come meanwhile wait for
//! the lease.
//!
//! | policy | before | durable by | after |
//! | --- | --- | --- | --- |
//! | around | entries are deleted | the store | |
//! | through | entries are hidden | the store | new values, in one script |
//! | back, certain | entries are hidden | all logs | new values, in one script |
//! | back, in doubt | entries are hidden | the store | new values, in one script |
//!
//! Under write-back a write goes into the logs only if the store cannot refuse it any more (P14,
//! [`Application::is_certain`]).
//!
//! This file covers a write until no client sees its entries; making the write durable and updating its entries
//! are in `buffer.rs` and `commit.rs`.

use super::across::Others;
use super::calls::{Call, Purpose};
use super::task::{Kind, WriteStep, WriteTask};
use super::{Owner, TaskId};
use crate::call::{CacheCall, CacheReply, StoreCall};
use crate::config::{Application, Flaw, Policy};
use crate::interval::Interval;
use crate::lease_table::LeaseMode;
use crate::message::{RequestId, Session, Write, WriteOutcome};
use crate::query::Touched;

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
            session: Session(task),
            time: self.now,
            queries: Vec::new(),
            others,
            held: Vec::new(),
            old: Vec::new(),
            empty: Vec::new(),
            commits: 0,
        };
        self.writes.insert(task, new);
        if is_granted {
            self.write_granted(task);
        }
        task
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
        let session = self.new_session();
        let Some(write) = self.writes.get_mut(&task) else { return };
        write.session = session;
        if write.kind.mode() == LeaseMode::Shared {
            write.step = WriteStep::Clearing;
            // Clears nothing, but proves that this owner was not replaced: its index of buffered writes is
            // complete (P3).
            let show = match &write.kind {
                Kind::ReadAll(queries) => CacheCall::Gather(session, queries.clone(), Vec::new()),
                _ => CacheCall::Invalidate(session, Vec::new()),
            };
            return self.call(Purpose::Write(task), Call::Cache(show));
        }
        let is_plain = write.kind == Kind::Write;
        let touched = write.write.touched.clone();
        let queries = self.index.touched(&touched);
        let is_visible = self.is_flawed(Flaw::SwapOneByOne) || self.is_flawed(Flaw::CacheBeforeStore);
        let hides = is_plain && self.config.policy != Policy::WriteAround && !is_visible;
        if hides && !self.turns.take(task, &queries) {
            return;
        }
        let empty = if hides && self.is_buffering() { self.gaps.covering(&touched) } else { Vec::new() };
        let write = self.writes.get_mut(&task).expect("it was there");
        (write.step, write.queries, write.empty) = (WriteStep::Clearing, queries.clone(), empty);
        if self.is_flawed(Flaw::SplitGapLate) {
            self.late_splits.extend(touched);
        } else {
            self.gaps.split(&touched);
        }
        if queries.is_empty() {
            return self.cleared(task);
        }
        let call = if hides {
            CacheCall::Hide(session, queries)
        } else if is_plain && self.config.policy != Policy::WriteAround {
            CacheCall::Peek(session, queries)
        } else {
            CacheCall::Invalidate(session, queries)
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

    /// No client sees the entries any more: now the write may become durable.
    fn cleared(&mut self, task: TaskId) {
        let write = &self.writes[&task];
        if write.kind == Kind::Write && self.is_buffering() && self.is_certain(write) {
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

    /// Whether the store cannot refuse the write (P14). Entries show every acknowledged write, and the lease keeps
    /// others away until this write has its number after them; a replaced owner, which may know less, is refused
    /// by the logs.
    fn is_certain(&self, write: &WriteTask) -> bool {
        let mut shown = write.old.clone();
        shown.extend(write.empty.iter().map(|query| (query.clone(), self.application.empty(query))));
        self.is_flawed(Flaw::BufferInDoubt) || self.application.is_certain(&write.write.command, &shown)
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

    /// The store has refused it for its epoch (P3): it was not executed.
    pub(super) fn write_was_fenced(&mut self, task: TaskId) {
        let request = self.writes.get_mut(&task).and_then(|write| write.request.take());
        request.into_iter().for_each(|request| self.answer_write(request, WriteOutcome::Retry));
    }
}
