//! Applies buffered writes to the store, in order, one transaction at a time.

use std::collections::BTreeSet;

use super::calls::{Call, Purpose};
use super::task::{WriteStep, WriteTask};
use super::{Owner, TaskId};
use crate::call::{CacheCall, LogCall, StoreCall};
use crate::config::{Application, Flaw};
use crate::message::{Action, Command, Notice};
use crate::query::Touched;

/// Applied writes after which the logs are trimmed, at the latest.
const TRIM_WRITES: u64 = 64;
/// How long to wait before the logs are trimmed of fewer.
const TRIM_PAUSE_MS: u64 = 100;

/// The state of the transaction in flight.
#[derive(Debug, Clone, Default)]
pub(super) struct Applying {
    /// Numbers of the transaction in flight.
    batch: Vec<u64>,
    /// When the last one began.
    began_at: u64,
    /// Buffered writes that were refused for good, and those that depend on them.
    aside: BTreeSet<u64>,
    /// Whether entries that show them are being dropped.
    is_dropping: bool,
    /// Since when the store has reported a temporary refusal.
    retried_since: Option<u64>,
    /// Whether to send commands unmerged, because a merged one was refused.
    unfolded: bool,
    /// The number of the last trim of the logs, and its time.
    trimmed: u64,
    trimmed_at: u64,
}

impl Applying {
    pub(super) const fn is_idle(&self) -> bool {
        self.batch.is_empty()
    }

    pub(super) fn was_set_aside(&self, lsn: u64) -> bool {
        self.aside.contains(&lsn)
    }
}

/// The store's answer to a transaction.
pub(super) enum ApplyReply {
    Done,
    Refused { lsn: u64, retry: bool },
}

impl<A: Application> Owner<A> {
    /// Continues a task once the buffered write `lsn` is in the store.
    pub(super) fn wait_for_apply(&mut self, lsn: u64, task: TaskId) {
        self.flushing.push((lsn, task));
        self.apply_next();
    }

    /// Sends the next transaction if it need not wait for more writes.
    pub(super) fn apply_if_due(&mut self) {
        let is_awaited = !self.flushing.is_empty() || !self.is_serving();
        let is_full = self.buffered.len() >= self.config.apply_batch || !self.admission.is_empty();
        if is_awaited || is_full || self.now - self.applying.began_at >= self.config.apply_pause {
            self.apply_next();
        }
    }

    /// Sends the next transaction, unless one is in flight.
    pub(super) fn apply_next(&mut self) {
        if !self.applying.batch.is_empty() || self.applying.is_dropping {
            return;
        }
        let max = if self.applying.unfolded { 1 } else { self.config.apply_batch };
        let mut commands = self.next_commands(max);
        if self.is_flawed(Flaw::ApplyBackwards) {
            commands.reverse();
        }
        if !commands.is_empty() {
            self.applying.batch = commands.iter().map(|(lsn, _)| *lsn).collect();
            self.applying.began_at = self.now;
            self.call(Purpose::Apply, Call::Store(StoreCall::Apply(commands)));
        }
    }

    /// The next commands; one that is merged into a later one is left out.
    fn next_commands(&self, max: usize) -> Vec<(u64, Option<Command>)> {
        let mut batch: Vec<(u64, Option<Command>)> = Vec::new();
        let mut touched: Vec<&[Touched]> = Vec::new();
        for (lsn, write) in self.buffered.next_to_apply(max) {
            let mut command = write.command.clone();
            let before = self.buffered.last_overlapping_before(lsn, &write.touched);
            let before = before.and_then(|before| batch.binary_search_by_key(&before, |(lsn, _)| *lsn).ok());
            if let Some(place) = before.filter(|place| touched[*place] == write.touched)
                && let (Some(first), Some(second)) = (&batch[place].1, &command)
                && let Some(both) = self.application.merge(first, second)
            {
                (batch[place].1, command) = (None, Some(both));
            }
            batch.push((lsn, command));
            touched.push(&write.touched);
        }
        batch
    }

