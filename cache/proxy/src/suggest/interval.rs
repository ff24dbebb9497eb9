//! Intervals of values of a column.

use crate::follow::Value;
use crate::recognise::strict::Numeric;
use crate::recognise::{Bound, Comparand};

/// Longest value that is kept; of longer ones nothing is known.
const MAX_VALUE: usize = 64;

/// The values of a column that a statement may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Interval {
    /// Both ends are in it; none if the first is larger.
    Integers(i64, i64),
    /// The same for numbers of which one is no integer: both are places of [`Numeric`], but for the open ends.
    Numbers(i64, i64),
    /// One value that is no number.
    Value(Vec<u8>),
    /// Any value may be in it.
    All,
}

impl Interval {
    /// The interval of these bounds, with the values of the statement's parameters.
    pub(super) fn of(bounds: &[Bound], values: &[Value]) -> Self {
        bounds.iter().map(|bound| Self::of_one(bound, values)).fold(Self::All, Self::intersection)
    }

    fn of_one(bound: &Bound, values: &[Value]) -> Self {
        let (operand, is_low, plus) = match bound {
            Bound::OneOf(operands) => return Self::one_of(operands, values),
            Bound::AtLeast(low) => (low, true, 0),
            Bound::Above(low) => (low, true, 1),
            Bound::AtMost(high) => (high, false, 0),
            Bound::Below(high) => (high, false, -1),
        };
        let ends = |end| if is_low { (end, i64::MAX) } else { (i64::MIN, end) };
        match resolved(operand, values) {
            Some(Value::Integer(number)) => {
                let (low, high) = ends(number.saturating_add(plus));
                Self::Integers(low, high)
            }
            Some(Value::Other(text)) => decimal(&text).map_or(Self::All, |place| {
                let (low, high) = ends(place);
                Self::Numbers(low, high)
            }),
            Some(Value::Null) | None => Self::All,
        }
    }

    fn one_of(operands: &[Comparand], values: &[Value]) -> Self {
        let resolved: Option<Vec<Value>> = operands.iter().map(|operand| resolved(operand, values)).collect();
        let integers = resolved.as_ref().and_then(|values| {
            let numbers = values.iter().map(|value| match value {
                Value::Integer(number) => Some(*number),
                Value::Null | Value::Other(_) => None,
            });
            numbers.collect::<Option<Vec<i64>>>()
        });
        match (integers, resolved.as_deref()) {
            (Some(numbers), _) if !numbers.is_empty() => {
                let ends = numbers
                    .iter()
                    .fold((i64::MAX, i64::MIN), |(low, high), &number| (low.min(number), high.max(number)));
                Self::Integers(ends.0, ends.1)
            }
            (_, Some(values)) => numbers(values).unwrap_or_else(|| match values {
                [Value::Other(value)] if value.len() <= MAX_VALUE => Self::Value(value.clone()),
                _ => Self::All,
            }),
            _ => Self::All,
        }
    }

    fn intersection(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integers(low, high), Self::Integers(other_low, other_high)) => {
                Self::Integers(low.max(other_low), high.min(other_high))
            }
            (Self::All, other) => other,
            (
                one @ (Self::Numbers(..) | Self::Integers(..)),
                other @ (Self::Numbers(..) | Self::Integers(..)),
            ) => {
                let ((low, high), (other_low, other_high)) = (one.places(), other.places());
                Self::Numbers(low.max(other_low), high.min(other_high))
            }
            (one, _) => one,
        }
    }

    /// The ends of numbers as places.
    fn places(&self) -> (i64, i64) {
        let place =
            |end: i64| if end == i64::MIN || end == i64::MAX { end } else { Numeric::from(end).place() };
        match *self {
            Self::Integers(low, high) => (place(low), place(high)),
            Self::Numbers(low, high) => (low, high),
            Self::Value(_) | Self::All => (i64::MIN, i64::MAX),
        }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integers(low, high), Self::Integers(other_low, other_high)) => {
                low.max(other_low) <= high.min(other_high)
            }
            (Self::Numbers(..) | Self::Integers(..), Self::Numbers(..) | Self::Integers(..)) => {
                let ((low, high), (other_low, other_high)) = (self.places(), other.places());
                low.max(other_low) <= high.min(other_high)
            }
            (Self::Value(one), Self::Value(other)) => one == other,
            _ => true,
        }
    }
}

/// The place of a number that is no integer.
fn decimal(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.contains(|c: char| c.is_ascii_digit()))?;
    Numeric::read(text).map(|number| number.place())
}

/// From the smallest to the largest of these, if all are numbers.
fn numbers(values: &[Value]) -> Option<Interval> {
    let places = values.iter().map(|value| match value {
        Value::Integer(number) => Some(Numeric::from(*number).place()),
        Value::Other(text) => decimal(text),
        Value::Null => None,
    });
    let places = places.collect::<Option<Vec<i64>>>()?;
    Some(Interval::Numbers(*places.iter().min()?, *places.iter().max()?))
}

fn resolved(operand: &Comparand, values: &[Value]) -> Option<Value> {
    match operand {
        Comparand::Integer(number) => Some(Value::Integer(*number)),
        Comparand::Text(text) => Some(Value::Other(text.clone().into_bytes())),
        Comparand::Param(place) => values.get(*place).cloned(),
        Comparand::Minus(place) => match values.get(*place)? {
            Value::Integer(number) => number.checked_neg().map(Value::Integer),
            Value::Other(text) => decimal(text).map(|_| Value::Other([b"-", &text[..]].concat())),
            Value::Null => None,
        },
    }
}
