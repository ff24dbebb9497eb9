//! The version of the library, which a program compares with the macros of its header.

use std::ffi::{CStr, c_char};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no zero byte"),
};

/// The version of this library, such as "0.1.0": what `LACUNA_VERSION` was when it was built. Never freed. From any
/// thread.
#[unsafe(no_mangle)]
pub extern "C" fn lacuna_version() -> *const c_char {
    VERSION.as_ptr()
}
