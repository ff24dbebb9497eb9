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

#[cfg(not(test))]
mod batch;
#[cfg(not(test))]
mod build;
#[cfg(not(test))]
mod column;
#[cfg(not(test))]
mod ends;
#[cfg(not(test))]
mod errors;
#[cfg(not(test))]
mod explain;
#[cfg(not(test))]
mod files;
#[cfg(not(test))]
mod filter;
#[cfg(not(test))]
mod form;
#[cfg(not(test))]
mod held;
#[cfg(not(test))]
mod keys;
#[cfg(not(test))]
mod progress;
#[cfg(not(test))]
mod question;
#[cfg(not(test))]
mod scalar;
#[cfg(not(test))]
mod seek;
#[cfg(not(test))]
mod value;
#[cfg(not(test))]
mod values;

#[cfg(not(test))]
use pyo3::prelude::*;

/// The compiled part of the package `lacuna`.
#[cfg(not(test))]
#[pymodule]
mod _lacuna {
    #[pymodule_export]
    use crate::errors::{BudgetTooSmallError, CorruptError, UnsupportedError};
    #[pymodule_export]
    use crate::filter::{Filter, unpickle};
}
