//! From values of columns to keys of domains, and back for the bounds of a query.

use lacuna_base::Date;
use lacuna_cache_protocol::{DomainType, DomainValue, RangeKey};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::sql_value::SqlValue;

/// `value` as a value of `domain`. Values that the domain cannot hold are refused later by the domain.
pub(crate) fn domain_value(domain: DomainType, value: &SqlValue) -> DomainValue<'_> {
    match (value, domain) {
        (SqlValue::Null, _) => DomainValue::Null,
        (SqlValue::Integer(value), DomainType::Unsigned) if *value >= 0 => {
            DomainValue::Unsigned(value.cast_unsigned())
        }
        (SqlValue::Integer(value), DomainType::Timestamp) => DomainValue::Timestamp(*value),
        (SqlValue::Integer(value), DomainType::Decimal { .. }) => {
            DomainValue::Decimal { digits: i128::from(*value), scale: 0 }
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "an application with a float column has rounded before"
        )]
        (SqlValue::Integer(value), DomainType::Float) => DomainValue::Float(*value as f64),
        (SqlValue::Integer(value), _) => DomainValue::Integer(*value),
        (SqlValue::Float(value), _) => DomainValue::Float(*value),
        (SqlValue::Text(value), DomainType::Uuid) => match SqlValue::uuid(value) {
            Ok(SqlValue::Uuid(bytes)) => DomainValue::Uuid(bytes),
            _ => DomainValue::Text(value),
        },
        (SqlValue::Text(value), _) => DomainValue::Text(value),
        (SqlValue::Decimal { digits, scale }, _) => DomainValue::Decimal { digits: *digits, scale: *scale },
        (SqlValue::Date(date), _) => DomainValue::Date(*date),
        (SqlValue::Timestamp(micros), _) => DomainValue::Timestamp(*micros),
        (SqlValue::Blob(bytes), _) => DomainValue::Bytes(bytes),
        (SqlValue::Unsigned(value), DomainType::Decimal { .. }) => {
            DomainValue::Decimal { digits: i128::from(*value), scale: 0 }
        }
        (SqlValue::Unsigned(value), _) => DomainValue::Unsigned(*value),
        (SqlValue::Bool(value), _) => DomainValue::Bool(*value),
        (SqlValue::Uuid(bytes), _) => DomainValue::Uuid(*bytes),
        (SqlValue::Json(text), _) => DomainValue::Text(text),
    }
}

/// The key of `value`, `None` for NULL.
pub(crate) fn key(domain: DomainType, value: &SqlValue) -> Result<Option<RangeKey>> {
    domain.key(domain_value(domain, value))
}

/// The value of a key; for a moment a whole number.
pub(crate) fn value(domain: DomainType, key: &RangeKey) -> Result<SqlValue> {
    let bytes = key.as_bytes();
    let number = || bytes.try_into().map(u64::from_be_bytes).map_err(|_| foreign(domain, key));
    Ok(match domain {
        DomainType::Integer | DomainType::Timestamp => {
            SqlValue::Integer((number()? ^ (1 << 63)).cast_signed())
        }
        DomainType::Unsigned => number()?.into(),
        DomainType::Bool => SqlValue::Bool(bytes != [0]),
        DomainType::Uuid => SqlValue::Uuid(bytes.try_into().map_err(|_| foreign(domain, key))?),
        DomainType::Bytes => SqlValue::Blob(bytes.to_vec()),
        DomainType::Float => {
            let key = number()?;
            SqlValue::Float(f64::from_bits(if key >> 63 == 1 { key ^ (1 << 63) } else { !key }))
        }
        DomainType::Text => {
            let text =
                str::from_utf8(bytes).map_err(|_| Error::invalid_input("a text bound is not UTF-8"))?;
            SqlValue::Text(text.to_owned())
        }
        DomainType::Decimal { scale } => {
            let number = bytes.try_into().map_err(|_| foreign(domain, key))?;
            SqlValue::Decimal { digits: (u128::from_be_bytes(number) ^ (1 << 127)).cast_signed(), scale }
        }
        DomainType::Date => {
            let days = i32::try_from((number()? ^ (1 << 63)).cast_signed());
            SqlValue::Date(Date { days: days.map_err(|_| foreign(domain, key))? })
        }
    })
}

fn foreign(domain: DomainType, key: &RangeKey) -> Error {
    Error::invalid_input(format!("{key:?} is not a key of the domain type {domain}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_back_to_their_values() {
        let price = DomainType::Decimal { scale: 2 };
        let cases: [(DomainType, SqlValue); 18] = [
            (price, SqlValue::decimal("-0.05").unwrap()),
            (price, SqlValue::decimal("999999999999999999999999999999999999.99").unwrap()),
            (DomainType::Date, SqlValue::date(1969, 12, 31).unwrap()),
            (DomainType::Date, Date { days: i32::MIN }.into()),
            (DomainType::Date, Date { days: i32::MAX }.into()),
            (DomainType::Integer, i64::MIN.into()),
            (DomainType::Integer, 20.into()),
            (DomainType::Timestamp, (-5).into()),
            (DomainType::Unsigned, i64::MAX.into()),
            (DomainType::Unsigned, u64::MAX.into()),
            (DomainType::Bool, true.into()),
            (DomainType::Bool, false.into()),
            (DomainType::Uuid, [9; 16].into()),
            (DomainType::Bytes, vec![0, 255].into()),
            (DomainType::Float, 1.5.into()),
            (DomainType::Float, (-1.5e300).into()),
            (DomainType::Text, "".into()),
            (DomainType::Text, "ä".into()),
        ];
        for (domain, expected) in cases {
            let key = key(domain, &expected).unwrap().unwrap();
            assert_eq!(value(domain, &key).unwrap(), expected, "{domain}");
        }
        let whole = key(price, &5.into()).unwrap();
        assert_eq!(whole, key(price, &SqlValue::decimal("5.00").unwrap()).unwrap());
        assert!(key(price, &SqlValue::decimal("0.005").unwrap()).is_err(), "a digit too many");
        assert!(key(price, &0.5.into()).is_err(), "a float is no exact number");
        assert_eq!(key(DomainType::Integer, &SqlValue::Null).unwrap(), None);
        assert!(key(DomainType::Integer, &"five".into()).is_err());
        assert!(key(DomainType::Unsigned, &(-1).into()).is_err());
        assert!(key(DomainType::Text, &vec![1].into()).is_err());
        assert!(key(DomainType::Integer, &u64::MAX.into()).is_err());
        assert!(key(DomainType::Bool, &1.into()).is_err());
        let text = SqlValue::from("00000000-0000-0000-0000-000000000009");
        assert_eq!(
            key(DomainType::Uuid, &text).unwrap(),
            key(DomainType::Uuid, &9_u128.to_be_bytes().into()).unwrap()
        );
        assert!(key(DomainType::Uuid, &"9".into()).is_err());
    }
}
