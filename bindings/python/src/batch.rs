//! Questions about columns, answered into arrays of bool.

use lacuna_base::RangeFilter as _;
use lacuna_families::AnyFilter;
use numpy::{PyArray1, PyArrayMethods, PyReadwriteArray1, PyUntypedArrayMethods};
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
    let answers = answer_array(py, los.len(), out)?;
    let mut borrowed = writable(&answers)?;
    if !answers.is_contiguous() {
        return Err(wrong_value("out has gaps; give a contiguous array"));
    }
    // An array of `np.empty` holds bytes that are no bools, which no reference to bools may meet: numpy overwrites them.
    answers.call_method1("fill", (false,))?;
    let places = borrowed.as_slice_mut().expect("the array is contiguous");
    py.detach(|| answer(held, los, his, places)).map_err(|error| raised(py, &error))?;
    drop(borrowed);
    Ok(answers.into_any())
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

/// `out`, if it is an array of `len` bools, or a new one.
fn answer_array<'py>(
    py: Python<'py>,
    len: usize,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let Some(out) = out else { return Ok(PyArray1::zeros(py, len, false)) };
    let array = out.cast::<PyArray1<bool>>().map_err(|_| {
        wrong_type("out is no array of bool with one dimension; give np.empty(len(lo), dtype=bool)")
    })?;
    if array.len() != len {
        let found = array.len();
        return Err(wrong_value(format!("out has {found} places for {len} answers; give one for each")));
    }
    Ok(array.clone())
}

fn writable<'py>(array: &Bound<'py, PyArray1<bool>>) -> PyResult<PyReadwriteArray1<'py, bool>> {
    array.try_readwrite().map_err(|error| {
        wrong_value(match error {
            numpy::BorrowError::NotWriteable => "out is read-only; give an array that may be written",
            _ => "out shares memory with lo or hi, or another thread uses it; give an array of its own",
        })
    })
}
