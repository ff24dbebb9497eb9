//! Intervals of values of a column.

use crate::follow::Value;
use crate::recognise::{Bound, Operand};

/// Longest value that is kept; of longer ones nothing is known.
const MAX_VALUE: usize = 64;

/// The values of a column that a statement may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Interval {
    /// Both ends are in it; none if the first is larger.
    Integers(i64, i64),
    /// One value that is no integer.
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
        let integer = |operand: &Operand| match resolved(operand, values) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        };
        let ends = match bound {
            Bound::OneOf(operands) => return Self::one_of(operands, values),
            Bound::AtLeast(low) => integer(low).map(|low| (low, i64::MAX)),
            Bound::Above(low) => integer(low).map(|low| (low.saturating_add(1), i64::MAX)),
            Bound::AtMost(high) => integer(high).map(|high| (i64::MIN, high)),
            Bound::Below(high) => integer(high).map(|high| (i64::MIN, high.saturating_sub(1))),
        };
        ends.map_or(Self::All, |(low, high)| Self::Integers(low, high))
    }

    fn one_of(operands: &[Operand], values: &[Value]) -> Self {
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
            (_, Some([Value::Other(value)])) if value.len() <= MAX_VALUE => Self::Value(value.clone()),
            _ => Self::All,
        }
    }

    fn intersection(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integers(low, high), Self::Integers(other_low, other_high)) => {
                Self::Integers(low.max(other_low), high.min(other_high))
            }
            (Self::All, other) => other,
            (one, _) => one,
        }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integers(low, high), Self::Integers(other_low, other_high)) => {
                low.max(other_low) <= high.min(other_high)
            }
            (Self::Value(one), Self::Value(other)) => one == other,
            _ => true,
        }
    }
}

fn resolved(operand: &Operand, values: &[Value]) -> Option<Value> {
    match operand {
        Operand::Integer(number) => Some(Value::Integer(*number)),
        Operand::Text(text) => Some(Value::Other(text.clone().into_bytes())),
        Operand::Param(place) => values.get(*place).cloned(),
        Operand::Minus(place) => match values.get(*place)? {
            Value::Integer(number) => number.checked_neg().map(Value::Integer),
            Value::Null | Value::Other(_) => None,
        },
    }
}
