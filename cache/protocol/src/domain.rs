//! Domains: the order-preserving bytes that stand for the values of a column.
//!
//! Intervals are compared here, in the cache and in the store. They mean the same only if all three order values alike,
//! so each domain type has one map into bytes whose order is the store's: integers flip their sign bit, decimals are
//! scaled to the digits of the column, floats have one zero and one NaN above infinity, text is its UTF-8 bytes
//! (binary collation only), dates are days and moments microseconds, UUIDs and byte strings are themselves. `-2` becomes `7F FF FF FF FF FF FF FE`.
//!
//! Guarantee: `a < b` in the domain exactly if the bytes of `a` are less. NULL has no bytes, as no range holds it.
//! Cost: none of the types allocates except text and keys of more than [`RangeKey::INLINE_BYTES`] bytes.

use std::fmt;
use std::ops::Bound;

use crate::error::{Error, Result};
use lacuna_base::{Date, TypedKey};

use crate::interval::Interval;
use crate::range_key::RangeKey;

/// What a column holds, and so how its values are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainType {
    /// Signed integers of up to 64 bits.
    Integer,
    /// Unsigned integers of up to 64 bits.
    Unsigned,
    /// Decimals with this many digits after the point, at most 38 digits in all.
    Decimal {
        /// Digits after the point.
        scale: u8,
    },
    /// Floats; `real` columns too.
    Float,
    /// Text, by the bytes of its UTF-8, whatever the collation of the column.
    Text,
    /// Days.
    Date,
    /// Moments, in microseconds since 1970-01-01.
    Timestamp,
    /// False, then true.
    Bool,
    /// UUIDs, by their bytes.
    Uuid,
    /// Byte strings; a prefix comes before what it is a prefix of.
    Bytes,
}

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DomainValue<'a> {
    /// No value: in no range.
    Null,
    /// For [`DomainType::Integer`].
    Integer(i64),
    /// For [`DomainType::Unsigned`].
    Unsigned(u64),
    /// `digits / 10^scale`, for [`DomainType::Decimal`].
    Decimal {
        /// The number without its point.
        digits: i128,
        /// Digits after the point.
        scale: u8,
    },
    /// For [`DomainType::Float`].
    Float(f64),
    /// For [`DomainType::Text`].
    Text(&'a str),
    /// For [`DomainType::Date`].
    Date(Date),
    /// For [`DomainType::Timestamp`], in microseconds since 1970-01-01.
    Timestamp(i64),
    /// For [`DomainType::Bool`].
    Bool(bool),
    /// For [`DomainType::Uuid`].
    Uuid([u8; 16]),
    /// For [`DomainType::Bytes`].
    Bytes(&'a [u8]),
}

/// Largest scale of a decimal: 10^38 is the largest power of ten within 127 bits.
const MAX_SCALE: u8 = 38;

impl DomainType {
    /// The bytes of `value`, or `None` for NULL.
    ///
    /// # Errors
    /// `InvalidInput` if the value is of another type, or a decimal does not fit the scale of the column.
    ///
    /// ```
    /// use lacuna_cache_protocol::{DomainType, DomainValue};
    ///
    /// let price = DomainType::Decimal { scale: 2 };
    /// let cheap = price.key(DomainValue::Decimal { digits: 5, scale: 1 })?;
    /// assert!(cheap < price.key(DomainValue::Decimal { digits: 51, scale: 2 })?);
    /// assert!(price.key(DomainValue::Float(0.5)).is_err());
    /// # Ok::<(), lacuna_cache_protocol::Error>(())
    /// ```
    pub fn key(self, value: DomainValue<'_>) -> Result<Option<RangeKey>> {
        let key = match (self, value) {
            (_, DomainValue::Null) => return Ok(None),
            (Self::Integer, DomainValue::Integer(value))
            | (Self::Timestamp, DomainValue::Timestamp(value)) => typed(value),
            (Self::Unsigned, DomainValue::Unsigned(value)) => typed(value),
            (Self::Float, DomainValue::Float(value)) => typed(value),
            (Self::Date, DomainValue::Date(value)) => typed(value),
            (Self::Text, DomainValue::Text(value)) => RangeKey::from_bytes(value.as_bytes()),
            (Self::Bool, DomainValue::Bool(value)) => RangeKey::from_bytes(&[value.into()]),
            (Self::Uuid, DomainValue::Uuid(value)) => RangeKey::from_bytes(&value),
            (Self::Bytes, DomainValue::Bytes(value)) => RangeKey::from_bytes(value),
            (Self::Decimal { scale }, DomainValue::Decimal { digits, scale: given }) => {
                decimal(rescaled(digits, given, scale)?)
            }
            _ => {
                return Err(Error::invalid_input(format!(
                    "{value:?} is not a value of the domain type {self}"
                )));
            }
        };
        Ok(Some(key))
    }

    /// The interval between two bounds, or `None` if no value can lie in it: a bound is NULL, or the ends cross.
    ///
    /// # Errors
    /// As [`DomainType::key`].
    pub fn interval(
        self,
        lo: Bound<DomainValue<'_>>,
        hi: Bound<DomainValue<'_>>,
    ) -> Result<Option<Interval<RangeKey>>> {
        let (Some(lo), Some(hi)) = (self.bound(lo)?, self.bound(hi)?) else { return Ok(None) };
        Ok(Interval::new(lo, hi))
    }

    fn bound(self, bound: Bound<DomainValue<'_>>) -> Result<Option<Bound<RangeKey>>> {
        Ok(match bound {
            Bound::Included(value) => self.key(value)?.map(Bound::Included),
            Bound::Excluded(value) => self.key(value)?.map(Bound::Excluded),
            Bound::Unbounded => Some(Bound::Unbounded),
        })
    }
}

impl fmt::Display for DomainType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer => f.write_str("integer"),
            Self::Unsigned => f.write_str("unsigned"),
            Self::Decimal { scale } => write!(f, "decimal({scale})"),
            Self::Float => f.write_str("float"),
            Self::Text => f.write_str("text"),
            Self::Date => f.write_str("date"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Bool => f.write_str("bool"),
            Self::Uuid => f.write_str("uuid"),
            Self::Bytes => f.write_str("bytes"),
        }
    }
}

