//! Pending requests at an owner, from clients and from owners of other ranges.

use std::collections::{BTreeMap, VecDeque};

use lacuna_cache_protocol::Error;
use lacuna_cache_protocol::{
    Action, CallId, Command, PeerCall, PeerId, PeerReply, Query, ReadOutcome, RequestId, Value, WriteOutcome,
};
use tokio::sync::oneshot;

use crate::owner::carry::FailureCause;
use crate::owner::error::same_error;
use crate::owner::open_lease::OpenLease;
use crate::owner::owner_handle::{OwnerCommand, OwnerReply, ReadAnswer, WriteAnswer};

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) enum Waiting {
    Read(Query, oneshot::Sender<ReadAnswer>, Option<Error>),
    Write(Command, oneshot::Sender<WriteAnswer>, Option<Error>),
    ReadAll(Vec<Query>, oneshot::Sender<OwnerReply<Option<Vec<Value>>>>, Option<Error>),
    /// For this many milliseconds.
    Hold(u64, oneshot::Sender<OwnerReply<Option<OpenLease>>>, Option<Error>),
}

impl Waiting {
    /// Keeps the reason of the store, for the request it is about.
    pub(super) fn note(&mut self, why: &FailureCause) {
        match (self, why) {
            (Self::Read(query, _, place), FailureCause::Query(about, error)) if query == about => {
                *place = Some(same_error(error));
            }
            (Self::ReadAll(queries, _, place), FailureCause::Query(about, error))
                if queries.contains(about) =>
            {
                *place = Some(same_error(error));
            }
            (Self::Write(command, _, place), FailureCause::Command(about, error)) if command == about => {
                *place = Some(same_error(error));
            }
            (waiting, FailureCause::Tenure(error)) => *waiting.reason() = Some(same_error(error)),
            _ => {}
        }
    }

    /// The reason for the person who asked.
    fn reason(&mut self) -> &mut Option<Error> {
        match self {
            Self::Read(.., place)
            | Self::Write(.., place)
            | Self::ReadAll(.., place)
            | Self::Hold(.., place) => place,
        }
    }

    /// Another process has the range, and there will be no answer here: requests that were sent may have been
    /// executed.
    pub(super) fn answer_lost(self) {
        match self {
            Self::Read(_, reply, why) => tell(reply, ReadOutcome::Retry, why, false),
            Self::Write(_, reply, why) => tell(reply, WriteOutcome::Unknown, why, false),
            Self::ReadAll(_, reply, why) => tell(reply, None, why, false),
            Self::Hold(_, reply, why) => tell(reply, None, why, false),
        }
    }

    /// It was not executed, as another owner leads it.
    pub(super) fn answer_elsewhere(self) {
        match self {
            Self::Read(_, reply, why) => tell(reply, ReadOutcome::Retry, why, true),
            Self::Write(_, reply, why) => tell(reply, WriteOutcome::Retry, why, true),
            Self::ReadAll(_, reply, why) => tell(reply, None, why, true),
            Self::Hold(_, reply, why) => tell(reply, None, why, true),
        }
    }
}

fn waited_in_vain() -> Error {
    Error::unavailable(
        "the request waited too long for others of the same rows: a transaction, a bulk load, a slow query or a write",
    )
}

fn led_in_vain() -> Error {
    Error::unavailable(
        "the request needs another range, whose owner did not answer in time, was replaced, or has others that hold the same rows",
    )
}

/// Sends an answer; the caller may have stopped waiting.
fn tell<T>(reply: oneshot::Sender<OwnerReply<T>>, outcome: T, why: Option<Error>, is_elsewhere: bool) {
    drop(reply.send(OwnerReply { outcome, why, is_elsewhere }));
}

/// Requests that were passed to an owner, by their numbers there.
#[derive(Debug, Default)]
pub(super) struct Requests {
    waiting: BTreeMap<RequestId, Waiting>,
    next: u64,
}

impl Requests {
    pub(super) fn add(&mut self, waiting: Waiting) -> RequestId {
        self.next += 1;
        self.waiting.insert(RequestId(self.next), waiting);
        RequestId(self.next)
    }

