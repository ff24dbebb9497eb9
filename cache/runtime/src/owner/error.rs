//! How a write can fail, by what it means for the caller.

use std::fmt;

use lacuna_cache_protocol::{Error, ErrorKind};

/// Why a write was not acknowledged.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The store refused it, as it would without a cache; nothing has changed.
    Refused(Error),
    /// It was not executed and will not be; the same may succeed later.
    NotDone(Error),
    /// A reply was lost: it may have been executed, or may be executed later. Reads show which.
    Unknown,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the store refused the write: {why}"),
            Self::NotDone(why) => write!(f, "the write was not carried out: {why}"),
            Self::Unknown => f.write_str("the outcome of the write is unknown: its reply was lost"),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(why) | Self::NotDone(why) => Some(why),
            Self::Unknown => None,
        }
    }
}

impl From<Error> for WriteError {
    /// An error before anything was sent.
    fn from(error: Error) -> Self {
        if error.kind() == ErrorKind::Unavailable { Self::NotDone(error) } else { Self::Refused(error) }
    }
}

/// A copy of the error, for another caller.
pub(crate) fn same_error(error: &Error) -> Error {
    Error::new(error.kind(), error.to_string())
}

pub(crate) fn no_owner() -> Error {
    Error::unavailable(
        "no owner answers for the range: the store, the cache server or the coordinator cannot be reached",
    )
}

pub(crate) fn logs_missing() -> Error {
    Error::new(
        ErrorKind::Conflict,
        "a cache with write-back had this range and did not stop in order, so that its logs may have acknowledged \
         writes that the store lacks: stop this one, start one with write-back and the same log servers, and stop that; if the logs are \
         lost for good, start it with new ones, which reports that writes may be lost",
    )
}

pub(crate) fn not_drained() -> Error {
    Error::unavailable(
        "the store did not take all acknowledged writes in time, or is out of reach: those that it lacks stay in the \
         logs, and the next cache with the same log servers applies them",
    )
}

pub(crate) fn cache_stopped() -> Error {
    Error::unavailable("the cache was stopped")
}
