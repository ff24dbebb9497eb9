//! Values as the keys of a filter: ascending, each once, with what they stand for. The keys and the type are those that
//! `lacuna build` takes from a file of the same values.

use std::borrow::Cow;

use lacuna_base::{ByteColumn, Error, KeySpaceId, KeyType, Result, SortedKeys, TypedKey};
use lacuna_guard::internal::GuardKey;

use crate::form::KeyForm;
use crate::value::{missing, moment_keys};
use crate::values::Values;

/// Keys of one key space, in any order until [`sort`](Self::sort).
#[derive(Debug)]
pub(crate) enum Keys {
    Integers(Vec<u64>, KeyType),
    Bytes(ByteColumn, KeyType),
}

impl Keys {
    /// The keys that `values` stand for.
    pub(crate) fn of(values: Values<'static>) -> Result<Self> {
        Ok(match values {
            Values::Empty => Self::Integers(Vec::new(), KeyType::Unknown),
            Values::Unsigned(values) => Self::Integers(values.into_owned(), KeyType::U64),
            Values::Signed(values) => Self::Integers(mapped(values), KeyType::I64),
            Values::Wide(values) => wide(&values)?,
            Values::Float(values) => match values.iter().position(|value| value.is_nan()) {
                Some(place) => return Err(missing(place, "NaN")),
                None => Self::Integers(mapped(values), KeyType::F64),
            },
            Values::Moments(values, unit) => {
                let (keys, key_type) = moment_keys(&values, unit)?;
                Self::Integers(keys, key_type)
            }
            Values::Text(values) => Self::Bytes(values.into_owned(), KeyType::Text),
            Values::Bytes(values) => Self::Bytes(values.into_owned(), KeyType::Hex),
        })
    }

    /// What the keys are.
    pub(crate) fn form(&self) -> KeyForm {
        match self {
            Self::Integers(keys, key_type) => KeyForm::new(KeySpaceId::U64, *key_type, keys.len() as u64),
            Self::Bytes(keys, key_type) => KeyForm::new(KeySpaceId::Bytes, *key_type, keys.len() as u64),
        }
    }

    /// Sorts the keys and drops repeats; keys that are in order are only looked at.
    pub(crate) fn sort(&mut self) {
        match self {
            Self::Integers(keys, _) if SortedKeys::integers(keys).is_err() => <u64 as GuardKey>::sort(keys),
            Self::Bytes(keys, _) if SortedKeys::byte_strings(keys).is_err() => <[u8] as GuardKey>::sort(keys),
            _ => {}
        }
    }
}

fn mapped<T: TypedKey>(values: Cow<'_, [T]>) -> Vec<u64> {
    values.into_owned().into_iter().map(TypedKey::to_key).collect()
}

/// Integers of Python: unsigned ones, or signed ones if one of them is negative.
fn wide(values: &[i128]) -> Result<Keys> {
    let unsigned: Option<Vec<u64>> = values.iter().map(|&value| u64::try_from(value).ok()).collect();
    if let Some(keys) = unsigned {
        return Ok(Keys::Integers(keys, KeyType::U64));
    }
    let signed = values.iter().map(|&value| i64::try_from(value).ok().map(TypedKey::to_key));
    let keys: Option<Vec<u64>> = signed.collect();
    keys.map(|keys| Keys::Integers(keys, KeyType::I64)).ok_or_else(|| {
        Error::invalid_input(
            "the integers fit neither 64 unsigned nor 64 signed bits; give them as bytes, or as floats",
        )
    })
}
