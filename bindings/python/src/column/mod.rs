//! Columns of values: NumPy arrays, Arrow arrays, and whatever else can be iterated.
//!
//! A NumPy array is copied into one of `uint64`, `int64` or `float64`: other threads may write to it while its values are read
//! without the interpreter. Arrow arrays are read through the Arrow PyCapsule interface, and copied, as are lists.

mod array;
mod arrow;
mod sequence;

pub(crate) use sequence::single;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::borrow::Cow;

use crate::errors::wrong_value;
use crate::value::Unit;
use crate::values::Values;

/// A column. Its array is a copy that nothing else has.
pub(crate) enum Column<'py> {
    Unsigned(PyReadonlyArray1<'py, u64>),
    Signed(PyReadonlyArray1<'py, i64>),
    Float(PyReadonlyArray1<'py, f64>),
    Moments(PyReadonlyArray1<'py, i64>, Unit),
    Owned(Values<'static>),
}

impl<'py> Column<'py> {
    /// The column that `object` is; `name` says in an error which one.
    pub(crate) fn read(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Some(array) = array::as_array(object)? {
            return array::read(&array, name);
        }
        if let Some(values) = arrow::read(object, name)? {
            return Ok(Self::Owned(values));
        }
        match array::converted(object)? {
            Some(array) => array::read(&array, name),
            None => sequence::read(object, name).map(Self::Owned),
        }
    }

    /// Its values.
    pub(crate) fn values(&self) -> PyResult<Values<'_>> {
        let contiguous = |_| wrong_value("the array changed its shape meanwhile; leave it as it is");
        Ok(match self {
            Self::Unsigned(array) => Values::Unsigned(Cow::Borrowed(array.as_slice().map_err(contiguous)?)),
            Self::Signed(array) => Values::Signed(Cow::Borrowed(array.as_slice().map_err(contiguous)?)),
            Self::Float(array) => Values::Float(Cow::Borrowed(array.as_slice().map_err(contiguous)?)),
            Self::Moments(array, unit) => {
                Values::Moments(Cow::Borrowed(array.as_slice().map_err(contiguous)?), *unit)
            }
            Self::Owned(values) => values.borrowed(),
        })
    }

    /// Its values, which no other thread can change any more.
    pub(crate) fn into_owned(self) -> PyResult<Values<'static>> {
        match self {
            Self::Owned(values) => Ok(values),
            borrowed => Ok(borrowed.values()?.into_owned()),
        }
    }
}
