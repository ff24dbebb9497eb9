//! Many values side by side, borrowed from an array or owned.

use std::borrow::Cow;

use lacuna_base::ByteColumn;

use crate::value::{Unit, Value};

/// Values of one sort.
#[derive(Debug, Clone)]
pub(crate) enum Values<'a> {
    /// None, and so of no sort.
    Empty,
    Unsigned(Cow<'a, [u64]>),
    Signed(Cow<'a, [i64]>),
    /// Integers of Python, which have no bound; those beyond 128 bits are the last that there are.
    Wide(Cow<'a, [i128]>),
    Float(Cow<'a, [f64]>),
    Moments(Cow<'a, [i64]>, Unit),
    Text(Cow<'a, ByteColumn>),
    Bytes(Cow<'a, ByteColumn>),
}

impl Values<'_> {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::Unsigned(values) => values.len(),
            Self::Signed(values) | Self::Moments(values, _) => values.len(),
            Self::Wide(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Text(values) | Self::Bytes(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number or moment at `place`; none of byte strings.
    pub(crate) fn value(&self, place: usize) -> Option<Value> {
        Some(match self {
            Self::Unsigned(values) => Value::Integer((*values.get(place)?).into()),
            Self::Signed(values) => Value::Integer((*values.get(place)?).into()),
            Self::Wide(values) => Value::Integer(*values.get(place)?),
            Self::Float(values) => Value::Float(*values.get(place)?),
            Self::Moments(values, unit) => Value::Moment(*values.get(place)?, *unit),
            Self::Empty | Self::Text(_) | Self::Bytes(_) => return None,
        })
    }

    /// The byte strings.
    pub(crate) fn byte_strings(&self) -> Option<&ByteColumn> {
        match self {
            Self::Text(values) | Self::Bytes(values) => Some(values),
            _ => None,
        }
    }

    /// A borrow of the same values.
    pub(crate) fn borrowed(&self) -> Values<'_> {
        match self {
            Self::Empty => Values::Empty,
            Self::Unsigned(values) => Values::Unsigned(Cow::Borrowed(values)),
            Self::Signed(values) => Values::Signed(Cow::Borrowed(values)),
            Self::Wide(values) => Values::Wide(Cow::Borrowed(values)),
            Self::Float(values) => Values::Float(Cow::Borrowed(values)),
            Self::Moments(values, unit) => Values::Moments(Cow::Borrowed(values), *unit),
            Self::Text(values) => Values::Text(Cow::Borrowed(values)),
            Self::Bytes(values) => Values::Bytes(Cow::Borrowed(values)),
        }
    }

    /// The same values, of which nothing is borrowed any more.
    pub(crate) fn into_owned(self) -> Values<'static> {
        match self {
            Self::Empty => Values::Empty,
            Self::Unsigned(values) => Values::Unsigned(Cow::Owned(values.into_owned())),
            Self::Signed(values) => Values::Signed(Cow::Owned(values.into_owned())),
            Self::Wide(values) => Values::Wide(Cow::Owned(values.into_owned())),
            Self::Float(values) => Values::Float(Cow::Owned(values.into_owned())),
            Self::Moments(values, unit) => Values::Moments(Cow::Owned(values.into_owned()), unit),
            Self::Text(values) => Values::Text(Cow::Owned(values.into_owned())),
            Self::Bytes(values) => Values::Bytes(Cow::Owned(values.into_owned())),
        }
    }
}
