//! Questions about columns, answered into arrays of bool.

use lacuna_base::RangeFilter as _;
use lacuna_families::AnyFilter;
use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::column::Column;
use crate::ends::{IntegerEnds, byte_strings};
use crate::errors::{raised, wrong_type, wrong_value};
use crate::held::Held;
use crate::values::Values;

/// Answers about the closed ranges between `los` and `his`, in `out` or in a new array, which is returned.
pub(crate) fn ask<'py>(
    py: Python<'py>,
    held: &Held,
    los: &Column<'py>,
    his: &Column<'py>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (los, his) = (los.values()?, his.values()?);
    if los.len() != his.len() {
        let (los, his) = (los.len(), his.len());
        return Err(wrong_value(format!("lo has {los} values and hi {his}; give columns of one length")));
    }
    held.form().check_all(&los)?;
    held.form().check_all(&his)?;
    out.map_or(Ok(()), |out| check_places(out, los.len()))?;
    let mut answers = vec![false; los.len()];
    py.detach(|| answer(held, los, his, &mut answers)).map_err(|error| raised(py, &error))?;
    let answers = PyArray1::from_vec(py, answers).into_any();
    let Some(out) = out else { return Ok(answers) };
    // NumPy writes to it: other threads may do so, too, and an array of `np.empty` holds bytes that are no bools, which no
    // reference to bools may meet.
    py.import("numpy")?.call_method1("copyto", (out, answers))?;
    Ok(out.clone())
}

fn answer(held: &Held, los: Values<'_>, his: Values<'_>, answers: &mut [bool]) -> lacuna_base::Result<()> {
    match &held.filter {
        _ if held.form().is_vacant => answers.fill(false),
        AnyFilter::U64(filter) if !los.is_empty() => {
            IntegerEnds::of(los, his, held.form().key_type)?.ask(&**filter, answers);
        }
        AnyFilter::U64(_) => {}
        AnyFilter::Bytes(filter) => {
            let (los, his) = (byte_strings(&los)?, byte_strings(&his)?);
            filter.may_contain_pairs(&los, &his, answers);
        }
    }
    Ok(())
}

/// Refuses an `out` that is no contiguous array of `len` bools which may be written.
fn check_places(out: &Bound<'_, PyAny>, len: usize) -> PyResult<()> {
    let array = out.cast::<PyArray1<bool>>().map_err(|_| {
        wrong_type("out is no array of bool with one dimension; give np.empty(len(lo), dtype=bool)")
    })?;
    if array.len() != len {
        let found = array.len();
        return Err(wrong_value(format!("out has {found} places for {len} answers; give one for each")));
    }
    if !array.is_contiguous() {
        return Err(wrong_value("out has gaps; give a contiguous array"));
    }
    if !array.getattr("flags")?.getattr("writeable")?.is_truthy()? {
        return Err(wrong_value("out is read-only; give an array that may be written"));
    }
    Ok(())
}
