//! One request to one dendrite, and the meaning of its answer.

use std::sync::Arc;
use std::time::Duration;

use crate::owner::WriteError;
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use lacuna_cache_protocol::{Query, RangeId, RangeTable, Value, Write};

use crate::cluster::link::Link;
use crate::cluster::message::{How, Message, Terms};

/// The owner is another dendrite.
#[derive(Debug)]
pub(crate) struct Redirected {
    pub(crate) range: RangeId,
    pub(crate) address: String,
    pub(crate) table: Option<RangeTable>,
}

/// The answer of a dendrite.
#[derive(Debug)]
pub(crate) enum Answered<T> {
    Is(T),
    Redirected(Redirected),
}

impl<T> Answered<T> {
    /// The answer, where no redirect was allowed.
    pub(crate) fn is(self) -> Result<T> {
        match self {
            Self::Is(answer) => Ok(answer),
            Self::Redirected(_) => Err(unexpected_message()),
        }
    }
}

/// The terms of a request: how long to wait, whether a redirect is accepted, and the version of the known range
/// table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    pub(crate) within: Duration,
    pub(crate) may_redirect: bool,
    pub(crate) version: u64,
}

impl Asking {
    pub(crate) fn terms(self) -> Terms {
        let within_ms = u64::try_from(self.within.as_millis()).unwrap_or(u64::MAX);
        Terms { within_ms, may_redirect: self.may_redirect, version: self.version }
    }
}

pub(crate) async fn read(link: &Arc<Link>, query: &Query, how: Asking) -> Result<Answered<Value>> {
    let request = |ticket| Message::Read(ticket, how.terms(), query.clone());
    match link.ask(request, how.within).await? {
        Message::Value(_, value) => Ok(Answered::Is(value)),
        Message::Redirect(_, range, address, table) => {
            Ok(Answered::Redirected(Redirected { range, address, table }))
        }
        Message::Failed(.., fault) => Err(fault.into_error()),
        _ => Err(unexpected_message()),
    }
}

pub(crate) async fn read_all(
    link: &Arc<Link>,
    queries: &[Query],
    how: Asking,
) -> Result<Answered<Vec<Value>>> {
    let request = |ticket| Message::ReadAll(ticket, how.terms(), queries.to_vec());
    match link.ask(request, how.within).await? {
        Message::Values(_, values) if values.len() == queries.len() => Ok(Answered::Is(values)),
        Message::Redirect(_, range, address, table) => {
            Ok(Answered::Redirected(Redirected { range, address, table }))
        }
        Message::Failed(.., fault) => Err(fault.into_error()),
        _ => Err(unexpected_message()),
    }
}

pub(crate) async fn write(link: &Arc<Link>, write: &Write, how: Asking) -> Result<Answered<()>, WriteError> {
    let request = |ticket| Message::Write(ticket, how.terms(), write.clone());
    let missing = |why: Error| match why.kind() {
        // It was not sent.
        ErrorKind::InvalidInput => WriteError::Refused(why),
        _ => WriteError::Unknown,
    };
    match link.ask(request, how.within).await.map_err(missing)? {
        Message::Done(_) => Ok(Answered::Is(())),
        Message::Redirect(_, range, address, table) => {
            Ok(Answered::Redirected(Redirected { range, address, table }))
        }
        Message::Failed(_, How::NotDone, fault) => Err(WriteError::NotDone(fault.into_error())),
        Message::Failed(_, How::Refused, fault) => Err(WriteError::Refused(fault.into_error())),
        _ => Err(WriteError::Unknown),
    }
}

pub(crate) fn unexpected_message() -> Error {
    Error::corrupt("the dendrite answered with a message that does not fit the request")
}
