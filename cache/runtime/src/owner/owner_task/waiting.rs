//! Whoever waits for an answer of the owner: requests, and owners of other ranges.

use std::collections::{BTreeMap, VecDeque};

use lacuna_cache_protocol::Error;
use lacuna_cache_protocol::{
    CallId, Command, PeerCall, PeerId, PeerReply, Query, ReadOutcome, RequestId, Value, WriteOutcome,
};
use tokio::sync::oneshot;

use crate::owner::bulk::BulkLease;
use crate::owner::carry::FailureCause;
use crate::owner::error::same_error;
use crate::owner::owner_handle::{OwnerCommand, OwnerReply, ReadAnswer, WriteAnswer};

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) enum Waiting {
    Read(Query, oneshot::Sender<ReadAnswer>, Option<Error>),
    Write(Command, oneshot::Sender<WriteAnswer>, Option<Error>),
    ReadAll(Vec<Query>, oneshot::Sender<OwnerReply<Option<Vec<Value>>>>, Option<Error>),
    /// For so many milliseconds.
    Bulk(u64, oneshot::Sender<OwnerReply<Option<BulkLease>>>),
}

impl Waiting {
    /// Keeps the reason that a store gave, for whoever it is about.
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
            _ => {}
        }
    }

    /// The range is another's, and nobody will answer here: what went out may have been carried out.
    pub(super) fn answer_lost(self) {
        match self {
            Self::Read(_, reply, why) => tell(reply, ReadOutcome::Retry, why, false),
            Self::Write(_, reply, why) => tell(reply, WriteOutcome::Unknown, why, false),
            Self::ReadAll(_, reply, why) => tell(reply, None, why, false),
            Self::Bulk(_, reply) => tell(reply, None, None, false),
        }
    }

    /// It was not carried out, as another leads it.
    pub(super) fn answer_elsewhere(self) {
        match self {
            Self::Read(_, reply, why) => tell(reply, ReadOutcome::Retry, why, true),
            Self::Write(_, reply, why) => tell(reply, WriteOutcome::Retry, why, true),
            Self::ReadAll(_, reply, why) => tell(reply, None, why, true),
            Self::Bulk(_, reply) => tell(reply, None, None, true),
        }
    }
}

/// Whoever asked may have gone.
fn tell<T>(reply: oneshot::Sender<OwnerReply<T>>, outcome: T, why: Option<Error>, is_elsewhere: bool) {
    drop(reply.send(OwnerReply { outcome, why, is_elsewhere }));
}

/// Requests that go to an owner, by the numbers that it knows them by.
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
            Some(Waiting::Bulk(_, reply)) => tell(reply, None, None, false),
            _ => {}
        }
    }

    /// `None`: another took the range meanwhile, or had it.
    pub(super) fn read_all_done(&mut self, request: RequestId, values: Option<Vec<Value>>) {
        if let Some(Waiting::ReadAll(_, reply, why)) = self.waiting.remove(&request) {
            tell(reply, values, why, false);
        }
    }

    /// For how many milliseconds a bulk load wants its lease, and who waits for it.
    pub(super) fn bulk_ready(
        &mut self,
        request: RequestId,
    ) -> Option<(u64, oneshot::Sender<OwnerReply<Option<BulkLease>>>)> {
        match self.waiting.remove(&request)? {
            Waiting::Bulk(lasts_ms, reply) => Some((lasts_ms, reply)),
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

/// Owners of other ranges that wait for a lease here. Dropped without an answer, they hear that there is none.
#[derive(Debug, Default)]
pub(super) struct PeerLeases(BTreeMap<(PeerId, CallId), oneshot::Sender<PeerReply>>);

impl PeerLeases {
    /// A later call of a leader takes the place of its earlier ones.
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
            // Whoever asked may have gone.
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

/// Tells those who wait for a tenure that there is none here for now.
pub(super) fn send_away(waiting_for_tenure: &mut VecDeque<OwnerCommand>, why: impl Fn() -> Error) {
    for heard in std::mem::take(waiting_for_tenure) {
        match heard {
            OwnerCommand::Read(_, reply) | OwnerCommand::Verify(_, reply) => {
                tell(reply, ReadOutcome::Retry, Some(why()), true);
            }
            OwnerCommand::Write(_, reply) => tell(reply, WriteOutcome::Retry, Some(why()), true),
            OwnerCommand::ReadAll(_, reply) => tell(reply, None, Some(why()), true),
            OwnerCommand::Bulk(_, reply) => tell(reply, None, Some(why()), true),
            OwnerCommand::Peer(.., reply) => {
                let _ = reply.send(PeerReply::Refused);
            }
            _ => {}
        }
    }
}
