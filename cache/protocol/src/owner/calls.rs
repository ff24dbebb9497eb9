//! Calls in flight: which task waits for each, and what happens when no reply comes.

use super::apply::ApplyReply;
use super::task::WriteStep;
use super::{Owner, TaskId};
use crate::cache_model::RangeId;
use crate::call::{CacheCall, CacheReply, LogCall, LogReply, StoreCall, StoreReply};
use crate::config::Application;
use crate::message::{Action, CallId, Ending, PeerCall, PeerId, PeerReply, ReadOutcome};

/// The recipient of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Start,
    Read(TaskId),
    Write(TaskId),
    /// Buffered writes that go to the logs together, by the number of the first.
    Append(u64),
    /// A check of the fence: whether the store's answer to a read counts.
    Proof(TaskId),
    /// Part of a read, by its index.
    Part(TaskId, usize),
    /// The owner of another range.
    Peer(TaskId),
    Apply,
    SetAside,
    /// Changes of entries.
    Entries,
    /// Entries that make room for others.
    Evict,
    /// A chunk of the log.
    Compact(u32),
    /// A check of the fence: whether a difference between cache and store is of a foreign write.
    Suspicion,
    /// The record that the store has every buffered write.
    Drained,
    /// No task waits for it.
    Trim,
}

#[derive(Debug, Clone)]
pub(super) enum Call {
    Cache(CacheCall),
    Store(StoreCall),
    Log(usize, LogCall),
    Peer(RangeId, PeerId, PeerCall),
}

/// A call without a reply.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    purpose: Purpose,
    call: Call,
    attempt: u32,
    deadline: u64,
}

impl Pending {
    pub(super) fn is_start(&self) -> bool {
        self.purpose == Purpose::Start
    }
}

impl<A: Application> Owner<A> {
    pub(super) fn call(&mut self, purpose: Purpose, call: Call) {
        self.send(purpose, call, 1);
    }

    fn send(&mut self, purpose: Purpose, call: Call, attempt: u32) {
        let id = CallId(self.next_number());
        self.actions.push(match call.clone() {
            Call::Cache(call) => Action::Cache(id, self.epoch, call),
            Call::Store(call) => Action::Store(id, self.epoch, call),
            Call::Log(server, call) => Action::Log(server, id, self.epoch, call),
            Call::Peer(range, me, call) => Action::Peer(id, range, me, call),
        });
        let deadline = self.now + self.config.call_timeout;
        self.calls.insert(id, Pending { purpose, call, attempt, deadline });
    }

    pub(super) fn cache_answered(&mut self, id: CallId, reply: CacheReply) {
        let Some(pending) = self.calls.remove(&id) else { return };
        if reply == CacheReply::Fenced {
            return self.end(Ending::CacheLost);
        }
        match pending.purpose {
            Purpose::Start => {
                if let CacheReply::Warm(chunks) = &reply {
                    self.take_over_entries(chunks);
                }
                self.go_on_starting();
            }
            Purpose::Read(task) => {
                if let (Call::Cache(CacheCall::Lookup(..)), CacheReply::Found(_)) = (&pending.call, &reply) {
                    self.auto_beta.was_read(true);
                }
                self.read_cache_answered(task, reply);
            }
            Purpose::Part(task, _) => self.part_installed(task, &reply),
            Purpose::Write(task) => self.write_cache_answered(task, reply),
            Purpose::SetAside => self.entries_were_dropped(),
            Purpose::Entries => self.entries_answered(reply),
            Purpose::Evict => self.entries_were_evicted(),
            Purpose::Compact(chunk) => self.compaction_answered(chunk, Some(reply)),
            Purpose::Append(_)
            | Purpose::Apply
            | Purpose::Trim
            | Purpose::Peer(_)
            | Purpose::Suspicion
            | Purpose::Proof(_)
            | Purpose::Drained => {}
        }
    }

    pub(super) fn store_answered(&mut self, id: CallId, reply: StoreReply) {
        let Some(pending) = self.calls.remove(&id) else { return };
        if reply == StoreReply::Fenced {
            if let (Purpose::Write(task), Call::Store(StoreCall::WriteAcross(..))) =
                (pending.purpose, &pending.call)
            {
                // The reply does not say whose fence was newer; if it was that of this range, the next call shows it.
                return self.give_up_leading(task);
            }
            if let Purpose::Write(task) = pending.purpose {
                self.write_may_be_repeated(task);
            }
            return self.end(Ending::Fenced);
        }
        match (pending.purpose, reply) {
            (Purpose::Start, reply) => self.start_store_answered(reply),
            (Purpose::Read(task), StoreReply::Rows(rows)) => self.read_rows(task, rows),
            (Purpose::Part(task, part), StoreReply::Rows(rows)) => self.part_rows(task, part, rows),
            (Purpose::Write(task), StoreReply::Rows(rows)) => self.read_across_done(task, rows),
            (Purpose::Write(task), StoreReply::Refused { retry: true, .. })
                if pending.attempt < self.config.attempts =>
            {
                // A refused call was not executed: repeating it is safe.
                self.send(Purpose::Write(task), pending.call, pending.attempt + 1);
            }
            (Purpose::Write(task), reply) => {
                if matches!(reply, StoreReply::Refused { retry: true, .. }) {
                    // The same may succeed later: who asks decides how long to try.
                    self.write_may_be_repeated(task);
                }
                self.write_store_answered(task, reply == StoreReply::Done);
            }
            (Purpose::Apply, StoreReply::Refused { lsn: Some(lsn), retry }) => {
                self.apply_answered(ApplyReply::Refused { lsn, retry });
            }
            (Purpose::Apply, StoreReply::Done) => self.apply_answered(ApplyReply::Done),
            (Purpose::Suspicion, StoreReply::Done) => self.suspicion_is_proven(),
            (Purpose::Proof(task), StoreReply::Done) => self.read_is_proven(task),
            (Purpose::Drained, _) => self.drained_is_recorded(),
            _ => {}
        }
    }