    pub(super) fn apply_answered(&mut self, reply: ApplyReply) {
        let batch = std::mem::take(&mut self.applying.batch);
        match reply {
            ApplyReply::Done => {
                self.applying.retried_since = None;
                self.applying.unfolded = false;
                // Exactly what was applied (P6).
                batch.iter().for_each(|lsn| drop(self.buffered.remove(*lsn)));
                self.trim_logs_if_due();
                self.go_on_flushed();
                self.forget_aside();
                self.go_on_starting();
                self.admit();
                self.apply_if_due();
            }
            // A later tick tries again: the write was acknowledged.
            ApplyReply::Refused { retry: true, .. } if self.may_retry() => {}
            ApplyReply::Refused { .. } if !self.applying.unfolded && batch.len() > 1 => {
                self.applying.unfolded = true;
                self.apply_next();
            }
            ApplyReply::Refused { lsn, .. } => self.set_aside(lsn),
        }
    }

    /// A store that is busy or short of a resource is retried for `apply_patience` before acknowledged writes are
    /// given up.
    fn may_retry(&mut self) -> bool {
        let since = *self.applying.retried_since.get_or_insert(self.now);
        self.now - since < self.config.apply_patience
    }

    /// The store will never take the write: the writes that depend on it are not sent, entries that show them are
    /// dropped, and the application is notified of those that were acknowledged.
    fn set_aside(&mut self, lsn: u64) {
        self.applying.retried_since = None;
        let aside = self.buffered.dependants(lsn);
        let unanswered: BTreeSet<u64> = self
            .writes
            .values()
            .filter(|write| write.request.is_some())
            .filter_map(|write| match write.step {
                WriteStep::Logging { lsn } | WriteStep::Draining { lsn } => Some(lsn),
                _ => None,
            })
            .collect();
        let (mut told, mut touched) = (Vec::new(), Vec::new());
        for lsn in aside {
            let Some(write) = self.buffered.get_mut(lsn) else { continue };
            touched.extend(write.touched.iter().cloned());
            if let Some(command) = write.command.take()
                && !unanswered.contains(&lsn)
            {
                told.push((lsn, command));
            }
            self.applying.aside.insert(lsn);
        }
        if !told.is_empty() {
            self.actions.push(Action::Notice(Notice::SetAside(told)));
        }
        self.write_through_for_a_while();
        self.applying.is_dropping = true;
        self.doubt_reads(&touched);
        // What is remembered of these rows is what the store has refused (P14).
        self.known.take(&touched);
        let queries = self.index.read().touched(&touched);
        if queries.is_empty() {
            return self.entries_were_dropped();
        }
        let session = self.new_session();
        self.call(Purpose::SetAside, Call::Cache(CacheCall::Invalidate(session, queries)));
    }

    pub(super) fn entries_were_dropped(&mut self) {
        self.applying.is_dropping = false;
        self.apply_next();
    }

    /// Of a write that was set aside nothing need be known once the store has counted it and no task waits for it.
    fn forget_aside(&mut self) {
        if self.applying.aside.is_empty() {
            return;
        }
        let first_left = self.buffered.first().unwrap_or(u64::MAX);
        let awaited: BTreeSet<u64> = self.writes.values().filter_map(WriteTask::number).collect();
        self.applying.aside.retain(|lsn| *lsn >= first_left || awaited.contains(lsn));
    }

    /// Continues the tasks that waited for writes that the store now has.
    fn go_on_flushed(&mut self) {
        let first_left = self.buffered.first().unwrap_or(u64::MAX);
        let (ready, waiting) =
            std::mem::take(&mut self.flushing).into_iter().partition(|(lsn, _)| *lsn < first_left);
        self.flushing = waiting;
        for (_, task) in ready {
            match self.writes.get(&task).map(|write| write.step) {
                Some(WriteStep::Draining { .. }) => self.drained(task),
                Some(WriteStep::Flushing) => self.flushed(task),
                _ => self.read_flushed(task),
            }
        }
    }

