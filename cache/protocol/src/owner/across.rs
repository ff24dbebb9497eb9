//! Writes and reads over several ranges, at the owner that leads them: that of the range with the smallest number.
//!
//! It takes its own lease first, then asks the other owners in ascending order, so that no two wait for each
//! other. Each clears its entries and has the store take its buffered writes. Then one statement is sent to the
//! store, which checks the fences of all ranges: if any of the owners was replaced in the meantime, the statement
//! is refused and nothing has happened. Under every policy, such a write is a write-around.
//!
//! A read asks the store too, once all leases are held. Its shared leases keep out only the writes that a reader
//! must not see in part. They may end unseen: an owner whose tenure ends says nothing to those that it held one for. So after
//! the last row each owner is asked again, and the rows count if all of them have held their leases since they gave them.

use super::calls::{Call, Purpose};
use super::task::{Kind, WriteStep, WriteTask};
use super::{Owner, TaskId};
use crate::cache_model::RangeId;
use crate::call::{Rows, StoreCall};
use crate::config::{Application, Flaw};
use crate::lease_table::LeaseMode;
use crate::message::{
    Action, Command, Ending, Epoch, PeerCall, PeerId, ReadOutcome, RequestId, Write, WriteOutcome,
};
use crate::query::{Query, Touched};

/// When the lease of another owner's task counts as that of a caller.
const LONG_LEASE_MS: u64 = 1_000;

/// Parts of other ranges, in the order in which their owners are asked.
pub(super) type Others = Vec<(RangeId, Vec<Touched>)>;

impl<A: Application> Owner<A> {
    /// The parts of `touched` in this range, and those in others. `None` if another owner has to lead.
    pub(super) fn mine_and_others(&self, touched: &[Touched]) -> Option<(Vec<Touched>, Others)> {
        let Some(table) = &self.config.table else { return Some((touched.to_vec(), Vec::new())) };
        let mut parts = table.parts(touched);
        let (first, mine) = parts.pop_first()?;
        let others = if self.is_flawed(Flaw::LeadAlone) { Vec::new() } else { parts.into_iter().collect() };
        (first == self.config.range).then_some((mine, others))
    }

    /// Redirects a request that came here in error.
    pub(super) fn redirect(&mut self, request: RequestId) {
        let table = self.config.table.clone().expect("without a table nothing is elsewhere");
        self.actions.push(Action::Redirect(request, table));
    }

    pub(super) fn begin_read_across(
        &mut self,
        request: RequestId,
        query: Query,
        mine: Vec<Touched>,
        others: Others,
    ) {
        let write = Write { touched: mine, command: Command::new(b"") };
        self.begin_task(Kind::Read(query), Some(request), write, others);
    }

    /// Several reads of one moment: under leases on all their intervals, cached or not.
    pub(super) fn begin_read_all(&mut self, request: RequestId, queries: Vec<Query>) {
        let touched: Vec<Touched> =
            queries.iter().map(|query| (query.domain, query.interval.clone())).collect();
        if queries.is_empty() {
            return self.actions.push(Action::ReadAllDone(request, Vec::new()));
        }
        let Some((mine, others)) = self.mine_and_others(&touched) else { return self.redirect(request) };
        let write = Write { touched: mine, command: Command::new(b"") };
        self.begin_task(Kind::ReadAll(queries), Some(request), write, others);
    }

    /// Queries the store for the next unknown result, or asks the other owners whether all of them count.
    fn read_next(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        let missing =
            write.kind.queries().iter().find(|query| write.old.iter().all(|(known, _)| known != *query));
        if let Some(missing) = missing.cloned() {
            return self.call(Purpose::Write(task), Call::Store(StoreCall::Query(missing)));
        }
        (write.step, write.unconfirmed) = (WriteStep::Confirming, write.held.len());
        let held = write.held.clone();
        if held.is_empty() || self.is_flawed(Flaw::TrustGuests) {
            return self.answer_read_across(task);
        }
        let peer = self.peer_id(task);
        for (range, _) in held {
            let call = PeerCall::Lock(LeaseMode::Shared, Vec::new());
            self.call(Purpose::Peer(task), Call::Peer(range, peer, call));
        }
    }

