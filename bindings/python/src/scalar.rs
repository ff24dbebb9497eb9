//! Single values of Python.

use std::borrow::Cow;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDate, PyDateTime, PyFloat, PyInt, PyString, PyType};

use crate::column;
use crate::errors::wrong_type;
use crate::value::{NOT_A_TIME, Unit, Value};
use crate::values::Values;

/// The day that Python counts as 719,163, from which moments are counted.
const EPOCH_ORDINAL: i64 = 719_163;
const DAY_MICROS: i64 = 86_400_000_000;

/// A value that is no column.
#[derive(Debug)]
pub(crate) enum Scalar<'a> {
    /// `None`: an end that is open.
    Open,
    Number(Value),
    /// A `str`, in UTF-8.
    Text(Cow<'a, [u8]>),
    Bytes(Cow<'a, [u8]>),
}

/// The value that `object` is; `None` if it is no single value.
pub(crate) fn read<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<Scalar<'a>>> {
    if object.is_none() {
        return Ok(Some(Scalar::Open));
    }
    // An int of Python, but hardly meant as a key; NumPy's arrays of bool are refused, too.
    if object.is_exact_instance_of::<PyBool>() {
        return Err(wrong_type("a bool is no key; give int(value)"));
    }
    if let Ok(value) = object.cast::<PyInt>() {
        return integer(value).map(number);
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(number(Value::Float(value.extract()?)));
    }
    if let Ok(value) = object.cast::<PyString>() {
        let text = match value.to_cow()? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        return Ok(Some(Scalar::Text(text)));
    }
    if let Ok(value) = object.cast::<PyBytes>() {
        return Ok(Some(Scalar::Bytes(Cow::Borrowed(value.as_bytes()))));
    }
    if let Ok(value) = object.cast::<PyByteArray>() {
        return Ok(Some(Scalar::Bytes(Cow::Owned(value.to_vec()))));
    }
    if let Ok(value) = object.cast::<PyDateTime>() {
        return moment(value).map(number);
    }
    if let Ok(value) = object.cast::<PyDate>() {
        let ordinal: i64 = value.call_method0("toordinal")?.extract()?;
        return Ok(number(Value::Moment(ordinal - EPOCH_ORDINAL, Unit::Days)));
    }
    of_numpy(object)
}

fn number<'a>(value: Value) -> Option<Scalar<'a>> {
    Some(Scalar::Number(value))
}

/// An integer of any size; beyond 128 bits the last that there is.
fn integer(value: &Bound<'_, PyInt>) -> PyResult<Value> {
    match value.extract::<i64>() {
        Ok(value) => Ok(Value::Integer(value.into())),
        Err(_) => match value.extract::<i128>() {
            Ok(value) => Ok(Value::Integer(value)),
            Err(_) => Ok(Value::Integer(if value.lt(0)? { i128::MIN } else { i128::MAX })),
        },
    }
}

/// A `datetime` in microseconds; one without a time zone is in UTC, as for NumPy.
fn moment(value: &Bound<'_, PyDateTime>) -> PyResult<Value> {
    if value.ne(value)? {
        return Ok(Value::Moment(NOT_A_TIME, Unit::Microseconds));
    }
    let attribute = |name: &str| -> PyResult<i64> { value.getattr(name)?.extract() };
    let days: i64 = value.call_method0("toordinal")?.extract()?;
    let minutes = attribute("hour")? * 60 + attribute("minute")?;
    let seconds = minutes * 60 + attribute("second")?;
    let local = (days - EPOCH_ORDINAL) * DAY_MICROS + seconds * 1_000_000 + attribute("microsecond")?;
    let offset = value.call_method0("utcoffset")?;
    let offset = if offset.is_none() { 0 } else { micros_of(&offset)? };
    Ok(Value::Moment(local - offset, Unit::Microseconds))
}

fn micros_of(delta: &Bound<'_, PyAny>) -> PyResult<i64> {
    let attribute = |name: &str| -> PyResult<i64> { delta.getattr(name)?.extract() };
    Ok(attribute("days")? * DAY_MICROS + attribute("seconds")? * 1_000_000 + attribute("microseconds")?)
}

static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A scalar of NumPy, or an array without dimensions.
fn of_numpy<'a>(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar<'a>>> {
    let is_scalar = match object.cast::<PyUntypedArray>() {
        Ok(array) => array.ndim() == 0,
        Err(_) => object.is_instance(GENERIC.import(object.py(), "numpy", "generic")?)?,
    };
    if !is_scalar {
        return Ok(None);
    }
    let column = column::single(object)?;
    let scalar = match column.values()? {
        values @ (Values::Text(_) | Values::Bytes(_)) => {
            let bytes = values.byte_strings().map(|strings| Cow::Owned(strings.get(0).to_vec()));
            bytes.map(|bytes| {
                if matches!(values, Values::Text(_)) { Scalar::Text(bytes) } else { Scalar::Bytes(bytes) }
            })
        }
        values => values.value(0).map(Scalar::Number),
    };
    scalar
        .map(Some)
        .ok_or_else(|| wrong_type("the value is no key; give an int, float, str, bytes, date or datetime"))
}
