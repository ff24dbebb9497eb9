//! What keys are, and what values they stand for.
//!
//! A value of an enumeration that comes from C is taken as a number and checked: C lets any number be one.

use std::ffi::c_uint;

use lacuna_base::{Error, KeyType as CoreKeyType, Result, TimeUnit};

/// What the keys of a filter are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum KeySpace {
    /// Unsigned integers of 64 bits.
    U64 = 0,
    /// Byte strings in the order of `memcmp`.
    Bytes = 1,
}

/// What values the keys of a filter stand for. A filter is asked in the type that it names; a question of another type is
/// answered "maybe".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum KeyType {
    /// Not noted: integers or byte strings as they are. In a plan: what the function takes.
    Unknown = 0,
    /// Unsigned integers: functions that end with `_u64`.
    U64 = 1,
    /// Signed integers: functions that end with `_i64`. As keys: the sign bit flipped.
    I64 = 2,
    /// Floating-point numbers: functions that end with `_f64`. As keys: all bits flipped if negative, else the sign bit.
    F64 = 3,
    /// Days since 1970-01-01: `_i64`.
    Date = 4,
    /// Seconds since 1970-01-01T00:00:00Z: `_i64`.
    TimestampSeconds = 5,
    /// Milliseconds, likewise.
    TimestampMilliseconds = 6,
    /// Microseconds, likewise.
    TimestampMicroseconds = 7,
    /// Texts: functions that end with `_bytes`.
    Text = 8,
    /// Byte strings, written in hexadecimal: `_bytes`.
    Hex = 9,
    /// Tuples of fields: `_bytes`.
    Tuple = 10,
}

/// A `KeyType` from C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct KeyTypeNumber(pub c_uint);

impl KeyTypeNumber {
    /// The type with this number.
    pub(crate) fn checked(self) -> Result<CoreKeyType> {
        const TYPES: [CoreKeyType; 11] = [
            CoreKeyType::Unknown,
            CoreKeyType::U64,
            CoreKeyType::I64,
            CoreKeyType::F64,
            CoreKeyType::Date,
            CoreKeyType::Timestamp(TimeUnit::Seconds),
            CoreKeyType::Timestamp(TimeUnit::Milliseconds),
            CoreKeyType::Timestamp(TimeUnit::Microseconds),
            CoreKeyType::Text,
            CoreKeyType::Hex,
            CoreKeyType::Tuple,
        ];
        let place = usize::try_from(self.0).ok();
        place.and_then(|place| TYPES.get(place)).copied().ok_or_else(|| {
            Error::invalid_input(format!("{} is no key type; give a LACUNA_KEY_TYPE_...", self.0))
        })
    }
}

impl From<KeyType> for KeyTypeNumber {
    fn from(key_type: KeyType) -> Self {
        Self(key_type as c_uint)
    }
}

impl From<CoreKeyType> for KeyType {
    fn from(key_type: CoreKeyType) -> Self {
        match key_type {
            CoreKeyType::U64 => Self::U64,
            CoreKeyType::I64 => Self::I64,
            CoreKeyType::F64 => Self::F64,
            CoreKeyType::Date => Self::Date,
            CoreKeyType::Timestamp(TimeUnit::Seconds) => Self::TimestampSeconds,
            CoreKeyType::Timestamp(TimeUnit::Milliseconds) => Self::TimestampMilliseconds,
            CoreKeyType::Timestamp(TimeUnit::Microseconds) => Self::TimestampMicroseconds,
            CoreKeyType::Text => Self::Text,
            CoreKeyType::Hex => Self::Hex,
            CoreKeyType::Tuple => Self::Tuple,
            _ => Self::Unknown,
        }
    }
}

/// The values that a function takes, by the end of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// `_u64`.
    Unsigned,
    /// `_i64`.
    Signed,
    /// `_f64`.
    Floats,
    /// `_bytes`.
    Strings,
}

impl Values {
    /// The values that stand for keys of a type; `None` if that is not noted.
    pub(crate) fn of(key_type: CoreKeyType) -> Option<Self> {
        match key_type {
            CoreKeyType::U64 => Some(Self::Unsigned),
            CoreKeyType::I64 | CoreKeyType::Date | CoreKeyType::Timestamp(_) => Some(Self::Signed),
            CoreKeyType::F64 => Some(Self::Floats),
            CoreKeyType::Text | CoreKeyType::Hex | CoreKeyType::Tuple => Some(Self::Strings),
            _ => None,
        }
    }

    /// The type that a filter built of these values notes, if `asked` is what the plan says.
    pub(crate) fn noted_type(self, asked: CoreKeyType) -> Result<CoreKeyType> {
        match (self, asked) {
            (Self::Unsigned, CoreKeyType::Unknown) => Ok(CoreKeyType::U64),
            (Self::Signed, CoreKeyType::Unknown) => Ok(CoreKeyType::I64),
            (Self::Floats, CoreKeyType::Unknown) => Ok(CoreKeyType::F64),
            (Self::Strings, CoreKeyType::Unknown) => Ok(CoreKeyType::Unknown),
            (values, asked) if Self::of(asked) == Some(values) => Ok(asked),
            (values, asked) => Err(Error::invalid_input(format!(
                "keys of type {} are not {}; call the function for that type",
                asked.name(),
                values.name()
            ))),
        }
    }

    /// What they are called in a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned integers",
            Self::Signed => "signed integers",
            Self::Floats => "floating-point numbers",
            Self::Strings => "byte strings",
        }
    }
}
