//! The part of this range in a write or read that another owner leads.
//!
//! A guest holds its lease until the leader says that the write is over. If it gets no message for too long, it
//! cannot know whether the leader's write will still land, so it ends its tenure: the next one has a higher epoch,
//! which the store then demands of that write (P3). A guest that only reads is dropped: nothing can land.

use std::collections::{BTreeSet, VecDeque};

use super::calls::{Call, Purpose};
use super::task::{Kind, WriteStep};
use super::{Owner, TaskId};
use crate::call::StoreCall;
use crate::config::Application;
use crate::interval::Interval;
use crate::lease_table::LeaseMode;
use crate::message::{Action, CallId, Command, Ending, Notice, PeerCall, PeerId, PeerReply, Write};
use crate::query::Touched;

/// Tasks of other owners that have released their lease here, for as long as a call of theirs may come late: one that changed
/// places with its release would make a guest that no message ends.
#[derive(Debug, Clone, Default)]
pub(super) struct ReleasedPeers {
    peers: BTreeSet<PeerId>,
    /// Until when each is remembered, ascending.
    until: VecDeque<(u64, PeerId)>,
}

impl ReleasedPeers {
    fn has(&self, peer: PeerId) -> bool {
        self.peers.contains(&peer)
    }

    fn add(&mut self, until: u64, peer: PeerId) {
        if self.peers.insert(peer) {
            self.until.push_back((until, peer));
        }
    }

    fn forget_until(&mut self, now: u64) {
        while let Some((until, peer)) = self.until.front().copied()
            && until <= now
        {
            self.until.pop_front();
            self.peers.remove(&peer);
        }
    }
}

impl<A: Application> Owner<A> {
    pub(super) fn peer_calls(&mut self, peer: PeerId, call: CallId, what: PeerCall) {
        match (self.guest(peer), what) {
            (Some(task), PeerCall::Lock(..)) => self.peer_asks_again(task, call),
            (None, PeerCall::Lock(..)) if self.released.has(peer) => self.refuse_peer(peer, call),
            (None, PeerCall::Lock(mode, touched)) => self.begin_guest(peer, call, mode, touched),
            (guest, PeerCall::Release) => {
                self.released.add(self.now + self.config.peer_timeout, peer);
                self.actions.push(Action::PeerReply(peer, call, PeerReply::Released));
                guest.into_iter().for_each(|task| self.guest_is_over(task));
            }
        }
    }

    fn refuse_peer(&mut self, peer: PeerId, call: CallId) {
        self.actions.push(Action::PeerReply(peer, call, PeerReply::Refused));
    }

    fn guest(&self, peer: PeerId) -> Option<TaskId> {
        let is_it = |kind: &Kind| matches!(kind, Kind::Guest(known, ..) if *known == peer);
        self.writes.iter().find(|(_, write)| is_it(&write.kind)).map(|(task, _)| *task)
    }

    pub(super) fn has_guest(&self, peer: PeerId) -> bool {
        self.guest(peer).is_some()
    }

    fn begin_guest(&mut self, peer: PeerId, call: CallId, mode: LeaseMode, touched: Vec<Touched>) {
        if touched.is_empty() || !self.are_of_this_range(&touched) {
            return self.refuse_peer(peer, call);
        }
        let write = Write { touched, command: Command::new(b"") };
        self.begin_task(Kind::Guest(peer, call, mode), None, write, Vec::new());
    }

    fn are_of_this_range(&self, touched: &[Touched]) -> bool {
        let Some(table) = &self.config.table else { return true };
        let mine = table.intervals(self.config.range);
        touched.iter().all(|(domain, interval)| {
            mine.iter().any(|(other, held)| other == domain && held.covers(interval))
        })
    }

    fn peer_asks_again(&mut self, task: TaskId, again: CallId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        if let Kind::Guest(_, call, _) = &mut write.kind {
            *call = again;
        }
        if write.step == WriteStep::Held {
            self.hold_for_peer(task);
        }
    }

    pub(super) fn hold_for_peer(&mut self, task: TaskId) {
        let deadline = self.now + self.config.peer_timeout;
        let Some(write) = self.writes.get_mut(&task) else { return };
        (write.step, write.time) = (WriteStep::Held, deadline);
        if let Kind::Guest(peer, call, _) = write.kind {
            self.actions.push(Action::PeerReply(peer, call, PeerReply::Held(self.epoch)));
        }
    }

    fn guest_is_over(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        if write.step == WriteStep::Clearing {
            // Its entries are known until they are gone.
            write.is_released = true;
        } else {
            self.end_write(task);
        }
    }

    /// Whether the leader has given up while the entries of this guest were being cleared.
    pub(super) fn was_released(&self, task: TaskId) -> bool {
        self.writes.get(&task).is_some_and(|write| write.is_released)
    }

    /// Ends tasks that have waited too long, here or for other owners: the leases that they have keep others away.
    pub(super) fn send_late_tasks_away(&mut self) {
        let (now, patience) = (self.now, self.config.request_timeout);
        self.released.forget_until(now);
        let is_late = |write: &super::task::WriteTask| match write.step {
            WriteStep::Held => matches!(write.kind, Kind::Guest(..)) && write.time <= now,
            WriteStep::Waiting => now - write.time >= patience,
            WriteStep::Leading => !write.others.is_empty() && now - write.asked >= patience,
            _ => false,
        };
        let late: Vec<TaskId> =
            self.writes.iter().filter(|(_, write)| is_late(write)).map(|(task, _)| *task).collect();
        for task in late {
            // A task that gives up admits others, which may be on their way to the store by now.
            let Some(write) = self.writes.get(&task).filter(|write| is_late(write)) else { continue };
            match (write.step, &write.kind) {
                (WriteStep::Held, Kind::Guest(_, _, LeaseMode::Exclusive)) => {
                    return self.end(Ending::OutcomeUnknown);
                }
                (_, Kind::Foreign) => {}
                (WriteStep::Waiting, &Kind::Guest(peer, call, _)) => {
                    self.refuse_peer(peer, call);
                    self.end_write(task);
                }
                (_, Kind::Guest(..)) => self.end_write(task),
                _ => self.give_up_leading(task),
            }
        }
    }

    /// A foreign write went past the cache: entries that show these intervals are no longer trusted.
    pub(super) fn foreign_write(&mut self, touched: Vec<Touched>) {
        self.actions.push(Action::Notice(Notice::BypassDetected(touched.clone())));
        self.drop_entries(touched);
    }

    /// The store has another result than the cache. That proves a foreign write only if this owner was not replaced:
    /// queries are not fenced, and the store may have writes of the next owner. So the fence is checked, after the query.
    pub(super) fn suspect_foreign_write(&mut self) {
        self.drop_entries(self.everywhere());
        self.call(Purpose::Suspicion, Call::Store(StoreCall::Check));
    }

    /// This owner was not replaced before the store gave another result than the cache.
    pub(super) fn suspicion_is_proven(&mut self) {
        self.actions.push(Action::Notice(Notice::BypassDetected(self.everywhere())));
    }

    fn everywhere(&self) -> Vec<Touched> {
        (0..self.config.domain_count).map(|domain| (domain, Interval::all())).collect()
    }

    fn drop_entries(&mut self, touched: Vec<Touched>) {
        let write = Write { touched, command: Command::new(b"") };
        self.begin_task(Kind::Foreign, None, write, Vec::new());
    }
}
