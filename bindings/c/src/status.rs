//! How a call ended, and what the last failure of this thread said.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use lacuna_base::{Error, ErrorKind, Result};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// It worked.
    Ok = 0,
    /// An argument is wrong; `lacuna_last_error` says which and what to give instead.
    InvalidInput = 1,
    /// The bytes do not hold together: read the data instead, and build the filter again.
    Corrupt = 2,
    /// The bytes are newer than this library or of a kind it does not know, or the filter is not able to do this: read
    /// the data instead.
    Unsupported = 3,
    /// A fault of this library; please report it.
    Failed = 4,
    /// The filter does not fit the budget; `lacuna_last_smallest_bits_per_key` says what does.
    BudgetTooSmall = 5,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
    static LAST_SMALLEST: Cell<f64> = const { Cell::new(0.0) };
}

/// What the last failed call of this thread said; empty if none failed. Valid until the next call of this thread that
/// fails. From any thread.
#[unsafe(no_mangle)]
pub extern "C" fn lacuna_last_error() -> *const c_char {
    LAST_ERROR.try_with(|message| message.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The fewest bits per key that work, if the last failure of this thread was `LACUNA_STATUS_BUDGET_TOO_SMALL`; else 0.
/// From any thread.
#[unsafe(no_mangle)]
pub extern "C" fn lacuna_last_smallest_bits_per_key() -> f64 {
    LAST_SMALLEST.try_with(Cell::get).unwrap_or(0.0)
}

/// Does the work of a call that can fail. No panic leaves it.
pub(crate) fn attempt(work: impl FnOnce() -> Result<()>) -> Status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(error)) => fail(&error),
        Err(_) => panicked(),
    }
}

/// Answers a question; "maybe" if it panics.
#[inline]
pub(crate) fn maybe(question: impl FnOnce() -> bool) -> bool {
    catch_unwind(AssertUnwindSafe(question)).unwrap_or(true)
}

/// Notes the error and turns it into a status.
pub(crate) fn fail(error: &Error) -> Status {
    let (status, smallest) = match error.kind() {
        ErrorKind::InvalidInput => (Status::InvalidInput, 0.0),
        ErrorKind::Corrupt => (Status::Corrupt, 0.0),
        ErrorKind::Unsupported => (Status::Unsupported, 0.0),
        ErrorKind::BudgetTooSmall { smallest_bits_per_key } => {
            (Status::BudgetTooSmall, smallest_bits_per_key)
        }
        _ => (Status::Failed, 0.0),
    };
    note(&error.to_string(), smallest);
    status
}

/// Notes that one of our own invariants broke.
pub(crate) fn panicked() -> Status {
    note("this call panicked; please report it", 0.0);
    Status::Failed
}

/// Keeps what a failure said. A thread that ends may have no place for it any more: destructors of its own run after ours.
fn note(message: &str, smallest_bits_per_key: f64) {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let kept = LAST_ERROR.try_with(|last| last.replace(message)).is_ok();
    let smallest = if kept { smallest_bits_per_key } else { 0.0 };
    let _ = LAST_SMALLEST.try_with(|last| last.set(smallest));
}
