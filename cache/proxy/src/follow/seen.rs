//! A statement that was executed.

use std::sync::Arc;
use std::time::Duration;

use super::prepared::Prepared;
use crate::wire::Fields;

/// The numbers that PostgreSQL gives its integer types: `int8`, `int2`, `int4`.
const INTEGERS: [u32; 3] = [20, 21, 23];
const BINARY: i16 = 1;

/// A statement, as it was executed once.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) statement: Arc<Prepared>,
    /// What `Bind` gave for its parameters, as bytes of the protocol; none for the simple protocol, or if they are too
    /// long to be looked at.
    pub(crate) values: Option<Box<[u8]>>,
    pub(crate) elapsed: Duration,
    /// Rows that it returned or wrote.
    pub(crate) rows: u64,
    pub(crate) has_failed: bool,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    /// Bytes whose meaning depends on a type that is not looked at.
    Other(Vec<u8>),
}

impl Seen {
    /// How much memory it takes, nearly.
    pub(crate) fn bytes(&self) -> usize {
        let values = self.values.as_ref().map_or(0, |values| values.len());
        size_of::<Self>() + size_of::<Prepared>() + self.statement.text.len() + values
    }

    /// The values of the parameters, in their order.
    pub(crate) fn values(&self) -> Vec<Value> {
        self.values.as_deref().and_then(|bytes| values(bytes, &self.statement)).unwrap_or_default()
    }
}

impl Value {
    /// A value as text.
    pub(crate) fn from_text(text: String) -> Self {
        text.parse().map_or_else(|_| Self::Other(text.into_bytes()), Self::Integer)
    }
}

/// Reads the formats and values of `Bind`.
fn values(bytes: &[u8], statement: &Prepared) -> Option<Vec<Value>> {
    let mut fields = Fields::new(bytes);
    let formats: Vec<i16> = (0..fields.count(2)?).map_while(|_| fields.int16()).collect();
    let count = fields.count(4)?;
    let format =
        |nth: usize| *formats.get(nth).or(formats.first().filter(|_| formats.len() == 1)).unwrap_or(&0);
    (0..count)
        .map(|nth| {
            let bytes = fields.value()?;
            let Some(bytes) = bytes else { return Some(Value::Null) };
            let integer = match format(nth) {
                BINARY if INTEGERS.contains(&statement.type_of(nth)) => from_binary(bytes),
                BINARY => None,
                _ => std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()),
            };
            Some(integer.map_or_else(|| Value::Other(bytes.to_vec()), Value::Integer))
        })
        .collect()
}

fn from_binary(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        2 => bytes.try_into().ok().map(|bytes| i16::from_be_bytes(bytes).into()),
        4 => bytes.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).into()),
        8 => bytes.try_into().ok().map(i64::from_be_bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_formats() {
        let statement = Prepared::new("SELECT", vec![23, 25, 0]);
        let mut bind = vec![0, 2, 0, 1, 0, 0, 0, 3];
        for value in [&7_i32.to_be_bytes()[..], b"Oslo"] {
            bind.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
            bind.extend(value);
        }
        bind.extend((-1_i32).to_be_bytes());
        let expected = [Value::Integer(7), Value::Other(b"Oslo".to_vec()), Value::Null];
        assert_eq!(values(&bind, &statement).as_deref(), Some(&expected[..]));
        assert_eq!(values(&bind[..20], &statement), None);
        assert_eq!(
            values(&[0, 1, 0, 0, 0, 1, 0, 0, 0, 2, b'4', b'2'], &statement),
            Some(vec![Value::Integer(42)])
        );
    }
}
