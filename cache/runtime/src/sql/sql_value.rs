//! A value of a column, and its bytes.

use lacuna_base::Date;
use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::{calendar, decimal};

/// The value of a column in a row.
///
/// A value of a type without a kind of its own here (an array, an interval, an address, a point) is `Text` in the
/// database's own form, and is written back through the type of its column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SqlValue {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A float.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
    /// `digits / 10^scale`, exactly. In SQL of the application: `CAST(? AS NUMERIC)`, as it is sent as text.
    Decimal {
        /// The number without its point.
        digits: i128,
        /// Digits after the point, at most 38.
        scale: u8,
    },
    /// A day. In SQL of the application: `CAST(? AS DATE)`.
    Date(Date),
    /// A moment, in microseconds since 1970-01-01 UTC. Columns without a time zone are read and written as UTC. In
    /// SQL of the application: `CAST(? AS TIMESTAMPTZ)`, `CAST(? AS DATETIME(6))`.
    Timestamp(i64),
    /// A whole number beyond `i64`; those that `i64` holds are `Integer`.
    Unsigned(u64),
    /// True or false. MariaDB and SQLite have whole numbers instead, and return `Integer`.
    Bool(bool),
    /// A UUID by its bytes. In SQL of the application: `CAST(? AS UUID)`, as it is sent as text.
    Uuid([u8; 16]),
    /// A JSON document, as the database writes it. In SQL of the application: `CAST(? AS JSONB)`.
    Json(String),
}

impl SqlValue {
    /// The decimal in `text`, with the same number of digits after the point.
    ///
    /// # Errors
    /// `InvalidInput` if it is not a decimal, or has more than 38 digits.
    ///
    /// ```
    /// use lacuna_cache::sql::SqlValue;
    ///
    /// assert_eq!(SqlValue::decimal("-12.50")?, SqlValue::Decimal { digits: -1250, scale: 2 });
    /// assert!(SqlValue::decimal("1e3").is_err());
    /// # Ok::<(), lacuna_cache_protocol::Error>(())
    /// ```
    pub fn decimal(text: &str) -> Result<Self> {
        let (digits, scale) = decimal::parse(text)
            .ok_or_else(|| Error::invalid_input(format!("{text:?} is not a decimal of at most 38 digits")))?;
        Ok(Self::Decimal { digits, scale })
    }

    /// A day of the Gregorian calendar.
    ///
    /// # Errors
    /// `InvalidInput` if the calendar does not have it.
    ///
    /// ```
    /// use lacuna_cache::sql::SqlValue;
    ///
    /// assert!(SqlValue::date(2024, 2, 29).is_ok());
    /// assert!(SqlValue::date(2023, 2, 29).is_err());
    /// ```
    pub fn date(year: i32, month: u8, day: u8) -> Result<Self> {
        let days = calendar::day_of(year.into(), month, day);
        let is_there = calendar::civil(days) == (year.into(), month, day);
        let days = i32::try_from(days).ok().filter(|_| is_there);
        days.map(|days| Self::Date(Date { days }))
            .ok_or_else(|| Error::invalid_input(format!("there is no day {year}-{month}-{day}")))
    }

    /// The UUID in `text`: 32 hexadecimal digits, with hyphens anywhere between them or without.
    ///
    /// # Errors
    /// `InvalidInput` if it is not a UUID.
    ///
    /// ```
    /// use lacuna_cache::sql::SqlValue;
    ///
    /// let id = SqlValue::uuid("00000000-0000-0000-0000-0000000000ff")?;
    /// assert_eq!(id, SqlValue::Uuid(255_u128.to_be_bytes()));
    /// assert!(SqlValue::uuid("ff").is_err());
    /// # Ok::<(), lacuna_cache_protocol::Error>(())
    /// ```
    pub fn uuid(text: &str) -> Result<Self> {
        let digits = text.replace('-', "");
        let is_uuid = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(&digits, 16).ok().filter(|_| is_uuid);
        number
            .map(|number| Self::Uuid(number.to_be_bytes()))
            .ok_or_else(|| Error::invalid_input(format!("{text:?} is not a UUID")))
    }

    /// About the bytes that it takes when it is written.
    pub(crate) fn bytes(&self) -> usize {
        const OTHERS: usize = 16;
        match self {
            Self::Text(text) | Self::Json(text) => text.len() + OTHERS,
            Self::Blob(bytes) => bytes.len() + OTHERS,
            _ => OTHERS,
        }
    }

