//! Appends writes to the logs.
//!
//! The store gets a buffered write only after its entries were changed: a new owner drops the entries of the writes
//! that it finds in the logs and not in the store (`start.rs`), since they may lack them. Where a log has no room, a
//! buffered write goes into the store at once, after the writes before it, and its entries are hidden until then.

use super::calls::{Call, Purpose};
use super::task::WriteStep;
use super::{Owner, TaskId};
use crate::buffered_writes::BufferedWrite;
use crate::call::LogCall;
use crate::config::Application;
use crate::message::{Action, Notice};

impl<A: Application> Owner<A> {
    pub(super) fn log_write(&mut self, task: TaskId) {
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
        write.step = WriteStep::Draining { lsn };
        if is_kept {
            write.lsn = Some(lsn);
            return self.drained(task);
        }
        self.write_through_for_a_while();
        self.hide_entries(task);
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
