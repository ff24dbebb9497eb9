//! One error type for the cache, whose kind says what to do next and whose message says what happened.

use std::error::Error as StdError;
use std::fmt;

/// The result of every fallible call of the cache.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller can do about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The arguments of the call are wrong; the same call fails again until they change.
    InvalidInput,
    /// The bytes or the peer are valid but newer than this code, or the operation is not offered here.
    Unsupported,
    /// The bytes are damaged: their content is lost.
    Corrupt,
    /// A file, server or lease cannot be reached now; the call may succeed later.
    Unavailable,
    /// Another client holds or has changed the same thing; read again and retry.
    Conflict,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidInput => "invalid input",
            Self::Unsupported => "unsupported",
            Self::Corrupt => "corrupt",
            Self::Unavailable => "unavailable",
            Self::Conflict => "conflict",
        })
    }
}

/// What went wrong, where, and because of what.
///
/// ```
/// use lacuna_cache_protocol::{Error, ErrorKind};
///
/// let error = Error::unavailable("the server does not answer").with_context("connecting to 10.0.0.7:6379");
/// assert_eq!(error.kind(), ErrorKind::Unavailable);
/// assert_eq!(error.to_string(), "connecting to 10.0.0.7:6379: the server does not answer");
/// assert_eq!(format!("{error:?}"), "connecting to 10.0.0.7:6379: the server does not answer (unavailable)");
/// ```
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of `kind` whose `message` is a sentence for a person.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { inner: Box::new(Inner { kind, message: message.into(), context: Vec::new(), source: None }) }
    }

    /// [`ErrorKind::InvalidInput`] with a message that says what to give instead.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// [`ErrorKind::Unsupported`] with a message that says what is newer or not offered.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// [`ErrorKind::Corrupt`] with a message that says which bytes are inconsistent.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// [`ErrorKind::Unavailable`] with a message that says what could not be reached.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Puts `context` before the message: what was being done, from the outside in.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.inner.context.push(context.into());
        self
    }

    /// Keeps `source` as the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for context in self.inner.context.iter().rev() {
            write!(f, "{context}: ")?;
        }
        f.write_str(&self.inner.message)
    }
}

/// The sentence and the kind, as shown by a program whose `main` returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.inner.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// Errors of bytes and keys, which the cache shares with filters.
impl From<lacuna_base::Error> for Error {
    fn from(error: lacuna_base::Error) -> Self {
        let kind = match error.kind() {
            lacuna_base::ErrorKind::Corrupt => ErrorKind::Corrupt,
            lacuna_base::ErrorKind::Unsupported => ErrorKind::Unsupported,
            lacuna_base::ErrorKind::Unavailable => ErrorKind::Unavailable,
            _ => ErrorKind::InvalidInput,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

/// For programs that use filters and the cache.
impl From<Error> for lacuna_base::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::InvalidInput => lacuna_base::ErrorKind::InvalidInput,
            ErrorKind::Unsupported => lacuna_base::ErrorKind::Unsupported,
            ErrorKind::Corrupt => lacuna_base::ErrorKind::Corrupt,
            ErrorKind::Unavailable | ErrorKind::Conflict => lacuna_base::ErrorKind::Unavailable,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}
