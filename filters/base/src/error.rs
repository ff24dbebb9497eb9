//! One error type whose kind says what to do next and whose message says what happened.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;

/// The result of every fallible call of Lacuna.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller can do about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call's arguments are wrong; the same call fails again until they change.
    InvalidInput,
    /// The filter does not fit the budget; the smallest budget that works is given.
    BudgetTooSmall {
        /// Smallest number of bits per distinct key that works for these keys.
        smallest_bits_per_key: f64,
    },
    /// The structure is at capacity; remove something or build a larger one.
    Full,
    /// The bytes are sound but newer than this code, or the operation is not offered here: read the data instead.
    Unsupported,
    /// The bytes are damaged: read the data instead and rebuild the filter.
    Corrupt,
    /// A file, server or lease cannot be reached now; the call may succeed later.
    Unavailable,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::InvalidInput => "invalid input",
            Self::BudgetTooSmall { .. } => "budget too small",
            Self::Full => "full",
            Self::Unsupported => "unsupported",
            Self::Corrupt => "corrupt",
            Self::Unavailable => "unavailable",
        };
        f.write_str(name)
    }
}

/// A failure: its kind, its message and its cause. Its `Debug` form is the sentence followed by the kind, so that a
/// `main` that returns it prints a line for people.
///
/// ```
/// use lacuna_base::{Error, ErrorKind};
///
/// let error = Error::invalid_input("the budget is 0 bits per key; give more than 0 and at most 128")
///     .with_context("building keys.u64");
/// assert_eq!(error.kind(), ErrorKind::InvalidInput);
/// assert_eq!(
///     error.to_string(),
///     "building keys.u64: the budget is 0 bits per key; give more than 0 and at most 128"
/// );
/// assert_eq!(format!("{error:?}"), format!("{error} (invalid input)"));
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

    /// [`ErrorKind::Corrupt`] with a message that says which bytes do not hold together.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// [`ErrorKind::Unsupported`] with a message that says what is newer or not offered.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// [`ErrorKind::Unavailable`] with a message that says what could not be reached.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// [`ErrorKind::BudgetTooSmall`]: `name` needs at least `smallest_bits_per_key` for these keys.
    pub fn budget_too_small(name: &str, smallest_bits_per_key: f64) -> Self {
        let shown = (smallest_bits_per_key * 100.0).ceil() / 100.0;
        Self::new(
            ErrorKind::BudgetTooSmall { smallest_bits_per_key },
            format!("{name} does not fit the budget: these keys need at least {shown} bits per key"),
        )
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

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.inner.kind)?;
        match &self.inner.source {
            Some(source) => write!(f, ", caused by: {source}"),
            None => Ok(()),
        }
    }
}

/// For generic code that converts any value with `TryFrom`: a conversion to the same type cannot fail.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