    pub(super) fn log_answered(&mut self, id: CallId, reply: LogReply) {
        let Some(pending) = self.calls.remove(&id) else { return };
        match (pending.purpose, reply) {
            (Purpose::Trim, _) => {}
            (_, LogReply::Fenced) => self.end(Ending::Fenced),
            (Purpose::Start, reply) => self.start_log_answered(Some(reply)),
            (Purpose::Append(first), reply) => self.append_answered(first, reply == LogReply::Done),
            _ => {}
        }
    }

    /// The driver knows that no reply will come: waiting gains nothing.
    pub(super) fn give_up_on(&mut self, id: CallId) {
        if let Some(pending) = self.calls.get_mut(&id) {
            pending.deadline = self.now;
            self.give_up_late_calls();
        }
    }

    /// The same of a call that would fail again.
    pub(super) fn give_up_at_once(&mut self, id: CallId) {
        if let Some(pending) = self.calls.remove(&id) {
            self.give_up(pending);
        }
    }

    pub(super) fn peer_answered(&mut self, id: CallId, reply: PeerReply) {
        let Some(pending) = self.calls.remove(&id) else { return };
        match (pending.purpose, reply, pending.call) {
            (Purpose::Peer(task), PeerReply::Held(epoch), Call::Peer(range, ..)) => {
                self.peer_holds(task, range, epoch);
            }
            (Purpose::Peer(task), ..) => self.give_up_leading(task),
            _ => {}
        }
    }

    /// Repeats calls whose reply did not come in time, or gives them up.
    pub(super) fn give_up_late_calls(&mut self) {
        let late: Vec<CallId> =
            self.calls.iter().filter(|(_, call)| call.deadline <= self.now).map(|(id, _)| *id).collect();
        for id in late {
            // An earlier call of the list may have ended the tenure, or a task.
            let Some(pending) = self.calls.remove(&id) else { continue };
            if pending.attempt < self.config.attempts
                && Self::may_repeat(&pending)
                && self.is_wanted(&pending)
            {
                self.send(pending.purpose, pending.call, pending.attempt + 1);
            } else {
                self.give_up(pending);
            }
        }
    }

    /// Whether anything still waits for the reply: a call for a lease that is repeated after its task has released it would make a
    /// guest that no message ends.
    fn is_wanted(&self, pending: &Pending) -> bool {
        let Purpose::Peer(task) = pending.purpose else { return true };
        let waits = |step| matches!(step, WriteStep::Leading | WriteStep::Confirming);
        self.writes.get(&task).is_some_and(|write| waits(write.step))
    }

    /// Whether repeating the call can do no harm, and some good.
    const fn may_repeat(pending: &Pending) -> bool {
        !matches!(
            &pending.call,
            Call::Cache(
                CacheCall::Lookup(..)
                    | CacheCall::Install(..)
                    | CacheCall::AppendLog(_)
                    | CacheCall::ReadLog(_)
                    | CacheCall::ReplaceLog(..)
                    | CacheCall::Gather(..)
            ) | Call::Store(StoreCall::Write(_) | StoreCall::WriteAcross(..))
                | Call::Log(_, LogCall::Trim(_))
        )
    }

    fn give_up(&mut self, pending: Pending) {
        match (pending.purpose, pending.call) {
            (Purpose::Peer(task), _) => self.give_up_leading(task),
            (Purpose::Compact(chunk), _) => self.compaction_answered(chunk, None),
            (Purpose::Part(task, _), Call::Cache(_)) => self.part_installed(task, &CacheReply::Done),
            (Purpose::Part(task, _), _) => self.end_read(task, Some(ReadOutcome::Retry)),
            (Purpose::Start, Call::Log(..)) => self.start_log_answered(None),
            (Purpose::Start, Call::Cache(_)) => self.end(Ending::CacheLost),
            (Purpose::Start, Call::Store(_)) => self.end(Ending::NotStarted),
            (Purpose::Trim, _) => {}
            (Purpose::Drained, _) => self.drained_is_recorded(),
            (Purpose::Read(task), Call::Cache(CacheCall::Gather(..))) => self.query_whole(task),
            (Purpose::Read(task), Call::Cache(CacheCall::Lookup(..))) => self.lookup_was_not_made(task),
            (Purpose::Read(task), Call::Cache(CacheCall::Invalidate(..))) => {
                self.read_cache_answered(task, CacheReply::Busy);
            }
            // Installed or not: the owner knows the entry (P5), and the next writer voids its lease.
            (Purpose::Read(task), Call::Cache(_)) => self.end_read(task, None),
            (Purpose::Read(task) | Purpose::Proof(task), _) => {
                self.end_read(task, Some(ReadOutcome::Retry));
            }
            (Purpose::Entries, Call::Cache(CacheCall::Gather(..))) => self.values_are_lost(),
            (Purpose::Write(task), Call::Cache(CacheCall::Gather(..))) if self.is_plain_write(task) => {
                self.write_entries_read(task, Vec::new());
            }
            (Purpose::Append(first), _) => self.append_answered(first, false),
            (_, Call::Cache(_)) => self.end(Ending::CacheLost),
            (Purpose::Write(task), Call::Store(StoreCall::Query(_))) => self.give_up_leading(task),
            (_, Call::Store(_) | Call::Log(..)) => self.end(Ending::OutcomeUnknown),
            (_, Call::Peer(..)) => {}
        }
    }
}