    pub(super) fn note(&mut self, why: &FailureCause) {
        self.waiting.values_mut().for_each(|waiting| waiting.note(why));
    }

    /// Keeps the reason of requests that a living tenure sends away, where there is no other.
    pub(super) fn note_waits(&mut self, actions: &[Action]) {
        for action in actions {
            let (request, why): (_, fn() -> Error) = match action {
                // Before its answer.
                Action::LedInVain(request) => (request, led_in_vain),
                Action::ReadDone(request, ReadOutcome::Retry)
                | Action::WriteDone(request, WriteOutcome::Retry) => (request, waited_in_vain),
                _ => continue,
            };
            if let Some(waiting) = self.waiting.get_mut(request) {
                waiting.reason().get_or_insert_with(why);
            }
        }
    }

    pub(super) fn read_done(&mut self, request: RequestId, outcome: ReadOutcome) {
        match self.waiting.remove(&request) {
            Some(Waiting::Read(_, reply, why)) => tell(reply, outcome, why, false),
            Some(Waiting::ReadAll(_, reply, why)) => tell(reply, None, why, false),
            _ => {}
        }
    }

    pub(super) fn write_done(&mut self, request: RequestId, outcome: WriteOutcome) {
        match self.waiting.remove(&request) {
            Some(Waiting::Write(_, reply, why)) => tell(reply, outcome, why, false),
            Some(Waiting::Hold(_, reply, why)) => tell(reply, None, why, false),
            _ => {}
        }
    }

    /// `None`: another owner took the range meanwhile, or had it.
    pub(super) fn read_all_done(&mut self, request: RequestId, values: Option<Vec<Value>>) {
        if let Some(Waiting::ReadAll(_, reply, why)) = self.waiting.remove(&request) {
            tell(reply, values, why, false);
        }
    }

    /// The requested milliseconds of a lease, and the channel for the answer.
    pub(super) fn hold_ready(
        &mut self,
        request: RequestId,
    ) -> Option<(u64, oneshot::Sender<OwnerReply<Option<OpenLease>>>)> {
        match self.waiting.remove(&request)? {
            Waiting::Hold(lasts_ms, reply, _) => Some((lasts_ms, reply)),
            _ => None,
        }
    }

    pub(super) fn is_elsewhere(&mut self, request: RequestId) {
        self.waiting.remove(&request).into_iter().for_each(Waiting::answer_elsewhere);
    }

    pub(super) fn are_lost(&mut self) {
        std::mem::take(&mut self.waiting).into_values().for_each(Waiting::answer_lost);
    }
}

/// Owners of other ranges that wait for a lease here. Dropping their channel tells them that there is none.
#[derive(Debug, Default)]
pub(super) struct PeerLeases(BTreeMap<(PeerId, CallId), oneshot::Sender<PeerReply>>);

impl PeerLeases {
    /// A later call of a leader replaces its earlier ones.
    pub(super) fn add(
        &mut self,
        peer: PeerId,
        call: CallId,
        what: &PeerCall,
        reply: oneshot::Sender<PeerReply>,
    ) {
        if matches!(what, PeerCall::Lock(..)) {
            self.0.retain(|(known, _), _| *known != peer);
        }
        self.0.insert((peer, call), reply);
    }

    pub(super) fn answer(&mut self, peer: PeerId, call: CallId, reply: PeerReply) {
        if let Some(waiting) = self.0.remove(&(peer, call)) {
            // The caller may have stopped waiting.
            let _ = waiting.send(reply);
        }
        if reply == PeerReply::Released {
            self.0.retain(|(known, _), _| *known != peer);
        }
    }

    pub(super) fn go_away(&mut self) {
        self.0.clear();
    }
}

/// Requests that wait for a tenure, in the order in which they came, and since when.
#[derive(Debug, Default)]
pub(super) struct WaitingForTenure(VecDeque<(u64, OwnerCommand)>);