    /// The rows are those of a moment at which all leases were held.
    fn answer_read_across(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        let values = write.kind.queries().iter().filter_map(|query| {
            write.old.iter().find(|(known, _)| known == query).map(|(_, value)| value.clone())
        });
        let mut values: Vec<_> = values.collect();
        if let Some(request) = write.request.take() {
            match (&write.kind, values.pop()) {
                (Kind::Read(_), Some(value)) => self.answer_read(request, ReadOutcome::Value(value)),
                (_, last) => {
                    values.extend(last);
                    self.actions.push(Action::ReadAllDone(request, values));
                }
            }
        }
        self.end_write(task);
    }

    /// Whether callers have leases or wait for some, so that an end in order has to wait for them. Of leases that other owners lead
    /// only those that have lasted for a second count: those of their writes are short.
    pub fn is_held(&self) -> bool {
        self.writes.values().any(|write| match write.kind {
            Kind::Hold => true,
            Kind::Guest(..) => self.now - write.asked >= LONG_LEASE_MS,
            _ => false,
        })
    }

    pub(super) fn begin_hold(&mut self, request: RequestId, mut held: Write) {
        self.take_as_numbered(&mut held);
        let Some((mine, others)) = self.mine_and_others(&held.touched) else { return self.redirect(request) };
        held.touched = if self.is_flawed(Flaw::HoldNothing) { Vec::new() } else { mine };
        self.begin_task(Kind::Hold, Some(request), held, others);
    }

    fn hold(&self, request: RequestId) -> Option<(TaskId, WriteStep)> {
        let is_it = |write: &WriteTask| write.kind == Kind::Hold && write.request == Some(request);
        self.writes.iter().find(|(_, write)| is_it(write)).map(|(task, write)| (*task, write.step))
    }

    pub(super) fn end_hold(&mut self, request: RequestId) {
        match self.hold(request) {
            Some((task, WriteStep::Held)) => self.end_write(task),
            Some((task, WriteStep::Waiting)) => self.give_up_leading(task),
            _ => {}
        }
    }

    /// Writes under the lease may still land. This tenure ends, and the other owners, which receive no more messages
    /// about it, end theirs: the next tenures raise the fences that such parts check (P3).
    pub(super) fn abandon_hold(&mut self, request: RequestId) {
        match self.hold(request) {
            Some((_, WriteStep::Held)) => self.end(Ending::OutcomeUnknown),
            _ => self.end_hold(request),
        }
    }

    /// Asks the next of the other owners, or continues if all ranges are held.
    pub(super) fn lead(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        if write.step != WriteStep::Leading {
            (write.step, write.time, write.asked) = (WriteStep::Leading, self.now, self.now);
        }
        if let Some((range, touched)) = write.others.first().cloned() {
            let mode = write.kind.mode();
            let peer = self.peer_id(task);
            return self.call(Purpose::Peer(task), Call::Peer(range, peer, PeerCall::Lock(mode, touched)));
        }
        match write.kind {
            Kind::Read(_) | Kind::ReadAll(_) => self.read_next(task),
            Kind::Hold => {
                write.step = WriteStep::Held;
                if let Some(request) = write.request {
                    self.actions.push(Action::HoldReady(request, write.held.clone()));
                }
            }
            _ => self.store_write_across(task),
        }
    }

    fn store_write_across(&mut self, task: TaskId) {
        let write = self.writes.get_mut(&task).expect("the caller has it");
        write.step = WriteStep::Storing;
        let (command, held) = (write.write.command.clone(), write.held.clone());
        let held = if self.is_flawed(Flaw::OneFenceOnly) { Vec::new() } else { held };
        self.call(Purpose::Write(task), Call::Store(StoreCall::WriteAcross(command, held)));
    }

