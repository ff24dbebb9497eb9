//! A value of a column, and its bytes.

use lacuna_core::{Error, Result};

use crate::bytes::{Reader, Writer};

/// What a column of a row holds.
#[derive(Debug, Clone, PartialEq)]
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
}

impl SqlValue {
    pub(crate) fn write(&self, writer: &mut Writer) {
        match self {
            Self::Null => writer.byte(0),
            Self::Integer(value) => {
                writer.byte(1);
                // The sign goes to the lowest bit, so that small numbers are short.
                writer.number(((value << 1) ^ (value >> 63)).cast_unsigned());
            }
            Self::Float(value) => {
                writer.byte(2);
                writer.0.extend_from_slice(&value.to_bits().to_le_bytes());
            }
            Self::Text(value) => {
                writer.byte(3);
                writer.bytes(value.as_bytes());
            }
            Self::Blob(value) => {
                writer.byte(4);
                writer.bytes(value);
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
            2 => Self::Float(f64::from_bits(u64::from_le_bytes(reader.array()?))),
            3 => Self::Text(reader.text()?.to_owned()),
            4 => Self::Blob(reader.bytes()?.to_vec()),
            _ => return Err(Error::unsupported("a value of the SQL store is of a kind that is not known")),
        })
    }
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
    fn values_come_back_from_their_bytes() {
        let integers = [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN].map(SqlValue::Integer);
        let others =
            [SqlValue::Null, 1.5.into(), "text".into(), vec![0, 255].into(), SqlValue::from(None::<i64>)];
        for value in integers.into_iter().chain(others) {
            let mut writer = Writer::default();
            value.write(&mut writer);
            let mut reader = Reader(&writer.0);
            assert_eq!(SqlValue::read(&mut reader).unwrap(), value);
            assert!(reader.0.is_empty());
            for len in 0..writer.0.len() {
                assert!(SqlValue::read(&mut Reader(&writer.0[..len])).is_err(), "{value:?} cut to {len}");
            }
        }
    }
}
