//! NumPy arrays.

use numpy::{
    Element, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::{Column, sequence};
use crate::errors::{wrong_type, wrong_value};
use crate::value::Unit;

/// The array that `object` is, or is at no cost: that of a column of pandas with numbers or moments of NumPy.
pub(super) fn as_array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(Some(array.clone()));
    }
    let Some(dtype) = object.getattr_opt("dtype")? else { return Ok(None) };
    match dtype.cast::<PyArrayDescr>() {
        Ok(dtype) if matches!(dtype.kind(), b'i' | b'u' | b'f' | b'M') => converted(object),
        _ => Ok(None),
    }
}

/// The array that `object` makes of itself, if it can.
pub(super) fn converted<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if !object.hasattr("__array__")? {
        return Ok(None);
    }
    let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    Ok(Some(array.cast_into::<PyUntypedArray>()?))
}

/// The column that `array` is.
pub(super) fn read<'py>(array: &Bound<'py, PyUntypedArray>, name: &str) -> PyResult<Column<'py>> {
    if array.ndim() != 1 {
        let (ndim, advice) = (array.ndim(), "give one dimension, such as array.ravel()");
        return Err(wrong_value(format!("{name} has {ndim} dimensions; {advice}")));
    }
    check_mask(array, name)?;
    let dtype = array.dtype();
    match (dtype.kind(), dtype.itemsize()) {
        (b'u', _) => Ok(Column::Unsigned(native(array, "u8")?)),
        (b'i', _) => Ok(Column::Signed(native(array, "i8")?)),
        (b'f', ..=8) => Ok(Column::Float(native(array, "f8")?)),
        (b'M', _) => moments(array, &dtype, name),
        (b'S', _) => binary(array, &dtype, name),
        // Bytes of one length; records have names.
        (b'V', _) if !dtype.has_fields() && !dtype.has_subarray() => values(array, name),
        (b'U' | b'T' | b'O', _) => values(array, name),
        _ => Err(wrong_type(format!(
            "{name} has dtype {dtype}, which has no keys; give integers, floats of at most 64 bits, datetime64, str or bytes"
        ))),
    }
}

fn values<'py>(array: &Bound<'py, PyUntypedArray>, name: &str) -> PyResult<Column<'py>> {
    sequence::read(&array.call_method0("tolist")?, name).map(Column::Owned)
}

/// Byte strings that NumPy pads with zeros, so that it drops those at the end of a value. Other zeros say that the values
/// are no text, and what was dropped is not known.
fn binary<'py>(
    array: &Bound<'py, PyUntypedArray>,
    dtype: &Bound<'py, PyArrayDescr>,
    name: &str,
) -> PyResult<Column<'py>> {
    let list = array.call_method0("tolist")?;
    for value in list.try_iter()? {
        if value?.cast::<PyBytes>()?.as_bytes().contains(&0) {
            let length = dtype.itemsize();
            return Err(wrong_value(format!(
                "{name} has zero bytes in it, which dtype {dtype} drops at the end of a value; give array.view('V{length}')"
            )));
        }
    }
    sequence::read(&list, name).map(Column::Owned)
}

/// Refuses a masked array in which a value is masked, and so missing.
fn check_mask(array: &Bound<'_, PyUntypedArray>, name: &str) -> PyResult<()> {
    let Some(mask) = array.getattr_opt("mask")? else { return Ok(()) };
    if array.py().import("numpy")?.call_method1("any", (mask,))?.is_truthy()? {
        return Err(wrong_value(format!(
            "{name} has masked values, which are missing; leave them out, as array.compressed() does"
        )));
    }
    Ok(())
}

/// Moments, as the integers that NumPy keeps for them.
fn moments<'py>(
    array: &Bound<'py, PyUntypedArray>,
    dtype: &Bound<'py, PyArrayDescr>,
    name: &str,
) -> PyResult<Column<'py>> {
    let py = array.py();
    let counted = py.import("numpy")?.call_method1("datetime_data", (dtype,))?;
    let (unit, step): (String, i64) = counted.extract()?;
    let Some(unit) = Unit::from_numpy(&unit).filter(|_| step == 1) else {
        return Err(wrong_type(format!(
            "{name} has dtype {dtype}; give datetime64 in D, h, m, s, ms, us or ns, such as array.astype('datetime64[us]')"
        )));
    };
    let ordered = if is_native(dtype) { array.clone().into_any() } else { in_native_order(array)? };
    let counts = ordered.call_method1("view", (PyString::new(py, "i8"),))?;
    Ok(Column::Moments(native(counts.cast::<PyUntypedArray>()?, "i8")?, unit))
}

fn is_native(dtype: &Bound<'_, PyArrayDescr>) -> bool {
    dtype.is_native_byteorder() != Some(false)
}

fn in_native_order<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyAny>> {
    let dtype = array.dtype().call_method1("newbyteorder", ("=",))?;
    array.call_method1("astype", (dtype,))
}

/// A copy of the array as elements of `T`, which NumPy calls `dtype`. Only this column has it, so no thread writes to it while
/// it is read without the interpreter. NumPy makes it, so that no reference of Rust meets an array that is written to: code of
/// NumPy writes without the interpreter, too.
fn native<'py, T: Element>(
    array: &Bound<'py, PyUntypedArray>,
    dtype: &str,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    let copy = array.py().import("numpy")?.call_method1("array", (array, dtype))?;
    copy.cast_into::<PyArray1<T>>()?.try_readonly().map_err(|error| wrong_value(error.to_string()))
}
