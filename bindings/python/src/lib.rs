//! The extension module `lacuna._lacuna`, which the Python package `lacuna` consists of.
//!
//! One class: `Filter`. Keys and questions come as Python values (`scalar`) or as columns (`column`:
//! NumPy arrays, Arrow arrays, anything that is iterated); `ends` maps them to the integers or byte strings of the
//! filter's type, always so that a range holds whatever it held as Python values. `keys` and `build` make the bytes that
//! `lacuna build` makes of the same keys.
//!
//! The interpreter is free for other threads while a filter is built and while arrays are answered. Keys are copied before
//! that, so that a thread that changes their array meanwhile changes no filter.
//!
//! A test binary of Rust has nothing of this: it would have to link an interpreter, which many machines have no library of.

#![cfg(not(test))]

mod batch;
mod build;
mod column;
mod ends;
mod errors;
mod explain;
mod files;
mod filter;
mod form;
mod held;
mod keys;
mod progress;
mod question;
mod scalar;
mod secret;
mod seek;
mod value;
mod values;

use pyo3::prelude::*;

/// The compiled part of the package `lacuna`.
#[pymodule]
mod _lacuna {
    #[pymodule_export]
    use crate::errors::{BudgetTooSmallError, CorruptError, UnsupportedError};
    #[pymodule_export]
    use crate::filter::{Filter, unpickle};
}