    /// The form for databases that have no type for it.
    pub(crate) fn as_text(&self) -> String {
        match self {
            Self::Decimal { digits, scale } => decimal::print(*digits, *scale),
            Self::Date(date) => calendar::print_day(date.days.into()),
            Self::Timestamp(micros) => calendar::print_moment(*micros),
            Self::Unsigned(value) => value.to_string(),
            Self::Uuid(bytes) => print_uuid(*bytes),
            Self::Json(text) => text.clone(),
            other => format!("{other:?}"),
        }
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        match self {
            Self::Null => writer.byte(0),
            Self::Integer(value) => {
                writer.byte(1);
                // The sign is the lowest bit, so that numbers near zero are short.
                writer.number(((value << 1) ^ (value >> 63)).cast_unsigned());
            }
            Self::Float(value) => {
                writer.byte(2);
                writer.fixed(&value.to_bits().to_le_bytes());
            }
            Self::Text(value) => {
                writer.byte(3);
                writer.bytes(value.as_bytes());
            }
            Self::Blob(value) => {
                writer.byte(4);
                writer.bytes(value);
            }
            Self::Decimal { digits, scale } => {
                writer.byte(5);
                writer.byte(*scale);
                writer.fixed(&digits.to_le_bytes());
            }
            Self::Date(date) => {
                writer.byte(6);
                writer.fixed(&date.days.to_le_bytes());
            }
            Self::Timestamp(micros) => {
                writer.byte(7);
                writer.fixed(&micros.to_le_bytes());
            }
            Self::Unsigned(value) => {
                writer.byte(8);
                writer.fixed(&value.to_le_bytes());
            }
            Self::Bool(value) => {
                writer.byte(9);
                writer.byte((*value).into());
            }
            Self::Uuid(bytes) => {
                writer.byte(10);
                writer.fixed(bytes);
            }
            Self::Json(text) => {
                writer.byte(11);
                writer.bytes(text.as_bytes());
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(match reader.byte()? {
            0 => Self::Null,
            1 => {
                let number = reader.number()?;
                Self::Integer((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
            }
            2 => Self::Float(f64::from_bits(u64::from_le_bytes(reader.fixed()?))),
            3 => Self::Text(reader.text()?),
            4 => Self::Blob(reader.bytes()?.to_vec()),
            5 => {
                let scale = reader.byte()?;
                Self::Decimal { digits: i128::from_le_bytes(reader.fixed()?), scale }
            }
            6 => Self::Date(Date { days: i32::from_le_bytes(reader.fixed()?) }),
            7 => Self::Timestamp(i64::from_le_bytes(reader.fixed()?)),
            8 => Self::Unsigned(u64::from_le_bytes(reader.fixed()?)),
            9 => Self::Bool(reader.byte()? != 0),
            10 => Self::Uuid(reader.fixed()?),
            11 => Self::Json(reader.text()?),
            _ => return Err(unknown_kind()),
        })
    }

    /// Passes over a value.
    pub(crate) fn skip(reader: &mut Reader<'_>) -> Result<()> {
        match reader.byte()? {
            0 => {}
            1 => drop(reader.number()?),
            2 | 7 | 8 => drop(reader.take(8)?),
            3 | 4 | 11 => drop(reader.bytes()?),
            5 => drop(reader.take(17)?),
            6 => drop(reader.take(4)?),
            9 => drop(reader.byte()?),
            10 => drop(reader.take(16)?),
            _ => return Err(unknown_kind()),
        }
        Ok(())
    }
}

fn unknown_kind() -> Error {
    Error::unsupported("a value of the SQL store is of an unknown kind")
}

/// Reads bytes that the SQL store wrote.
pub(crate) const fn reader(bytes: &[u8]) -> Reader<'_> {
    Reader::new(bytes, "a value or a write of the SQL store")
}

/// The text of a value that a database may return as text or as bytes.
pub(crate) fn text(value: SqlValue) -> Option<String> {
    match value {
        SqlValue::Text(text) => Some(text),
        SqlValue::Blob(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// A decimal from its text in the database. If it is not a number (`NaN`), or has too many digits, it stays text.
#[cfg_attr(
    not(any(feature = "postgres", feature = "mariadb")),
    allow(dead_code, reason = "SQLite has no decimals")
)]
pub(crate) fn decimal_or_text(text: String) -> SqlValue {
    match decimal::parse(&text) {
        Some((digits, scale)) => SqlValue::Decimal { digits, scale },
        None => SqlValue::Text(text),
    }
}

/// `550e8400-e29b-41d4-a716-446655440000`.
fn print_uuid(bytes: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

macro_rules! from {
    ($($from:ty => $variant:ident($value:ident) $into:expr,)*) => {$(
        impl From<$from> for SqlValue {
            fn from($value: $from) -> Self {
                Self::$variant($into)
            }
        }
    )*};
}
from! {
    i64 => Integer(value) value,
    i32 => Integer(value) value.into(),
    u32 => Integer(value) value.into(),
    f64 => Float(value) value,
    &str => Text(value) value.to_owned(),
    String => Text(value) value,
    Vec<u8> => Blob(value) value,
    Date => Date(value) value,
    bool => Bool(value) value,
    [u8; 16] => Uuid(value) value,
}

impl From<u64> for SqlValue {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Unsigned(value), Self::Integer)
    }
}

impl<T: Into<Self>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_come_back_from_their_text() {
        let id = SqlValue::uuid("550E8400e29b-41d4-a716446655440000").unwrap();
        assert_eq!(id.as_text(), "550e8400-e29b-41d4-a716-446655440000");
        for wrong in ["", "550e8400-e29b-41d4-a716-44665544000", "+50e8400-e29b-41d4-a716-446655440000"] {
            assert!(SqlValue::uuid(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_come_back_from_their_bytes() {
        let integers = [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN].map(SqlValue::Integer);
        let others = [
            SqlValue::Null,
            1.5.into(),
            "text".into(),
            vec![0, 255].into(),
            SqlValue::from(None::<i64>),
            SqlValue::decimal("-12.50").unwrap(),
            SqlValue::date(1969, 12, 31).unwrap(),
            SqlValue::Timestamp(i64::MIN),
            u64::MAX.into(),
            true.into(),
            false.into(),
            [7; 16].into(),
            SqlValue::Json("{}".to_owned()),
        ];
        for value in integers.into_iter().chain(others) {
            let mut writer = Writer::default();
            value.write(&mut writer);
            let mut bytes = reader(writer.as_bytes());
            assert_eq!(SqlValue::read(&mut bytes).unwrap(), value);
            assert!(bytes.is_at_end());
            let mut skipped = reader(writer.as_bytes());
            assert!(SqlValue::skip(&mut skipped).is_ok() && skipped.is_at_end(), "{value:?}");
            for len in 0..writer.as_bytes().len() {
                assert!(
                    SqlValue::read(&mut reader(&writer.as_bytes()[..len])).is_err(),
                    "{value:?} cut to {len}"
                );
            }
        }
    }
}
