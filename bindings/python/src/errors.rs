//! Errors as Python raises them: a class for each thing to do, and the sentence of the error.

use lacuna_base::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    lacuna,
    CorruptError,
    PyValueError,
    "The bytes are damaged or no filter: read the data, and build the filter again."
);
create_exception!(
    lacuna,
    UnsupportedError,
    PyValueError,
    "The filter is newer than this package, or its family cannot do this: read the data instead."
);
create_exception!(
    lacuna,
    BudgetTooSmallError,
    PyValueError,
    "The filter does not fit; its attribute `smallest_bits_per_key` says what would do."
);

/// The exception for an error of the library.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Corrupt => CorruptError::new_err(message),
        ErrorKind::Unsupported => UnsupportedError::new_err(message),
        ErrorKind::Unavailable => PyOSError::new_err(message),
        ErrorKind::BudgetTooSmall { smallest_bits_per_key } => {
            let raised = BudgetTooSmallError::new_err(message);
            match raised.value(py).setattr("smallest_bits_per_key", smallest_bits_per_key) {
                Ok(()) => raised,
                Err(error) => error,
            }
        }
        _ => PyValueError::new_err(message),
    }
}

/// `TypeError`: the value is of a type that does not go here.
pub(crate) fn wrong_type(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

/// `ValueError`: the type is right, the value is not.
pub(crate) fn wrong_value(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
