//! The result of a check: the fact holds, or a fault with everything needed to reproduce it.

use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The outcome of a check.
pub type Verdict = Result<(), Fault>;

/// A fact that does not hold, in words: which spec, keys, query and seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(String);

impl Fault {
    /// A fault with this `message`.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Puts the place where it happened before the message.
    #[must_use]
    pub(crate) fn within(self, place: impl Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `Ok` if `holds`, else the fault with this `message`.
pub(crate) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(Fault::new(message())) }
}

/// Runs `work` and turns a panic of the filter into a fault.
pub(crate) fn without_panic<T>(place: impl Display, work: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Fault::new(format!("{place}: it panicked: {text}"))
    })
}

/// Fails the test unless the fact holds.
///
/// # Panics
/// With the fault's message, and the seed of the run.
pub fn demand(verdict: Verdict) {
    if let Err(fault) = verdict {
        panic!("{fault} (LACUNA_SEED={})", crate::effort::seed());
    }
}
