//! The answer of a dendrite to one request.

use std::time::Duration;

use crate::cluster::dendrite::{Answer, Dendrite, Forwarding};
use crate::owner::WriteError;
use lacuna_cache_protocol::Error;
use lacuna_cache_protocol::{CallId, PeerCall, PeerId, Query, RangeId, Write};

use super::Served;
use crate::cluster::fault::Fault;
use crate::cluster::frame::LONGEST;
use crate::cluster::hello::Role;
use crate::cluster::message::{How, Message, Terms};
use crate::cluster::noticed::Listen;

/// Longest time that a caller may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The length of a byte string.
const LONGEST_LENGTH: usize = 10;
/// Bytes of a message that carries a result, besides those of the result.
const BESIDE: usize = 64;

/// A request of a dendrite, or of a caller that accepts a redirect, is not forwarded.
pub(super) fn forwarding(role: Role, terms: Terms) -> Forwarding {
    if role == Role::Dendrite || terms.may_redirect { Forwarding::Here } else { Forwarding::Anywhere }
}

pub(super) fn within(terms: Terms) -> Duration {
    Duration::from_millis(terms.within_ms).min(LONGEST_WAIT)
}

pub(super) fn failed(ticket: u64, how: How, why: &Error) -> Message {
    Message::Failed(ticket, how, Fault::new(why))
}

pub(super) async fn answer_read(
    dendrite: &Dendrite,
    role: Role,
    ticket: u64,
    terms: Terms,
    query: &Query,
) -> Message {
    match dendrite.read(query, within(terms), forwarding(role, terms)).await {
        Ok(Answer::Is(value)) => {
            fitting(ticket, value.as_bytes().len()).unwrap_or(Message::Value(ticket, value))
        }
        Ok(Answer::At(range, address)) => redirect(dendrite, ticket, terms, range, address),
        Err(why) => failed(ticket, How::NotDone, &why),
    }
}

pub(super) async fn answer_read_all(
    dendrite: &Dendrite,
    role: Role,
    ticket: u64,
    terms: Terms,
    queries: &[Query],
) -> Message {
    match dendrite.read_all(queries, within(terms), forwarding(role, terms)).await {
        Ok(Answer::Is(values)) => {
            let bytes = values.iter().map(|value| value.as_bytes().len() + LONGEST_LENGTH).sum();
            fitting(ticket, bytes).unwrap_or(Message::Values(ticket, values))
        }
        Ok(Answer::At(range, address)) => redirect(dendrite, ticket, terms, range, address),
        Err(why) => failed(ticket, How::NotDone, &why),
    }
}

/// The answer that replaces a result too large for a frame.
fn fitting(ticket: u64, bytes: usize) -> Option<Message> {
    let why = format!("the result has {bytes} bytes, more than a frame holds: ask for a smaller range");
    (bytes + BESIDE > LONGEST).then(|| failed(ticket, How::NotDone, &Error::invalid_input(why)))
}

/// Answers as soon as there is a notice, or the server stops.
pub(super) async fn answer_listen(served: &Served, ticket: u64, listen: Listen) -> Message {
    let mut stops = served.stops.clone();
    let within = Duration::from_millis(listen.within_ms).min(LONGEST_WAIT);
    let heard = tokio::select! {
        noticed = served.journal.hear(listen, within) => Some(noticed),
        _ = stops.wait_for(|stops| *stops) => None,
    };
    let mut noticed = match heard {
        Some(noticed) => noticed,
        None => served.journal.hear(listen, Duration::ZERO).await,
    };
    noticed.members = served.dendrite.members();
    Message::Notices(ticket, noticed)
}

pub(super) async fn answer_write(
    dendrite: &Dendrite,
    role: Role,
    ticket: u64,
    terms: Terms,
    write: &Write,
) -> Message {
    match dendrite.write(write, within(terms), forwarding(role, terms)).await {
        Ok(Answer::Is(())) => Message::Done(ticket),
        Ok(Answer::At(range, address)) => redirect(dendrite, ticket, terms, range, address),
        Err(WriteError::NotDone(why)) => failed(ticket, How::NotDone, &why),
        Err(WriteError::Refused(why)) => failed(ticket, How::Refused, &why),
        Err(WriteError::Unknown) => {
            failed(ticket, How::Unknown, &Error::unavailable("the outcome of the write is unknown"))
        }
    }
}

pub(super) fn redirect(
    dendrite: &Dendrite,
    ticket: u64,
    terms: Terms,
    range: RangeId,
    address: String,
) -> Message {
    if !terms.may_redirect {
        let why = Error::unavailable(format!("the owner of the range is at {address}"));
        return failed(ticket, How::NotDone, &why);
    }
    let table = dendrite.table();
    let newer = (table.version() > terms.version).then(|| (*table).clone());
    Message::Redirect(ticket, range, address, newer)
}

pub(super) async fn answer_peer(
    dendrite: &Dendrite,
    ticket: u64,
    range: RangeId,
    peer: PeerId,
    call: CallId,
    what: PeerCall,
) -> Message {
    match dendrite.peer(range, peer, call, what).await {
        Ok(reply) => Message::Held(ticket, reply),
        Err(why) => failed(ticket, How::Unknown, &why),
    }
}
