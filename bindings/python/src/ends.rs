//! Two columns of values as ends of ranges of keys.

use std::borrow::Cow;

use lacuna_base::{Error, KeyType, RangeFilter, Result};

use crate::value::{End, Value};
use crate::values::Values;

/// Ends in a filter over integers.
#[derive(Debug)]
pub(crate) struct IntegerEnds<'a> {
    pub(crate) los: Cow<'a, [u64]>,
    pub(crate) his: Cow<'a, [u64]>,
    /// Places of ranges that lie beyond all keys of this type, ascending within each column.
    empty: Vec<usize>,
}

impl<'a> IntegerEnds<'a> {
    /// The keys of the ends `los` and `his` in a filter of `key_type`. Columns of `uint64` are taken as they are.
    pub(crate) fn of(los: Values<'a>, his: Values<'a>, key_type: KeyType) -> Result<Self> {
        let mut empty = Vec::new();
        let los = column(los, End::Lower, key_type, &mut empty).map_err(|error| error.with_context("lo"))?;
        let his = column(his, End::Upper, key_type, &mut empty).map_err(|error| error.with_context("hi"))?;
        Ok(Self { los, his, empty })
    }

    /// Whether a key may lie in each range.
    pub(crate) fn ask(&self, filter: &(impl RangeFilter<u64> + ?Sized), answers: &mut [bool]) {
        filter.may_contain_pairs(&self.los, &self.his, answers);
        for &place in &self.empty {
            answers[place] = false;
        }
    }

    /// The ranges that can hold a key of this type.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut is_empty = vec![false; self.los.len()];
        self.empty.iter().for_each(|&place| is_empty[place] = true);
        let pairs = self.los.iter().copied().zip(self.his.iter().copied());
        pairs.zip(is_empty).filter(|(_, is_empty)| !is_empty).map(|(pair, _)| pair)
    }
}

/// The keys of one column of ends.
fn column<'a>(
    values: Values<'a>,
    end: End,
    key_type: KeyType,
    empty: &mut Vec<usize>,
) -> Result<Cow<'a, [u64]>> {
    let is_same = matches!(key_type, KeyType::U64 | KeyType::Unknown);
    match values {
        Values::Unsigned(values) if is_same => Ok(values),
        Values::Unsigned(values) => {
            keys(values.iter().map(|&value| Value::Integer(value.into())), end, key_type, empty)
        }
        Values::Signed(values) => {
            keys(values.iter().map(|&value| Value::Integer(value.into())), end, key_type, empty)
        }
        Values::Wide(values) => keys(values.iter().map(|&value| Value::Integer(value)), end, key_type, empty),
        Values::Float(values) => keys(values.iter().map(|&value| Value::Float(value)), end, key_type, empty),
        Values::Moments(values, unit) => {
            keys(values.iter().map(|&count| Value::Moment(count, unit)), end, key_type, empty)
        }
        Values::Empty | Values::Text(_) | Values::Bytes(_) => Ok(Cow::Owned(Vec::new())),
    }
}

fn keys<'a>(
    values: impl ExactSizeIterator<Item = Value>,
    end: End,
    key_type: KeyType,
    empty: &mut Vec<usize>,
) -> Result<Cow<'a, [u64]>> {
    let key = |(place, value): (usize, Value)| match value.end(end, key_type) {
        Ok(Some(key)) => Ok(key),
        Ok(None) => {
            empty.push(place);
            Ok(0)
        }
        Err(error) => Err(error.with_context(format!("value {place}"))),
    };
    values.enumerate().map(key).collect::<Result<Vec<u64>>>().map(Cow::Owned)
}

/// The byte strings of a column, borrowed.
pub(crate) fn byte_strings<'a>(values: &'a Values<'_>) -> Result<Vec<&'a [u8]>> {
    match values.byte_strings() {
        Some(strings) => Ok(strings.iter().collect()),
        None if values.is_empty() => Ok(Vec::new()),
        None => Err(Error::invalid_input("a filter over byte strings is asked with bytes")),
    }
}