    pub(super) fn peer_id(&self, task: TaskId) -> PeerId {
        PeerId { range: self.config.range, epoch: self.epoch, session: crate::message::Session(task) }
    }

    pub(super) fn peer_holds(&mut self, task: TaskId, range: RangeId, epoch: Epoch) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        match write.step {
            WriteStep::Leading if write.others.first().is_some_and(|(next, _)| *next == range) => {
                write.others.remove(0);
                write.held.push((range, epoch));
                self.lead(task);
            }
            WriteStep::Confirming if !write.held.contains(&(range, epoch)) => self.give_up_leading(task),
            WriteStep::Confirming => {
                write.unconfirmed -= 1;
                if write.unconfirmed == 0 {
                    self.answer_read_across(task);
                }
            }
            _ => {}
        }
    }

    /// Another owner is not there, or was replaced: nothing was executed, and nothing will be.
    pub(super) fn give_up_leading(&mut self, task: TaskId) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        write.count_the_last_asked();
        let (request, kind) = (write.request.take(), write.kind.clone());
        // One that waits for its lease here has not asked another owner yet.
        if write.step != WriteStep::Waiting {
            self.actions.extend(request.map(Action::LedInVain));
        }
        request.into_iter().for_each(|request| self.answer_task(&kind, request, WriteOutcome::Retry));
        self.end_write(task);
    }

    /// Answers the request of a task, as its kind requires.
    pub(super) fn answer_task(&mut self, kind: &Kind, request: RequestId, outcome: WriteOutcome) {
        if matches!(kind, Kind::Read(_) | Kind::ReadAll(_)) {
            self.answer_read(request, ReadOutcome::Retry);
        } else {
            self.answer_write(request, outcome);
        }
    }

    pub(super) fn read_across_done(&mut self, task: TaskId, rows: Rows) {
        let Some(write) = self.writes.get_mut(&task) else { return };
        let missing =
            write.kind.queries().iter().find(|query| write.old.iter().all(|(known, _)| known != *query));
        write.old.extend(missing.map(|query| (query.clone(), rows.value)));
        self.read_next(task);
    }

    /// Releases what the owners of other ranges hold for a task that is over.
    pub(super) fn release_peers(&mut self, task: TaskId, write: &WriteTask) {
        let peer = self.peer_id(task);
        for (range, _) in &write.held {
            self.call(Purpose::Trim, Call::Peer(*range, peer, PeerCall::Release));
        }
    }

    /// Informs other owners that this one still leads a write or a read, or holds a lease, five times in their `peer_timeout`.
    /// Without it, those that were asked first would end their leases while a later one waits, or while the store does.
    pub(super) fn renew_holds(&mut self) {
        let (now, pause) = (self.now, self.config.peer_timeout / 5);
        let is_due = |write: &WriteTask| {
            let is_led = match write.kind {
                Kind::Hold => matches!(write.step, WriteStep::Leading | WriteStep::Held),
                Kind::Across => matches!(write.step, WriteStep::Leading | WriteStep::Storing),
                Kind::Read(_) | Kind::ReadAll(_) => write.step == WriteStep::Leading,
                _ => false,
            };
            is_led && now - write.time >= pause
        };
        let mut renewals = Vec::new();
        for (task, write) in self.writes.iter().filter(|(_, write)| is_due(write)) {
            renewals.extend(write.held.iter().map(|(range, _)| (self.peer_id(*task), *range)));
        }
        self.writes.values_mut().filter(|write| is_due(write)).for_each(|write| write.time = now);
        for (peer, range) in renewals {
            let renewal = PeerCall::Lock(LeaseMode::Exclusive, Vec::new());
            self.call(Purpose::Trim, Call::Peer(range, peer, renewal));
        }
    }
}
