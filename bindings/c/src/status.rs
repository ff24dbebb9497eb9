//! How a call ended, and what the last failure of this thread said.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use lacuna_base::{Error, ErrorKind};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// It worked.
    Ok = 0,
    /// An argument is wrong; `lacuna_last_error` says which.
    InvalidInput = 1,
    /// The bytes do not hold together: read the data instead.
    Corrupt = 2,
    /// The bytes are newer than this library, or of a kind it does not know: read the data instead.
    Unsupported = 3,
    /// Anything else.
    Failed = 4,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// What the last failed call of this thread said; empty if none failed. Valid until the next call that fails.
#[unsafe(no_mangle)]
pub extern "C" fn lacuna_last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|message| message.as_ptr())
}

/// Notes the error and turns it into a status.
pub(crate) fn fail(error: &Error) -> Status {
    note(&error.to_string());
    match error.kind() {
        ErrorKind::InvalidInput => Status::InvalidInput,
        ErrorKind::Corrupt => Status::Corrupt,
        ErrorKind::Unsupported => Status::Unsupported,
        _ => Status::Failed,
    }
}

/// Notes that one of our own invariants broke.
pub(crate) fn panicked() -> Status {
    note("this call panicked; please report it");
    Status::Failed
}

fn note(message: &str) {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    LAST_ERROR.with_borrow_mut(|last| *last = message);
}
