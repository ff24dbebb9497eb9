//! What a dendrite answers to one request.

use std::time::Duration;

use lacuna_cache_shell::{Answer, Dendrite, Reach, WriteError};
use lacuna_core::Error;
use lacuna_range_cache::{CallId, PeerCall, PeerId, Query, RangeId, Write};

use crate::frame::LONGEST;
use crate::hello::Role;
use crate::message::{Fault, How, Message, Terms};

/// Longest time that a caller may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// What a result needs besides its bytes.
const BESIDE: usize = 64;

/// What a dendrite asks, or whoever may be told of the owner, is answered here or not at all.
fn reach(role: Role, terms: Terms) -> Reach {
    if role == Role::Dendrite || terms.may_redirect { Reach::Here } else { Reach::Anywhere }
}

fn within(terms: Terms) -> Duration {
    Duration::from_millis(terms.within_ms).min(LONGEST_WAIT)
}

fn failed(ticket: u64, how: How, why: &Error) -> Message {
    Message::Failed(ticket, how, Fault::new(why))
}

pub(super) async fn answer_read(
    dendrite: &Dendrite,
    role: Role,
    ticket: u64,
    terms: Terms,
    query: &Query,
) -> Message {
    match dendrite.read(query, within(terms), reach(role, terms)).await {
        Ok(Answer::Is(value)) if value.as_bytes().len() + BESIDE > LONGEST => {
            let len = value.as_bytes().len();
            let why = format!("the result has {len} bytes, more than a frame holds: ask for a smaller range");
            failed(ticket, How::NotDone, &Error::invalid_input(why))
        }
        Ok(Answer::Is(value)) => Message::Value(ticket, value),
        Ok(Answer::At(range, address)) => redirect(dendrite, ticket, terms, range, address),
        Err(why) => failed(ticket, How::NotDone, &why),
    }
}

pub(super) async fn answer_write(
    dendrite: &Dendrite,
    role: Role,
    ticket: u64,
    terms: Terms,
    write: &Write,
) -> Message {
    match dendrite.write(write, within(terms), reach(role, terms)).await {
        Ok(Answer::Is(())) => Message::Done(ticket),
        Ok(Answer::At(range, address)) => redirect(dendrite, ticket, terms, range, address),
        Err(WriteError::NotDone(why)) => failed(ticket, How::NotDone, &why),
        Err(WriteError::Refused(why)) => failed(ticket, How::Refused, &why),
        Err(WriteError::Unknown) => {
            failed(ticket, How::Unknown, &Error::unavailable("the outcome of the write is unknown"))
        }
    }
}

fn redirect(dendrite: &Dendrite, ticket: u64, terms: Terms, range: RangeId, address: String) -> Message {
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