    /// Trims the logs up to what the store has. Not during a take-over: until it is complete, the next one needs
    /// all of them.
    pub(super) fn trim_logs(&mut self) {
        if !self.is_serving() && !self.is_stopping() {
            return;
        }
        let applied = self.applied();
        (self.applying.trimmed, self.applying.trimmed_at) = (applied, self.now);
        for server in 0..self.config.log_count {
            self.call(Purpose::Trim, Call::Log(server, LogCall::Trim(applied)));
        }
    }

    /// The same, if there is something to trim and the last trim was not a moment ago: it is a round trip to every
    /// copy.
    pub(super) fn trim_logs_if_due(&mut self) {
        let new = self.applied().saturating_sub(self.applying.trimmed);
        let is_due = new >= TRIM_WRITES || self.now - self.applying.trimmed_at >= TRIM_PAUSE_MS;
        if new > 0 && (is_due || self.is_stopping()) {
            self.trim_logs();
        }
    }

    /// The store has every buffered write up to this number.
    fn applied(&self) -> u64 {
        self.buffered.first().unwrap_or(self.next_lsn) - 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::call::{CacheReply, LogReply, StoreReply, StoreState};
    use crate::config::{Config, Fact, Policy};
    use crate::interval::Interval;
    use crate::message::{Epoch, Event, RequestId, Value, Write, WriteOutcome};
    use crate::query::Query;

    /// Has every write buffered.
    #[derive(Debug)]
    struct Certain;

    impl Application for Certain {
        fn is_certain(&self, _: &Command, _: &[(Query, Value)], _: &[Fact]) -> bool {
            true
        }

        fn empty(&self, _: &Query) -> Value {
            Value::new(b"")
        }
    }

    /// The answer to a call, of a store that refuses every buffered write.
    fn answer(action: Action) -> Option<Event> {
        Some(match action {
            Action::Cache(call, ..) => Event::Cache(call, CacheReply::Done),
            Action::Log(_, call, _, LogCall::Fence) => {
                Event::Log(call, LogReply::Kept { writes: Vec::new(), is_whole: true })
            }
            Action::Log(_, call, ..) => Event::Log(call, LogReply::Done),
            Action::Store(call, _, StoreCall::Fence) => {
                let state = StoreState { applied_lsn: 0, recovered: Epoch(0), is_buffered: false };
                Event::Store(call, StoreReply::State(state))
            }
            Action::Store(call, _, StoreCall::Apply(writes)) => {
                let refused = writes.iter().find(|(_, command)| command.is_some());
                let refuse = |(lsn, _): &(u64, _)| StoreReply::Refused { lsn: Some(*lsn), retry: false };
                Event::Store(call, refused.map_or(StoreReply::Done, refuse))
            }
            Action::Store(call, ..) => Event::Store(call, StoreReply::Done),
            _ => return None,
        })
    }

    fn drive(owner: &mut Owner<Certain>, event: Event) -> Vec<WriteOutcome> {
        let (mut events, mut outcomes) = (VecDeque::from([event]), Vec::new());
        while let Some(event) = events.pop_front() {
            for action in owner.handle(0, event) {
                if let Action::WriteDone(_, outcome) = &action {
                    outcomes.push(*outcome);
                }
                events.extend(answer(action));
            }
        }
        outcomes
    }

    #[test]
    fn what_was_set_aside_is_forgotten_once_the_store_has_counted_it() {
        let config = Config { log_count: 1, write_through_for: 0, ..Config::new(Policy::WriteBack) };
        let mut owner = Owner::new(config, Certain, Epoch(1));
        assert!(drive(&mut owner, Event::Tick).is_empty() && owner.is_serving());
        for number in 1..=3 {
            let touched = vec![(0, Interval::point(number.into()))];
            let write = Write { touched, command: Command::new(b"raise") };
            let outcomes = drive(&mut owner, Event::Write(RequestId(number), write));
            assert_eq!((&outcomes[..], owner.buffered().len()), (&[WriteOutcome::Done][..], 1), "{number}");
            drive(&mut owner, Event::Tick);
            assert!(owner.buffered().is_empty() && owner.applying.aside.is_empty(), "{number}");
        }
    }
}