fn typed(value: impl TypedKey) -> RangeKey {
    RangeKey::from_bytes(&value.to_key().to_be_bytes())
}

fn decimal(digits: i128) -> RangeKey {
    RangeKey::from_bytes(&(digits.cast_unsigned() ^ (1 << 127)).to_be_bytes())
}

/// `digits` with `to` instead of `from` digits after the point, if that loses nothing.
fn rescaled(digits: i128, from: u8, to: u8) -> Result<i128> {
    let lost = || {
        Error::invalid_input(format!(
            "{digits}e-{from} does not fit a decimal with {to} digits after the point"
        ))
    };
    if from > MAX_SCALE || to > MAX_SCALE {
        return Err(lost());
    }
    let factor = 10i128.pow(u32::from(from.abs_diff(to)));
    if from <= to {
        digits.checked_mul(factor).ok_or_else(lost)
    } else if digits % factor == 0 {
        Ok(digits / factor)
    } else {
        Err(lost())
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use proptest::prelude::*;

    use super::*;

    fn order(domain: DomainType, a: DomainValue<'_>, b: DomainValue<'_>) -> Ordering {
        domain.key(a).unwrap().unwrap().cmp(&domain.key(b).unwrap().unwrap())
    }

    proptest! {
        #[test]
        fn integers_keep_their_order(a in any::<i64>(), b in any::<i64>()) {
            let (a_value, b_value) = (DomainValue::Integer(a), DomainValue::Integer(b));
            prop_assert_eq!(order(DomainType::Integer, a_value, b_value), a.cmp(&b));
            let (a_value, b_value) = (DomainValue::Timestamp(a), DomainValue::Timestamp(b));
            prop_assert_eq!(order(DomainType::Timestamp, a_value, b_value), a.cmp(&b));
        }

        #[test]
        fn floats_keep_their_order(a in any::<f64>(), b in any::<f64>()) {
            let by_bytes = order(DomainType::Float, DomainValue::Float(a), DomainValue::Float(b));
            if let Some(order) = a.partial_cmp(&b) {
                prop_assert_eq!(by_bytes, order);
            }
        }

        #[test]
        fn text_keeps_its_binary_order(a in ".{0,30}", b in ".{0,30}") {
            let by_bytes = order(DomainType::Text, DomainValue::Text(&a), DomainValue::Text(&b));
            prop_assert_eq!(by_bytes, a.as_bytes().cmp(b.as_bytes()));
        }

        #[test]
        fn bytes_and_uuids_keep_their_order(a in any::<Vec<u8>>(), b in any::<Vec<u8>>(), c in any::<[u8; 16]>(), d in any::<[u8; 16]>()) {
            let by_bytes = order(DomainType::Bytes, DomainValue::Bytes(&a), DomainValue::Bytes(&b));
            prop_assert_eq!(by_bytes, a.cmp(&b));
            prop_assert_eq!(order(DomainType::Uuid, DomainValue::Uuid(c), DomainValue::Uuid(d)), c.cmp(&d));
        }

        #[test]
        fn decimals_of_any_scale_keep_their_order(a in any::<i64>(), a_scale in 0u8..6, b in any::<i64>(), b_scale in 0u8..6) {
            let number = |digits: i64, scale| DomainValue::Decimal { digits: i128::from(digits), scale };
            let by_bytes = order(DomainType::Decimal { scale: 6 }, number(a, a_scale), number(b, b_scale));
            let scaled = |digits: i64, scale: u8| i128::from(digits) * 10i128.pow(u32::from(6 - scale));
            prop_assert_eq!(by_bytes, scaled(a, a_scale).cmp(&scaled(b, b_scale)));
        }
    }

    #[test]
    fn null_lies_in_no_range() {
        assert_eq!(DomainType::Text.key(DomainValue::Null).unwrap(), None);
        let from_null = DomainType::Integer.interval(Included(DomainValue::Null), Unbounded).unwrap();
        assert_eq!(from_null, None);
    }

    #[test]
    fn ends_of_a_domain_are_values_like_others() {
        let (min, max) = (DomainValue::Integer(i64::MIN), DomainValue::Integer(i64::MAX));
        let all = DomainType::Integer.interval(Included(min), Included(max)).unwrap().unwrap();
        assert!(all.contains(&DomainType::Integer.key(max).unwrap().unwrap()));
        let open = DomainType::Integer.interval(Excluded(min), Excluded(max)).unwrap().unwrap();
        assert!(!open.contains(&DomainType::Integer.key(min).unwrap().unwrap()));
        assert_eq!(DomainType::Integer.interval(Included(max), Included(min)).unwrap(), None);
    }

    #[test]
    fn nan_and_zero_have_one_place() {
        let key = |value| DomainType::Float.key(DomainValue::Float(value)).unwrap();
        assert_eq!(key(0.0), key(-0.0));
        assert_eq!(key(f64::NAN), key(-f64::NAN));
        assert!(key(f64::INFINITY) < key(f64::NAN));
    }

    #[test]
    fn wrong_types_are_refused() {
        let refused = DomainType::Integer.key(DomainValue::Text("5")).unwrap_err();
        assert_eq!(refused.kind(), crate::error::ErrorKind::InvalidInput);
        assert!(DomainType::Bool.key(DomainValue::Integer(1)).is_err());
        assert!(order(DomainType::Bool, DomainValue::Bool(false), DomainValue::Bool(true)).is_lt());
        let coarse = DomainType::Decimal { scale: 1 };
        assert!(coarse.key(DomainValue::Decimal { digits: 125, scale: 2 }).is_err());
        assert!(coarse.key(DomainValue::Decimal { digits: i128::MAX, scale: 0 }).is_err());
        assert!(coarse.key(DomainValue::Decimal { digits: 120, scale: 2 }).unwrap().is_some());
    }
}
