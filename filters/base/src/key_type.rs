//! What values the keys of a filter stand for, as noted in its envelope.
//!
//! A filter knows integers and byte strings. Which values they stand for decides how a question must be asked: the day
//! 2024-01-31, the number 19,753 and the second 19,753 are three integers. A filter that names the type of its keys lets
//! a caller refuse a question of another type, whose "no" would be false.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::key::KeySpaceId;

/// The type of the values that keys were made from.
///
/// ```
/// use lacuna_base::{KeySpaceId, KeyType, TimeUnit};
///
/// let key_type: KeyType = "f64".parse()?;
/// assert_eq!(key_type.key_space(), Some(KeySpaceId::U64));
/// assert_eq!("timestamp".parse::<KeyType>()?, KeyType::Timestamp(TimeUnit::Microseconds));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeyType {
    /// Not noted: the caller made integers or byte strings of values of its own.
    #[default]
    Unknown,
    /// Unsigned integers.
    U64,
    /// Signed integers, sign bit flipped.
    I64,
    /// Floating-point numbers, see [`TypedKey`](crate::TypedKey).
    F64,
    /// Days, see [`Date`](crate::Date).
    Date,
    /// Moments, counted from 1970 in UTC, see [`Timestamp`](crate::Timestamp).
    Timestamp(TimeUnit),
    /// Byte strings that are texts.
    Text,
    /// Byte strings that are written in hexadecimal.
    Hex,
    /// Byte strings that [`tuple`](crate::tuple) makes.
    Tuple,
}

/// The unit in which moments are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum TimeUnit {
    /// Seconds.
    Seconds = 0,
    /// Milliseconds.
    Milliseconds = 1,
    /// Microseconds.
    Microseconds = 2,
}

impl TimeUnit {
    /// Every unit, the coarsest first.
    pub const ALL: [Self; 3] = [Self::Seconds, Self::Milliseconds, Self::Microseconds];

    /// Microseconds in one unit.
    pub fn micros(self) -> i64 {
        match self {
            Self::Seconds => 1_000_000,
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1,
        }
    }

    /// The name, such as `seconds`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
        }
    }
}

impl KeyType {
    /// The types that can be read from text, moments in their finest unit.
    pub const WRITTEN: [Self; 7] = [
        Self::U64,
        Self::I64,
        Self::F64,
        Self::Date,
        Self::Timestamp(TimeUnit::Microseconds),
        Self::Text,
        Self::Hex,
    ];

    /// The name, such as `f64`; that of moments does not tell their unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
            Self::Date => "date",
            Self::Timestamp(_) => "timestamp",
            Self::Text => "text",
            Self::Hex => "hex",
            Self::Tuple => "tuple",
        }
    }

    /// The unit of moments.
    pub fn time_unit(self) -> Option<TimeUnit> {
        match self {
            Self::Timestamp(unit) => Some(unit),
            _ => None,
        }
    }

    /// The key space of keys of this type; none if it is not known.
    pub fn key_space(self) -> Option<KeySpaceId> {
        match self {
            Self::Unknown => None,
            Self::U64 | Self::I64 | Self::F64 | Self::Date | Self::Timestamp(_) => Some(KeySpaceId::U64),
            Self::Text | Self::Hex | Self::Tuple => Some(KeySpaceId::Bytes),
        }
    }

    /// Whether keys of this type are byte strings rather than integers.
    pub fn is_bytes(self) -> bool {
        self.key_space() == Some(KeySpaceId::Bytes)
    }

    /// The two bytes of the envelope: the type's number, and the unit's.
    pub fn to_le_bytes(self) -> [u8; 2] {
        match self {
            Self::Unknown => [0, 0],
            Self::U64 => [1, 0],
            Self::I64 => [2, 0],
            Self::F64 => [3, 0],
            Self::Date => [4, 0],
            Self::Timestamp(unit) => [5, unit as u8],
            Self::Text => [6, 0],
            Self::Hex => [7, 0],
            Self::Tuple => [8, 0],
        }
    }

    /// The type that these two bytes of an envelope name.
    ///
    /// # Errors
    /// `Unsupported` for a type or unit that this version does not know.
    pub(crate) fn from_le_bytes(bytes: [u8; 2]) -> Result<Self> {
        let units = TimeUnit::ALL.map(Self::Timestamp);
        let all = Self::WRITTEN.into_iter().chain(units).chain([Self::Unknown, Self::Tuple]);
        let found = all.into_iter().find(|key_type| key_type.to_le_bytes() == bytes);
        let [number, unit] = bytes;
        found.ok_or_else(|| {
            Error::unsupported(format!("key type {number}, unit {unit} is not known to this version"))
        })
    }
}

/// The name, and the unit of moments: `timestamp in seconds`.
impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.time_unit().map_or(Ok(()), |unit| write!(f, " in {}", unit.name()))
    }
}

/// Reads a name of [`KeyType::WRITTEN`].
impl FromStr for KeyType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::WRITTEN.into_iter().find(|key_type| key_type.name() == text).ok_or_else(|| {
            let names = Self::WRITTEN.map(Self::name).join(", ");
            Error::invalid_input(format!("`{text}` is not a key type; give one of {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn numbers_read_back() {
        let units = TimeUnit::ALL.map(KeyType::Timestamp);
        for key_type in KeyType::WRITTEN.into_iter().chain(units).chain([KeyType::Unknown, KeyType::Tuple]) {
            assert_eq!(KeyType::from_le_bytes(key_type.to_le_bytes()).unwrap(), key_type);
        }
    }

    #[test]
    fn other_numbers_are_unsupported() {
        for bytes in [[9, 0], [255, 255], [1, 1], [5, 3], [0, 1]] {
            let error = KeyType::from_le_bytes(bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{bytes:?}");
        }
    }

    #[test]
    fn names_read_back() {
        for key_type in KeyType::WRITTEN {
            assert_eq!(key_type.name().parse::<KeyType>().unwrap(), key_type);
        }
        let message = "u65".parse::<KeyType>().unwrap_err().to_string();
        assert_eq!(message, "`u65` is not a key type; give one of u64, i64, f64, date, timestamp, text, hex");
        assert!("tuple".parse::<KeyType>().is_err() && "unknown".parse::<KeyType>().is_err());
    }
}
