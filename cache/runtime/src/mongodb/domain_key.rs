//! From values of fields to keys of domains, and from intervals to conditions of a query.
//!
//! The database compares only values of one kind with each other: `age >= 18` finds no text. Whole numbers and
//! floats are one kind there, so a field has either: values of the other are refused.

use lacuna_cache_protocol::{Cut, DomainType, DomainValue, Interval, RangeKey};
use lacuna_cache_protocol::{Error, Result};
use mongodb::bson::{Bson, DateTime, Document, doc};

const MICROS_OF_A_MILLI: i64 = 1_000;

/// The key of `value`, `None` for null or no value.
pub(crate) fn key(domain: DomainType, value: Option<&Bson>) -> Result<Option<RangeKey>> {
    let refused = |value: &Bson| {
        Err(Error::invalid_input(format!("{value} is not a value of the domain type {domain}")))
    };
    let value = match (value, domain) {
        (None | Some(Bson::Null), _) => DomainValue::Null,
        (Some(value @ (Bson::Int32(_) | Bson::Int64(_))), _) => {
            let number = integer(value).unwrap_or(0);
            match (domain, u64::try_from(number)) {
                (DomainType::Unsigned, Ok(number)) => DomainValue::Unsigned(number),
                (DomainType::Integer, _) => DomainValue::Integer(number),
                _ => return refused(value),
            }
        }
        (Some(Bson::Double(number)), DomainType::Float) if !number.is_nan() => DomainValue::Float(*number),
        (Some(Bson::String(text)), DomainType::Text) => DomainValue::Text(text),
        (Some(Bson::DateTime(moment)), DomainType::Timestamp) => {
            let micros = moment.timestamp_millis().checked_mul(MICROS_OF_A_MILLI);
            DomainValue::Timestamp(
                micros.ok_or_else(|| Error::invalid_input(format!("{moment} is too far away")))?,
            )
        }
        (Some(value), _) => return refused(value),
    };
    domain.key(value)
}

pub(crate) fn integer(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some((*number).into()),
        Bson::Int64(number) => Some(*number),
        _ => None,
    }
}

/// The value that a key stands for.
fn value(domain: DomainType, key: &RangeKey) -> Result<Bson> {
    let foreign = || Error::invalid_input(format!("{key:?} is not a key of the domain type {domain}"));
    let number = || key.as_bytes().try_into().map(u64::from_be_bytes).map_err(|_| foreign());
    let signed = || number().map(|number| (number ^ (1 << 63)).cast_signed());
    Ok(match domain {
        DomainType::Integer => Bson::Int64(signed()?),
        DomainType::Unsigned => Bson::Int64(i64::try_from(number()?).map_err(|_| foreign())?),
        DomainType::Timestamp => {
            let micros = signed()?;
            if micros % MICROS_OF_A_MILLI != 0 {
                return Err(Error::invalid_input("moments are kept to the millisecond"));
            }
            Bson::DateTime(DateTime::from_millis(micros / MICROS_OF_A_MILLI))
        }
        DomainType::Float => {
            let key = number()?;
            Bson::Double(f64::from_bits(if key >> 63 == 1 { key ^ (1 << 63) } else { !key }))
        }
        DomainType::Text => Bson::String(str::from_utf8(key.as_bytes()).map_err(|_| foreign())?.to_owned()),
        DomainType::Decimal { .. }
        | DomainType::Date
        | DomainType::Bool
        | DomainType::Uuid
        | DomainType::Bytes => return Err(foreign()),
    })
}

/// The condition that `field` lies in `interval`. It names the kind of the domain, because a missing end would
/// otherwise include every kind.
pub(crate) fn within(field: &str, domain: DomainType, interval: &Interval<RangeKey>) -> Result<Document> {
    let kind = match domain {
        DomainType::Text => "string",
        DomainType::Timestamp => "date",
        _ => "number",
    };
    let mut conditions = doc! { "$type": kind };
    if domain == DomainType::Float {
        // Without an end it would include values that are not numbers.
        conditions.insert("$gte", f64::NEG_INFINITY);
    }
    match interval.lo() {
        Cut::Before(key) => conditions.insert("$gte", value(domain, key)?),
        Cut::After(key) => {
            conditions.remove("$gte");
            conditions.insert("$gt", value(domain, key)?)
        }
        Cut::Least | Cut::Greatest => None,
    };
    match interval.hi() {
        Cut::Before(key) => conditions.insert("$lt", value(domain, key)?),
        Cut::After(key) => conditions.insert("$lte", value(domain, key)?),
        Cut::Least | Cut::Greatest => None,
    };
    Ok(doc! { field: conditions })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn back(domain: DomainType, given: &Bson) -> Bson {
        value(domain, &key(domain, Some(given)).unwrap().unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn keys_lead_back_to_their_values(number in any::<i64>(), float in any::<f64>(), text in ".{0,9}") {
            prop_assert_eq!(back(DomainType::Integer, &number.into()), Bson::Int64(number));
            prop_assert_eq!(back(DomainType::Text, &text.as_str().into()), Bson::String(text));
            if !float.is_nan() && float != 0.0 {
                prop_assert_eq!(back(DomainType::Float, &float.into()), Bson::Double(float));
            }
            let moment = Bson::DateTime(DateTime::from_millis(number / 1_000));
            prop_assert_eq!(back(DomainType::Timestamp, &moment), moment);
        }
    }

    #[test]
    fn values_of_another_kind_have_no_key() {
        let wrong: [(DomainType, Bson); 6] = [
            (DomainType::Integer, 1.5.into()),
            (DomainType::Integer, vec![1, 2].into()),
            (DomainType::Unsigned, (-1).into()),
            (DomainType::Float, f64::NAN.into()),
            (DomainType::Float, 1.into()),
            (DomainType::Text, true.into()),
        ];
        for (domain, value) in wrong {
            assert!(key(domain, Some(&value)).is_err(), "{domain}: {value}");
        }
        assert_eq!(key(DomainType::Integer, None).unwrap(), None);
        assert_eq!(key(DomainType::Integer, Some(&Bson::Null)).unwrap(), None);
    }

    #[test]
    fn ranges_without_an_end_hold_their_kind_only() {
        let all = within("age", DomainType::Integer, &Interval::all()).unwrap();
        assert_eq!(all, doc! { "age": { "$type": "number" } });
        let floats = within("age", DomainType::Float, &Interval::all()).unwrap();
        assert_eq!(floats, doc! { "age": { "$type": "number", "$gte": f64::NEG_INFINITY } });
        let five = key(DomainType::Integer, Some(&5.into())).unwrap().unwrap();
        let above = Interval::between(Cut::After(five.clone()), Cut::Greatest).unwrap();
        let expected = doc! { "age": { "$type": "number", "$gt": 5i64 } };
        assert_eq!(within("age", DomainType::Integer, &above).unwrap(), expected);
        let odd = DomainType::Timestamp.key(DomainValue::Timestamp(1)).unwrap().unwrap();
        assert!(within("at", DomainType::Timestamp, &Interval::point(odd)).is_err());
    }
}
