//! Questions about one value or one range.

use std::ops;

use lacuna_base::{ByteRange, KeySpaceId, KeyType, RangeFilter as _, TypedKey, U64Range};
use lacuna_families::AnyFilter;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt};

use crate::errors::{wrong_type, wrong_value};
use crate::form::{KeyForm, Sort};
use crate::held::Held;
use crate::scalar::{self, Scalar};
use crate::value::End;

/// The key of a number of exactly the filter's type, by the shortest way; `None` for whatever needs a longer one.
#[inline]
fn quick_key(form: KeyForm, value: &Bound<'_, PyAny>) -> Option<u64> {
    match form.key_type {
        KeyType::U64 => value.cast_exact::<PyInt>().ok()?.extract().ok(),
        KeyType::Unknown if form.space == KeySpaceId::U64 => value.cast_exact::<PyInt>().ok()?.extract().ok(),
        KeyType::I64 => value.cast_exact::<PyInt>().ok()?.extract::<i64>().ok().map(TypedKey::to_key),
        KeyType::F64 => {
            let value: f64 = value.cast_exact::<PyFloat>().ok()?.extract().ok()?;
            if value.is_nan() { None } else { Some(value.to_key()) }
        }
        _ => None,
    }
}

/// Whether `key` may be there; `None` if it is a column rather than a value.
pub(crate) fn one_key(held: &Held, key: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if let (Some(filter), Some(key)) = (held.integers(), quick_key(held.form(), key)) {
        return Ok(Some(filter.may_contain(key)));
    }
    if let (AnyFilter::Bytes(filter), Ok(key)) = (&held.filter, key.cast_exact::<PyBytes>()) {
        return Ok(Some(filter.may_contain(key.as_bytes())));
    }
    match scalar::read(key)? {
        None => Ok(None),
        Some(Scalar::Open) => Err(wrong_type("None is no key; give a value")),
        Some(key) => Ok(Some(between(held, &key, &key)?)),
    }
}

/// Whether a key may lie in the closed range; `None` if its ends are columns.
pub(crate) fn one_range(held: &Held, lo: &Bound<'_, PyAny>, hi: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if let Some(filter) = held.integers()
        && let (Some(lo), Some(hi)) = (quick_key(held.form(), lo), quick_key(held.form(), hi))
    {
        return Ok(Some(U64Range::new(lo, hi).is_some_and(|range| filter.may_contain_range(range))));
    }
    match (scalar::read(lo)?, scalar::read(hi)?) {
        (Some(lo), Some(hi)) => between(held, &lo, &hi).map(Some),
        (None, None) => Ok(None),
        _ => Err(wrong_type(
            "lo and hi are a value and a column; give two values, or two columns of one length",
        )),
    }
}

fn between(held: &Held, lo: &Scalar<'_>, hi: &Scalar<'_>) -> PyResult<bool> {
    if held.form().is_vacant {
        return Ok(false);
    }
    match &held.filter {
        AnyFilter::U64(filter) => {
            let range = integer_range(held.form(), lo, hi)?;
            Ok(range.is_some_and(|range| filter.may_contain_range(range)))
        }
        AnyFilter::Bytes(filter) => {
            let range = ByteRange::from_bounds(byte_bound(held.form(), lo)?, byte_bound(held.form(), hi)?);
            Ok(range.is_some_and(|range| filter.may_contain_range(range)))
        }
    }
}

/// The range of integers between two values; `None` if it is empty.
pub(crate) fn integer_range(form: KeyForm, lo: &Scalar<'_>, hi: &Scalar<'_>) -> PyResult<Option<U64Range>> {
    let lo = integer_end(form, lo, End::Lower)?;
    let hi = integer_end(form, hi, End::Upper)?;
    Ok(lo.zip(hi).and_then(|(lo, hi)| U64Range::new(lo, hi)))
}

fn integer_end(form: KeyForm, value: &Scalar<'_>, end: End) -> PyResult<Option<u64>> {
    match value {
        Scalar::Open => Ok(Some(if end == End::Lower { 0 } else { u64::MAX })),
        Scalar::Number(value) => {
            form.check(Sort::of(*value))?;
            value.end(end, form.key_type).map_err(|error| wrong_value(error.to_string()))
        }
        Scalar::Text(_) => Err(refused(form, Sort::Texts)),
        Scalar::Bytes(_) => Err(refused(form, Sort::Bytes)),
    }
}

/// The end of a range of byte strings.
pub(crate) fn byte_bound<'a>(form: KeyForm, value: &'a Scalar<'_>) -> PyResult<ops::Bound<&'a [u8]>> {
    match value {
        Scalar::Open => Ok(ops::Bound::Unbounded),
        Scalar::Text(text) => form.check(Sort::Texts).map(|()| ops::Bound::Included(&text[..])),
        Scalar::Bytes(bytes) => form.check(Sort::Bytes).map(|()| ops::Bound::Included(&bytes[..])),
        Scalar::Number(value) => Err(refused(form, Sort::of(*value))),
    }
}

/// The error of a sort that the keys are not.
fn refused(form: KeyForm, sort: Sort) -> PyErr {
    form.check(sort).err().unwrap_or_else(|| wrong_type("the value is of another sort than the keys"))
}
