//! Appends writes to the logs.
//!
//! Writes that come while an append is on its way share the next one: a log server takes several in little more time
//! than one. A second append goes all the same once there is enough for it, so that a log far away is not waited for
//! twice by many.
//!
//! The store gets a buffered write only after its entries were changed: a new owner drops the entries of the writes
//! that it finds in the logs and not in the store (`start.rs`), since they may lack them. Where a log has no room, a
//! buffered write goes into the store at once, after the writes before it, and its entries are hidden until then.

use std::collections::BTreeMap;

use super::calls::{Call, Purpose};
use super::task::WriteStep;
use super::{Owner, TaskId};
use crate::buffered_writes::BufferedWrite;
use crate::call::LogCall;
use crate::config::{Application, Flaw};
use crate::message::{Action, Notice, Write};

/// Writes, and bytes of their commands, that are enough for an append beside others.
const ENOUGH: (usize, usize) = (8, 1 << 20);

/// Writes on their way to the logs.
#[derive(Debug, Clone, Default)]
pub(super) struct Appending {
    tasks: Vec<TaskId>,
    /// Writes of these tasks that were not sent yet, with their numbers.
    waiting: Vec<(u64, Write)>,
    bytes: usize,
    /// Those that were sent together, by the number of the first.
    sent: BTreeMap<u64, Sent>,
}

/// An append that `missing` logs have not acknowledged.
#[derive(Debug, Clone)]
struct Sent {
    tasks: Vec<TaskId>,
    missing: usize,
}

impl Appending {
    fn is_due(&self) -> bool {
        !self.waiting.is_empty()
            && (self.sent.is_empty() || self.waiting.len() >= ENOUGH.0 || self.bytes >= ENOUGH.1)
    }
}

impl<A: Application> Owner<A> {
    pub(super) fn log_write(&mut self, task: TaskId) {
        let lsn = self.next_lsn;
        self.next_lsn += 1;
        let write = self.writes.get_mut(&task).expect("the caller has it");
        write.step = WriteStep::Logging { lsn };
        let logged = write.write.clone();
        let (touched, command) = (logged.touched.clone(), Some(logged.command.clone()));
        self.buffered.insert(lsn, BufferedWrite { touched, command, may_apply: false });
        self.appending.tasks.push(task);
        self.appending.bytes += logged.command.as_bytes().len();
        self.appending.waiting.push((lsn, logged));
        self.append_if_due();
    }

    fn append_if_due(&mut self) {
        if !self.appending.is_due() {
            return;
        }
        let (tasks, writes) =
            (std::mem::take(&mut self.appending.tasks), std::mem::take(&mut self.appending.waiting));
        self.appending.bytes = 0;
        let (first, missing) = (writes[0].0, self.config.log_count);
        let append = LogCall::Append(writes.into());
        self.appending.sent.insert(first, Sent { tasks, missing });
        (0..missing).for_each(|server| self.call(Purpose::Append(first), Call::Log(server, append.clone())));
    }

    /// A log has answered the append whose first write has this number, or never will.
    pub(super) fn append_answered(&mut self, first: u64, is_kept: bool) {
        let is_enough = self.is_flawed(Flaw::OneLogIsEnough);
        let Some(sent) = self.appending.sent.get_mut(&first) else { return };
        if is_kept && sent.missing > 1 && !is_enough {
            sent.missing -= 1;
            return;
        }
        let mut tasks = self.appending.sent.remove(&first).map(|sent| sent.tasks).unwrap_or_default();
        if !is_kept {
            self.write_through_for_a_while();
            // A log that did not take these would not take the others.
            tasks.append(&mut self.appending.tasks);
            self.appending.waiting.clear();
            self.appending.bytes = 0;
        }
        tasks.into_iter().for_each(|task| self.was_logged(task, is_kept));
        self.append_if_due();
    }

    fn was_logged(&mut self, task: TaskId, is_kept: bool) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        let WriteStep::Logging { lsn } = write.step else { return };
        write.step = WriteStep::Draining { lsn };
        if is_kept {
            write.lsn = Some(lsn);
            self.drained(task);
        } else {
            self.hide_entries(task);
        }
    }

    /// The entries of a write that a log did not take are hidden.
    pub(super) fn drain(&mut self, task: TaskId, lsn: u64) {
        self.may_apply(lsn);
        self.wait_for_apply(lsn, task);
    }

    /// The store may have the write; it gets it at once if a task waits for that.
    pub(super) fn may_apply(&mut self, lsn: u64) {
        if let Some(buffered) = self.buffered.get_mut(lsn) {
            buffered.may_apply = true;
        }
        if !self.flushing.is_empty() {
            self.apply_next();
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
        // Until the store has counted it as skipped, the next owner would find it in a log and execute it.
        if was_set_aside && self.buffered.first().is_some_and(|first| first <= lsn) {
            return self.drain(task, lsn);
        }
        self.durable_or_refused(task, !was_set_aside);
    }
}
