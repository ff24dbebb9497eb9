//! Lists, sets, generators: one Python object a value, all of one sort.

use std::borrow::Cow;

use lacuna_base::ByteColumn;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};

use super::Column;
use crate::errors::{wrong_type, wrong_value};
use crate::scalar::{self, Scalar};
use crate::value::{NOT_A_TIME, Unit, Value};
use crate::values::Values;

/// Items that are read between two looks for signals such as Ctrl-C: some milliseconds.
const ITEMS_BETWEEN_SIGNALS: usize = 1 << 16;

/// Values in their order; those of other sorts are noticed by their number.
#[derive(Default)]
struct Collected {
    numbers: Vec<Value>,
    texts: ByteColumn,
    bytes: ByteColumn,
}

/// The values of an iterable.
pub(super) fn read(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Values<'static>> {
    let is_one_string = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>();
    if is_one_string {
        return Err(no_column(object, name));
    }
    let py = object.py();
    let iterator = object.try_iter().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(py) { no_column(object, name) } else { error }
    })?;
    let mut collected = Collected::default();
    for (place, item) in iterator.enumerate() {
        // An iterator may have no end, and need not run code of Python, which would notice a signal.
        if place % ITEMS_BETWEEN_SIGNALS == 0 {
            py.check_signals()?;
        }
        collected.push(&item?, name)?;
    }
    collected.finish(name)
}

fn no_column(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let of = object.get_type().name().map_or_else(|_| "of no type".to_owned(), |name| name.to_string());
    wrong_type(format!("{name} is {of}; give an array, an Arrow column or a list"))
}

impl Collected {
    fn push(&mut self, item: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
        match scalar::read(item)? {
            Some(Scalar::Number(value)) => self.numbers.push(value),
            Some(Scalar::Text(text)) => self.texts.push(&text),
            Some(Scalar::Bytes(bytes)) => self.bytes.push(&bytes),
            Some(Scalar::Open) => {
                let place = self.len();
                return Err(wrong_value(format!(
                    "value {place} of {name} is None; leave missing values out"
                )));
            }
            None => {
                let (place, of) = (self.len(), item.get_type());
                return Err(wrong_type(format!(
                    "value {place} of {name} is of {of}; give int, float, str, bytes, date or datetime"
                )));
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.numbers.len() + self.texts.len() + self.bytes.len()
    }

    fn finish(self, name: &str) -> PyResult<Values<'static>> {
        let count = self.len();
        let Self { numbers, texts, bytes } = self;
        let values = match count {
            0 => Some(Values::Empty),
            _ if numbers.len() == count => of_numbers(&numbers)?,
            _ if texts.len() == count => Some(Values::Text(Cow::Owned(texts))),
            _ if bytes.len() == count => Some(Values::Bytes(Cow::Owned(bytes))),
            _ => None,
        };
        values.ok_or_else(|| {
            wrong_type(format!(
                "{name} has values of several sorts; give only numbers, str, bytes, dates or datetimes"
            ))
        })
    }
}

/// Integers; floats, also where integers stand among them; moments. `None` if numbers and moments are mixed.
fn of_numbers(numbers: &[Value]) -> PyResult<Option<Values<'static>>> {
    let integers =
        numbers.iter().map(|value| if let Value::Integer(value) = value { Some(*value) } else { None });
    if let Some(integers) = integers.collect() {
        return Ok(Some(Values::Wide(Cow::Owned(integers))));
    }
    let floats = numbers.iter().map(|value| match value {
        // The last integers that there are stand for all beyond them.
        Value::Integer(i128::MIN | i128::MAX) => None,
        Value::Integer(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::Moment(..) => None,
    });
    if let Some(floats) = floats.collect() {
        return Ok(Some(Values::Float(Cow::Owned(floats))));
    }
    let moments = numbers.iter().map(|value| match value {
        Value::Moment(count, unit) => Some((*count, *unit)),
        _ => None,
    });
    let moments: Option<Vec<(i64, Unit)>> = moments.collect();
    moments.map(|moments| in_one_unit(&moments)).transpose()
}

/// The moments in the finest unit among them; days do not mix with others, which they are not.
fn in_one_unit(moments: &[(i64, Unit)]) -> PyResult<Values<'static>> {
    let finest =
        moments.iter().map(|(_, unit)| *unit).min_by_key(|unit| unit.nanos()).unwrap_or(Unit::Seconds);
    if finest != Unit::Days && moments.iter().any(|(_, unit)| *unit == Unit::Days) {
        return Err(wrong_type("days stand among moments; give only dates, or only datetimes"));
    }
    let count = |&(count, unit): &(i64, Unit)| match i64::try_from(unit.nanos() / finest.nanos()) {
        Ok(ratio) if count != NOT_A_TIME => count.checked_mul(ratio),
        _ => Some(NOT_A_TIME),
    };
    let counts: Option<Vec<i64>> = moments.iter().map(count).collect();
    counts.map(|counts| Values::Moments(Cow::Owned(counts), finest)).ok_or_else(|| {
        wrong_value("the moments are of several units and too far apart for one; give one unit")
    })
}

/// The only value of a NumPy scalar.
pub(crate) fn single<'py>(object: &Bound<'py, PyAny>) -> PyResult<Column<'py>> {
    let numpy = object.py().import("numpy")?;
    // Not `asarray`, which takes the mask off a missing value.
    let array = numpy.call_method1("asanyarray", (object,))?.call_method1("reshape", (1,))?;
    Column::read(&array, "the value")
}
