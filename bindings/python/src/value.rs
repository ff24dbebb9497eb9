//! One value of Python as a key, and as an end of a range of keys.
//!
//! The map from values to keys keeps the order, but some values share a key (moments that the filter's unit does not tell
//! apart) and some have none (-1 in a filter over unsigned integers). An end of a range goes where no key of the range is
//! lost: a lower end to the key at or below it, an upper end likewise, a bare day as an upper end to its last moment. What
//! lies beyond all keys becomes the last of them, or makes the range empty.

use lacuna_base::{Date, Error, KeyType, Result, TimeUnit, TypedKey};

/// A number or a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// An integer; those beyond 128 bits are the last that there are.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// Units since 1970-01-01T00:00:00Z; [`NOT_A_TIME`] is none.
    Moment(i64, Unit),
}

/// The count that NumPy gives a moment that is missing.
pub(crate) const NOT_A_TIME: i64 = i64::MIN;

/// A unit of moments, as NumPy and Arrow count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl Unit {
    /// The unit with NumPy's name, such as `us`.
    pub(crate) fn from_numpy(name: &str) -> Option<Self> {
        Some(match name {
            "D" => Self::Days,
            "h" => Self::Hours,
            "m" => Self::Minutes,
            "s" => Self::Seconds,
            "ms" => Self::Milliseconds,
            "us" => Self::Microseconds,
            "ns" => Self::Nanoseconds,
            _ => return None,
        })
    }

    /// Its length.
    pub(crate) fn nanos(self) -> i128 {
        match self {
            Self::Days => 86_400_000_000_000,
            Self::Hours => 3_600_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }
}

/// Which end of a range a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Lower,
    Upper,
}

impl Value {
    /// Its key as an end of a range of keys of `key_type`, which has values of this sort; `None` if the range is empty,
    /// since all keys lie on the other side of it.
    #[inline]
    pub(crate) fn end(self, end: End, key_type: KeyType) -> Result<Option<u64>> {
        match (self, key_type) {
            (Self::Float(value), _) if value.is_nan() => {
                Err(Error::invalid_input("NaN is no key and no end of a range; give a number, -inf or inf"))
            }
            (Self::Float(value), _) => Ok(Some(value.to_key())),
            (Self::Integer(value), KeyType::F64) => Ok(Some(float_end(value, end).to_key())),
            (Self::Integer(value), KeyType::I64) => Ok(signed_end(value, end)),
            (Self::Integer(value), KeyType::Unknown) if value < 0 => Err(Error::invalid_input(
                "the filter does not say what its integers stand for; give them as it has them, from 0 to 2**64 - 1",
            )),
            (Self::Integer(value), _) => Ok(unsigned_end(value, end)),
            (Self::Moment(NOT_A_TIME, _), _) => {
                Err(Error::invalid_input("NaT is no key and no end of a range; give a moment"))
            }
            (Self::Moment(count, unit), key_type) => Ok(moment_end(count, unit, end, key_type)),
        }
    }
}

/// Rounding to the nearest number keeps the order, so nothing in the range is lost; the last integer that there is stands for
/// all beyond it.
fn float_end(value: i128, end: End) -> f64 {
    match (value, end) {
        (i128::MIN, End::Lower) => f64::NEG_INFINITY,
        (i128::MAX, End::Upper) => f64::INFINITY,
        _ => value as f64,
    }
}

#[inline]
fn unsigned_end(value: i128, end: End) -> Option<u64> {
    match end {
        End::Lower => u64::try_from(value.max(0)).ok(),
        End::Upper => u64::try_from(value.min(i128::from(u64::MAX))).ok(),
    }
}

#[inline]
fn signed_end(value: i128, end: End) -> Option<u64> {
    let held = match end {
        End::Lower => value.max(i128::from(i64::MIN)),
        End::Upper => value.min(i128::from(i64::MAX)),
    };
    i64::try_from(held).ok().map(TypedKey::to_key)
}

fn moment_end(count: i64, unit: Unit, end: End, key_type: KeyType) -> Option<u64> {
    let mut nanos = i128::from(count) * unit.nanos();
    if unit == Unit::Days && end == End::Upper {
        nanos += Unit::Days.nanos() - 1;
    }
    let length = match key_type {
        KeyType::Timestamp(unit) => i128::from(unit.micros()) * 1_000,
        _ => Unit::Days.nanos(),
    };
    signed_end(nanos.div_euclid(length), end)
}

/// The keys of moments counted in `unit`, and what they stand for: days, or moments in the coarsest unit that tells them
/// apart. Fractions of a microsecond are rounded down.
pub(crate) fn moment_keys(counts: &[i64], unit: Unit) -> Result<(Vec<u64>, KeyType)> {
    if let Some(place) = counts.iter().position(|&count| count == NOT_A_TIME) {
        return Err(missing(place, "NaT"));
    }
    let beyond =
        || Error::invalid_input("a key lies further from 1970 than its unit counts; leave such keys out");
    match unit {
        Unit::Days => {
            let day = |&count| i32::try_from(count).map(|days| Date { days }.to_key()).map_err(|_| beyond());
            Ok((counts.iter().map(day).collect::<Result<_>>()?, KeyType::Date))
        }
        Unit::Hours | Unit::Minutes | Unit::Seconds => {
            let seconds = i64::try_from(unit.nanos() / Unit::Seconds.nanos()).expect("at most an hour");
            let key = |&count: &i64| count.checked_mul(seconds).map(TypedKey::to_key).ok_or_else(beyond);
            let keys = counts.iter().map(key).collect::<Result<_>>()?;
            Ok((keys, KeyType::Timestamp(TimeUnit::Seconds)))
        }
        Unit::Milliseconds => Ok(in_coarsest_unit(counts, TimeUnit::Milliseconds)),
        Unit::Microseconds => Ok(in_coarsest_unit(counts, TimeUnit::Microseconds)),
        Unit::Nanoseconds => {
            let micros: Vec<i64> = counts.iter().map(|count| count.div_euclid(1_000)).collect();
            Ok(in_coarsest_unit(&micros, TimeUnit::Microseconds))
        }
    }
}

fn in_coarsest_unit(counts: &[i64], unit: TimeUnit) -> (Vec<u64>, KeyType) {
    let ratio = |coarse: &TimeUnit| coarse.micros() / unit.micros();
    let mut units = TimeUnit::ALL.into_iter().take_while(|coarse| *coarse < unit);
    let coarsest = units.find(|coarse| counts.iter().all(|count| count % ratio(coarse) == 0)).unwrap_or(unit);
    let ratio = ratio(&coarsest);
    (counts.iter().map(|count| (count / ratio).to_key()).collect(), KeyType::Timestamp(coarsest))
}

/// The error of a key without a value.
pub(crate) fn missing(place: usize, what: &str) -> Error {
    Error::invalid_input(format!("key {place} is {what}, which no range holds; leave missing values out"))
}
