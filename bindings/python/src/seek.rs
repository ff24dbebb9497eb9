//! Next keys and counts, from families that know them.

use lacuna_base::{CountBounds, KeyType, TimeUnit};
use lacuna_families::{open_count, open_seek};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{raised, wrong_type};
use crate::held::Held;
use crate::question::{byte_bound, integer_range};
use crate::scalar::{self, Scalar};

/// The first place at or after `from` where a key may be, as a value of Python; `None` proves that there is none.
pub(crate) fn first<'py>(held: &Held, from: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = from.py();
    let key = value(from)?;
    if held.form().is_vacant {
        return Ok(None);
    }
    if held.is_over_bytes() {
        let filter = open_seek::<[u8], _>(held.bytes.clone()).map_err(|error| raised(py, &error))?;
        let mut candidate = Vec::new();
        let from = match byte_bound(held.form(), &key)? {
            std::ops::Bound::Included(from) => from,
            _ => &[],
        };
        let found = filter.first_candidate(from, &mut candidate);
        return Ok(found.map(|_| PyBytes::new(py, &candidate).into_any()));
    }
    let filter = open_seek::<u64, _>(held.bytes.clone()).map_err(|error| raised(py, &error))?;
    let Some(range) = integer_range(held.form(), &key, &Scalar::Open)? else { return Ok(None) };
    let mut candidate = 0;
    let found = filter.first_candidate(range.lo(), &mut candidate);
    found.map(|_| python_value(py, candidate, held.form().key_type)).transpose()
}

/// Bounds on the number of keys in a closed range.
pub(crate) fn count(held: &Held, lo: &Bound<'_, PyAny>, hi: &Bound<'_, PyAny>) -> PyResult<CountBounds> {
    let py = lo.py();
    let (lo, hi) = (value(lo)?, value(hi)?);
    let nothing = CountBounds { min: 0, max: 0 };
    if held.form().is_vacant {
        return Ok(nothing);
    }
    if held.is_over_bytes() {
        let filter = open_count::<[u8], _>(held.bytes.clone()).map_err(|error| raised(py, &error))?;
        let (lo, hi) = (byte_bound(held.form(), &lo)?, byte_bound(held.form(), &hi)?);
        let range = lacuna_base::ByteRange::from_bounds(lo, hi);
        return Ok(range.map_or(nothing, |range| filter.count_range(range)));
    }
    let filter = open_count::<u64, _>(held.bytes.clone()).map_err(|error| raised(py, &error))?;
    let range = integer_range(held.form(), &lo, &hi)?;
    Ok(range.map_or(nothing, |range| filter.count_range(range)))
}

fn value<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Scalar<'a>> {
    scalar::read(value)?.ok_or_else(|| wrong_type("this is asked about one value at a time"))
}

/// The value that a key stands for. Keys between two values, which a candidate can be, are the value below.
fn python_value(py: Python<'_>, key: u64, key_type: KeyType) -> PyResult<Bound<'_, PyAny>> {
    const SIGN: u64 = 1 << 63;
    let signed = (key ^ SIGN).cast_signed();
    match key_type {
        KeyType::I64 => Ok(signed.into_pyobject(py)?.into_any()),
        KeyType::F64 => {
            let bits = if key & SIGN == 0 { !key } else { key ^ SIGN };
            Ok(f64::from_bits(bits).into_pyobject(py)?.into_any())
        }
        KeyType::Date => moment(py, signed, "D"),
        KeyType::Timestamp(TimeUnit::Seconds) => moment(py, signed, "s"),
        KeyType::Timestamp(TimeUnit::Milliseconds) => moment(py, signed, "ms"),
        KeyType::Timestamp(TimeUnit::Microseconds) => moment(py, signed, "us"),
        _ => Ok(key.into_pyobject(py)?.into_any()),
    }
}

fn moment<'py>(py: Python<'py>, count: i64, unit: &str) -> PyResult<Bound<'py, PyAny>> {
    // The smallest integer is no moment in NumPy, and no key.
    py.import("numpy")?.call_method1("datetime64", (count.max(i64::MIN + 1), unit))
}
