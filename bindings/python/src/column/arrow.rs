//! Arrow arrays and streams of them, as the Arrow PyCapsule interface hands them over: columns of polars, pyarrow and
//! pandas.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use lacuna_base::ByteColumn;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;

use crate::errors::{wrong_type, wrong_value};
use crate::value::Unit;
use crate::values::Values;

const MILLISECONDS_OF_A_DAY: i64 = 86_400_000;

/// The values of an object that hands over Arrow arrays; `None` if it does not.
pub(super) fn read(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Values<'static>>> {
    if !object.hasattr("__arrow_c_stream__")? && !object.hasattr("__arrow_c_array__")? {
        return Ok(None);
    }
    let array = match object.extract::<AnyArray>() {
        // Without pyarrow, pandas has the method and cannot do it.
        Err(error) if error.is_instance_of::<PyImportError>(object.py()) => return Ok(None),
        array => array?,
    };
    let (chunks, field) = array.into_chunked_array()?.into_inner();
    let nulls: usize = chunks.iter().map(Array::logical_null_count).sum();
    if nulls > 0 {
        return Err(wrong_value(format!(
            "{name} has {nulls} nulls; leave missing values out, as drop_nulls() does"
        )));
    }
    values(&chunks, field.data_type(), name).map(Some)
}

fn values(chunks: &[ArrayRef], data_type: &DataType, name: &str) -> PyResult<Values<'static>> {
    Ok(match data_type {
        DataType::Null => Values::Empty,
        DataType::UInt8 => unsigned::<UInt8Type>(chunks),
        DataType::UInt16 => unsigned::<UInt16Type>(chunks),
        DataType::UInt32 => unsigned::<UInt32Type>(chunks),
        DataType::UInt64 => unsigned::<UInt64Type>(chunks),
        DataType::Int8 => Values::Signed(Cow::Owned(all::<Int8Type, _>(chunks))),
        DataType::Int16 => Values::Signed(Cow::Owned(all::<Int16Type, _>(chunks))),
        DataType::Int32 => Values::Signed(Cow::Owned(all::<Int32Type, _>(chunks))),
        DataType::Int64 => Values::Signed(Cow::Owned(all::<Int64Type, _>(chunks))),
        DataType::Float16 => Values::Float(Cow::Owned(all::<Float16Type, _>(chunks))),
        DataType::Float32 => Values::Float(Cow::Owned(all::<Float32Type, _>(chunks))),
        DataType::Float64 => Values::Float(Cow::Owned(all::<Float64Type, _>(chunks))),
        DataType::Date32 => Values::Moments(Cow::Owned(all::<Date32Type, _>(chunks)), Unit::Days),
        DataType::Date64 => Values::Moments(Cow::Owned(days(all::<Date64Type, _>(chunks))), Unit::Days),
        DataType::Timestamp(TimeUnit::Second, _) => {
            Values::Moments(Cow::Owned(all::<TimestampSecondType, _>(chunks)), Unit::Seconds)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            Values::Moments(Cow::Owned(all::<TimestampMillisecondType, _>(chunks)), Unit::Milliseconds)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Values::Moments(Cow::Owned(all::<TimestampMicrosecondType, _>(chunks)), Unit::Microseconds)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            Values::Moments(Cow::Owned(all::<TimestampNanosecondType, _>(chunks)), Unit::Nanoseconds)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            Values::Text(Cow::Owned(byte_strings(chunks)))
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Values::Bytes(Cow::Owned(byte_strings(chunks)))
        }
        DataType::Struct(_) => {
            return Err(wrong_type(format!("{name} is a table; give one of its columns")));
        }
        other => {
            return Err(wrong_type(format!(
                "{name} is an Arrow column of {other}, which has no keys; cast it to integers, floats, timestamps, dates, \
                 strings or binary"
            )));
        }
    })
}

fn unsigned<T: ArrowPrimitiveType<Native: Into<u64>>>(chunks: &[ArrayRef]) -> Values<'static> {
    Values::Unsigned(Cow::Owned(all::<T, u64>(chunks)))
}

fn all<T: ArrowPrimitiveType<Native: Into<V>>, V>(chunks: &[ArrayRef]) -> Vec<V> {
    let arrays = chunks.iter().map(AsArray::as_primitive::<T>);
    arrays.flat_map(|array| array.values().iter().map(|&value| value.into())).collect()
}

/// A date in milliseconds is the day that holds them, as one in days is: as the end of a range it is the whole day.
fn days(milliseconds: Vec<i64>) -> Vec<i64> {
    milliseconds.into_iter().map(|moment| moment.div_euclid(MILLISECONDS_OF_A_DAY)).collect()
}

/// The byte strings of all chunks, whichever of the layouts they have.
fn byte_strings(chunks: &[ArrayRef]) -> ByteColumn {
    let mut column = ByteColumn::new();
    for chunk in chunks {
        match chunk.data_type() {
            DataType::Utf8 => column.extend(chunk.as_string::<i32>().iter().flatten()),
            DataType::LargeUtf8 => column.extend(chunk.as_string::<i64>().iter().flatten()),
            DataType::Utf8View => column.extend(chunk.as_string_view().iter().flatten()),
            DataType::Binary => column.extend(chunk.as_binary::<i32>().iter().flatten()),
            DataType::LargeBinary => column.extend(chunk.as_binary::<i64>().iter().flatten()),
            DataType::BinaryView => column.extend(chunk.as_binary_view().iter().flatten()),
            _ => column.extend(chunk.as_fixed_size_binary().iter().flatten()),
        }
    }
    column
}