impl WaitingForTenure {
    pub(super) fn add(&mut self, now_ms: u64, heard: OwnerCommand) {
        self.0.push_back((now_ms, heard));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, to be asked anew.
    pub(super) fn take(&mut self) -> Vec<OwnerCommand> {
        std::mem::take(&mut self.0).into_iter().map(|(_, heard)| heard).collect()
    }

    /// Forgets a call of another owner, which does not need the lease any more.
    pub(super) fn withdraw(&mut self, peer: PeerId) {
        self.0.retain(|(_, heard)| !matches!(heard, OwnerCommand::Peer(known, ..) if *known == peer));
    }

    /// Answers all: there is no tenure here for now.
    pub(super) fn send_away(&mut self, why: impl Fn() -> Error) {
        self.take().into_iter().for_each(|heard| send_away(heard, why()));
    }

    /// Answers those that have waited for `patience` as not done: their callers have stopped waiting or soon will.
    pub(super) fn send_late_away(&mut self, now_ms: u64, patience: u64) {
        while self.0.front().is_some_and(|(since, _)| now_ms.saturating_sub(*since) >= patience)
            && let Some((_, heard)) = self.0.pop_front()
        {
            send_away(heard, Error::unavailable("the range had no owner in time, or is to be left first"));
        }
    }
}

fn send_away(heard: OwnerCommand, why: Error) {
    match heard {
        OwnerCommand::Read(_, reply) | OwnerCommand::Verify(_, reply) => {
            tell(reply, ReadOutcome::Retry, Some(why), true);
        }
        OwnerCommand::Write(_, reply) => tell(reply, WriteOutcome::Retry, Some(why), true),
        OwnerCommand::ReadAll(_, reply) => tell(reply, None, Some(why), true),
        OwnerCommand::Hold(.., reply) => tell(reply, None, Some(why), true),
        OwnerCommand::Peer(.., reply) => {
            let _ = reply.send(PeerReply::Refused);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use lacuna_cache_protocol::{Epoch, Interval, RangeId, Session};

    use super::*;

    fn read() -> (OwnerCommand, oneshot::Receiver<ReadAnswer>) {
        let (reply, answer) = oneshot::channel();
        (OwnerCommand::Read(Query::all(0, Interval::all()), reply), answer)
    }

    #[test]
    fn requests_that_wait_longer_than_their_callers_are_not_done() {
        let mut waiting = WaitingForTenure::default();
        let ((early, mut first), (late, mut second)) = (read(), read());
        waiting.add(0, early);
        waiting.add(100, late);
        waiting.send_late_away(499, 500);
        assert!(first.try_recv().is_err());
        waiting.send_late_away(599, 500);
        let answered = first.try_recv().unwrap();
        assert!(answered.outcome == ReadOutcome::Retry && answered.is_elsewhere && answered.why.is_some());
        assert!(second.try_recv().is_err() && !waiting.is_empty());
    }

    #[test]
    fn a_request_that_waited_in_vain_says_for_what() {
        let id = RequestId(1);
        let retried = Action::ReadDone(id, ReadOutcome::Retry);
        for (actions, reason) in [
            (vec![retried.clone()], "others of the same rows: "),
            (vec![Action::LedInVain(id), retried], "the request needs another range"),
        ] {
            let (mut requests, (reply, mut answer)) = (Requests::default(), oneshot::channel());
            let query = Query::all(0, Interval::all());
            assert_eq!(requests.add(Waiting::Read(query, reply, None)), id);
            requests.note_waits(&actions);
            requests.read_done(id, ReadOutcome::Retry);
            let why = answer.try_recv().unwrap().why.unwrap().to_string();
            assert!(why.contains(reason), "{why}");
        }
    }

    #[test]
    fn a_call_that_was_released_does_not_wait_any_more() {
        let peer = |session| PeerId { range: RangeId(1), epoch: Epoch(1), session: Session(session) };
        let mut waiting = WaitingForTenure::default();
        for session in [1, 2] {
            let (reply, _) = oneshot::channel();
            let lock = PeerCall::Lock(lacuna_cache_protocol::LeaseMode::Shared, Vec::new());
            waiting.add(0, OwnerCommand::Peer(peer(session), CallId(1), lock, reply));
        }
        waiting.withdraw(peer(1));
        let left = waiting.take();
        assert!(matches!(left[..], [OwnerCommand::Peer(left, ..)] if left == peer(2)), "{left:?}");
    }
}
