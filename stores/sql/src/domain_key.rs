//! From values of columns to keys of domains, and back for the bounds of a query.

use lacuna_core::{Error, Result};
use lacuna_range_cache::{DomainType, DomainValue, RangeKey};

use crate::sql_value::SqlValue;

/// `value` as a value of `domain`. What the domain cannot hold is left for the domain to refuse.
pub(crate) fn domain_value(domain: DomainType, value: &SqlValue) -> DomainValue<'_> {
    match (value, domain) {
        (SqlValue::Null, _) => DomainValue::Null,
        (SqlValue::Integer(value), DomainType::Unsigned) if *value >= 0 => {
            DomainValue::Unsigned(value.cast_unsigned())
        }
        (SqlValue::Integer(value), DomainType::Timestamp) => DomainValue::Timestamp(*value),
        #[expect(clippy::cast_precision_loss, reason = "whoever has floats in a column has rounded before")]
        (SqlValue::Integer(value), DomainType::Float) => DomainValue::Float(*value as f64),
        (SqlValue::Integer(value), _) => DomainValue::Integer(*value),
        (SqlValue::Float(value), _) => DomainValue::Float(*value),
        (SqlValue::Text(value), _) => DomainValue::Text(value),
        (SqlValue::Blob(_), _) => DomainValue::Null,
    }
}

/// The key of `value`, `None` for NULL.
pub(crate) fn key(domain: DomainType, value: &SqlValue) -> Result<Option<RangeKey>> {
    if matches!(value, SqlValue::Blob(_)) {
        return Err(Error::invalid_input(format!("bytes are no value of the domain type {domain}")));
    }
    domain.key(domain_value(domain, value))
}

/// The value that a key stands for.
pub(crate) fn value(domain: DomainType, key: &RangeKey) -> Result<SqlValue> {
    let bytes = key.as_bytes();
    let number = || {
        let number = bytes.try_into().map_err(|_| Error::invalid_input(format!("{key:?} is no {domain}")));
        number.map(u64::from_be_bytes)
    };
    Ok(match domain {
        DomainType::Integer | DomainType::Timestamp => {
            SqlValue::Integer((number()? ^ (1 << 63)).cast_signed())
        }
        DomainType::Unsigned => {
            let value = i64::try_from(number()?);
            SqlValue::Integer(
                value.map_err(|_| Error::invalid_input("the database has no integers beyond 2^63"))?,
            )
        }
        DomainType::Float => {
            let key = number()?;
            SqlValue::Float(f64::from_bits(if key >> 63 == 1 { key ^ (1 << 63) } else { !key }))
        }
        DomainType::Text => {
            let text =
                str::from_utf8(bytes).map_err(|_| Error::invalid_input("a text bound is not UTF-8"))?;
            SqlValue::Text(text.to_owned())
        }
        DomainType::Decimal { .. } | DomainType::Date => return Err(unsupported(domain)),
    })
}

/// Domains that no database here keeps exactly yet.
pub(crate) fn unsupported(domain: DomainType) -> Error {
    Error::unsupported(format!("columns of the domain type {domain} are not offered by the SQL store yet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_back_to_their_values() {
        let cases: [(DomainType, SqlValue); 8] = [
            (DomainType::Integer, i64::MIN.into()),
            (DomainType::Integer, 20.into()),
            (DomainType::Timestamp, (-5).into()),
            (DomainType::Unsigned, i64::MAX.into()),
            (DomainType::Float, 1.5.into()),
            (DomainType::Float, (-1.5e300).into()),
            (DomainType::Text, "".into()),
            (DomainType::Text, "ä".into()),
        ];
        for (domain, expected) in cases {
            let key = key(domain, &expected).unwrap().unwrap();
            assert_eq!(value(domain, &key).unwrap(), expected, "{domain}");
        }
        assert_eq!(key(DomainType::Integer, &SqlValue::Null).unwrap(), None);
        assert!(key(DomainType::Integer, &"five".into()).is_err());
        assert!(key(DomainType::Unsigned, &(-1).into()).is_err());
        assert!(key(DomainType::Text, &vec![1].into()).is_err());
    }
}
