//! What a filter's keys are, and which values of Python ask for them.

use lacuna_base::{Envelope, KeySpaceId, KeyType};
use pyo3::prelude::*;

use crate::errors::wrong_type;
use crate::value::Value;
use crate::values::Values;

/// The key space and the type of a filter's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyForm {
    pub(crate) space: KeySpaceId,
    pub(crate) key_type: KeyType,
    /// No key has shown what keys would be: every question is answered "no".
    pub(crate) is_vacant: bool,
}

/// A sort of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Integers,
    Floats,
    Moments,
    Texts,
    Bytes,
}

impl Sort {
    /// The sort of a number or moment.
    pub(crate) fn of(value: Value) -> Self {
        match value {
            Value::Integer(_) => Self::Integers,
            Value::Float(_) => Self::Floats,
            Value::Moment(..) => Self::Moments,
        }
    }

    /// The sort of a column; an empty one has none.
    pub(crate) fn of_all(values: &Values<'_>) -> Option<Self> {
        match values {
            Values::Empty => None,
            Values::Unsigned(_) | Values::Signed(_) | Values::Wide(_) => Some(Self::Integers),
            Values::Float(_) => Some(Self::Floats),
            Values::Moments(..) => Some(Self::Moments),
            Values::Text(_) => Some(Self::Texts),
            Values::Bytes(_) => Some(Self::Bytes),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Integers => "integers",
            Self::Floats => "floats",
            Self::Moments => "dates or datetimes",
            Self::Texts => "str",
            Self::Bytes => "bytes",
        }
    }
}

impl KeyForm {
    /// The form that an envelope names.
    pub(crate) fn of(envelope: &Envelope) -> Self {
        Self::new(envelope.key_space, envelope.key_type, envelope.key_count)
    }

    /// The form of `key_count` keys.
    pub(crate) fn new(space: KeySpaceId, key_type: KeyType, key_count: u64) -> Self {
        Self { space, key_type, is_vacant: key_count == 0 && key_type == KeyType::Unknown }
    }

    /// Refuses values of a sort that has no place among the keys: a "no" about them would be false.
    pub(crate) fn check(self, sort: Sort) -> PyResult<()> {
        let fits = match sort {
            Sort::Integers => {
                matches!(self.key_type, KeyType::U64 | KeyType::I64 | KeyType::F64)
                    || self.is_unknown_integer()
            }
            Sort::Floats => self.key_type == KeyType::F64,
            Sort::Moments => matches!(self.key_type, KeyType::Date | KeyType::Timestamp(_)),
            Sort::Texts => self.key_type == KeyType::Text,
            Sort::Bytes => self.space == KeySpaceId::Bytes,
        };
        if fits || self.is_vacant {
            return Ok(());
        }
        Err(wrong_type(format!(
            "the keys of this filter are {}; ask with {}, not with {}",
            self.name(),
            self.expected(),
            sort.name()
        )))
    }

    /// As [`check`](Self::check), for a column; one without values goes with all keys.
    pub(crate) fn check_all(self, values: &Values<'_>) -> PyResult<()> {
        let sort = Sort::of_all(values).filter(|_| !values.is_empty());
        sort.map_or(Ok(()), |sort| self.check(sort))
    }

    fn is_unknown_integer(self) -> bool {
        self.key_type == KeyType::Unknown && self.space == KeySpaceId::U64
    }

    fn name(self) -> String {
        match (self.key_type, self.space) {
            (KeyType::Unknown, KeySpaceId::U64) => "integers of a type that it does not name".to_owned(),
            (KeyType::Unknown, KeySpaceId::Bytes) => {
                "byte strings of a type that it does not name".to_owned()
            }
            (key_type, _) => format!("of type {key_type}"),
        }
    }

    fn expected(self) -> &'static str {
        match self.key_type {
            KeyType::F64 => "numbers",
            KeyType::Date | KeyType::Timestamp(_) => "datetime.date, datetime.datetime or datetime64",
            KeyType::Text => "str or bytes",
            _ if self.space == KeySpaceId::Bytes => "bytes",
            _ => "integers",
        }
    }
}
