//! A statement that was executed.

use std::sync::Arc;
use std::time::Duration;

use super::prepared::StatementText;
use crate::mysql::follow::execution;
use crate::recognise::Grammar;
use crate::wire::bind::{self, BINARY};

/// The numbers that PostgreSQL gives its integer types: `int8`, `int2`, `int4`.
const INTEGERS: [u32; 3] = [20, 21, 23];

/// A statement, as it was executed once.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) statement: Arc<StatementText>,
    /// What `Bind` gave for its parameters, as bytes of the protocol, or an execution of MySQL; none for a text that was sent alone,
    /// or if they are too long to be looked at.
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
        size_of::<Self>() + size_of::<StatementText>() + self.statement.text.len() + values
    }

    /// The values of the parameters, in their order.
    pub(crate) fn values(&self) -> Vec<Value> {
        let values = self.values.as_deref().and_then(|bytes| match self.statement.grammar {
            Grammar::Postgres => values(bytes, &self.statement),
            Grammar::MySql => execution::values(bytes),
        });
        values.unwrap_or_default()
    }
}

impl Value {
    /// A value as text.
    pub(crate) fn from_text(text: String) -> Self {
        text.parse().map_or_else(|_| Self::Other(text.into_bytes()), Self::Integer)
    }
}

/// Reads the formats and values of `Bind`.
fn values(bytes: &[u8], statement: &StatementText) -> Option<Vec<Value>> {
    let value = |(nth, value): (usize, Option<bind::Formatted<'_>>)| {
        let (format, bytes) = value?;
        let Some(bytes) = bytes else { return Some(Value::Null) };
        let integer = match format {
            BINARY if INTEGERS.contains(&statement.type_of(nth)) => bind::integer(bytes),
            BINARY => None,
            _ => std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()),
        };
        Some(integer.map_or_else(|| Value::Other(bytes.to_vec()), Value::Integer))
    };
    bind::values(bytes)?.enumerate().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_formats() {
        let statement = StatementText::new("SELECT", vec![23, 25, 0]);
        let mut bind = vec![0, 3, 0, 1, 0, 0, 0, 0, 0, 3];
        for value in [&7_i32.to_be_bytes()[..], b"Oslo"] {
            bind.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
            bind.extend(value);
        }
        bind.extend((-1_i32).to_be_bytes());
        let expected = [Value::Integer(7), Value::Other(b"Oslo".to_vec()), Value::Null];
        assert_eq!(values(&bind, &statement).as_deref(), Some(&expected[..]));
        assert_eq!(values(&bind[..22], &statement), None);
        assert_eq!(
            values(&[0, 1, 0, 0, 0, 1, 0, 0, 0, 2, b'4', b'2'], &statement),
            Some(vec![Value::Integer(42)])
        );
    }
}
