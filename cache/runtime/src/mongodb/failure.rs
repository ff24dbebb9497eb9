//! The meaning of a driver error for a write.

use lacuna_cache_protocol::StoreReply;
use lacuna_cache_protocol::ports::Answer;
use lacuna_cache_protocol::{Error, ErrorKind};
use mongodb::error::{ErrorKind as Kind, WriteFailure};

/// The same may succeed later: a write conflict, or a server that was not the primary when it came. One that steps down while a write
/// waits (189) may have taken it.
const LATER: [i32; 3] = [112, 10_107, 13_435];
/// It never will: wrong values, operators or types, immutable fields, duplicate keys.
const NEVER: [i32; 8] = [2, 9, 14, 28, 52, 66, 121, 11_000];

/// The outcome of the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Later,
    Never,
    Unknown,
}

fn of_code(code: i32) -> Outcome {
    match code {
        code if LATER.contains(&code) => Outcome::Later,
        code if NEVER.contains(&code) => Outcome::Never,
        _ => Outcome::Unknown,
    }
}

fn outcome(error: &mongodb::error::Error) -> Outcome {
    match &*error.kind {
        Kind::Write(WriteFailure::WriteError(refused)) => of_code(refused.code),
        Kind::Command(refused) => of_code(refused.code),
        // No server was found, or none accepts the login: nothing was sent.
        Kind::ServerSelection { .. } | Kind::Authentication { .. } | Kind::DnsResolve { .. } => {
            Outcome::Later
        }
        Kind::InvalidArgument { .. } | Kind::BsonSerialization(_) | Kind::Bson(_) => Outcome::Never,
        _ => Outcome::Unknown,
    }
}

/// An error with a message for a person, and the kind for callers.
pub(crate) fn error_of(error: mongodb::error::Error) -> Error {
    let never = outcome(&error) == Outcome::Never;
    let kind = if never { ErrorKind::InvalidInput } else { ErrorKind::Unavailable };
    Error::new(kind, error.to_string()).with_source(error)
}

/// A failed write: refused if that is certain, otherwise an error, which means that the outcome is unknown.
pub(crate) fn refused(error: mongodb::error::Error) -> Result<Answer, Error> {
    match outcome(&error) {
        Outcome::Unknown => Err(error_of(error)),
        outcome => {
            let reply = StoreReply::Refused { lsn: None, retry: outcome == Outcome::Later };
            Ok(Answer { reply, why: Some(error_of(error)) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_surely_did_nothing_is_refused() {
        let outcomes = [
            (11_000, Outcome::Never),
            (112, Outcome::Later),
            (189, Outcome::Unknown),
            (11_602, Outcome::Unknown),
            (50, Outcome::Unknown),
        ];
        for (code, expected) in outcomes {
            assert_eq!(of_code(code), expected, "{code}");
        }
        let custom = mongodb::error::Error::custom("a reply was lost");
        assert!(refused(custom).is_err());
    }
}
