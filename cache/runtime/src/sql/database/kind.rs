//! How a column changes the values that are written to it.

use lacuna_cache_protocol::DomainType;

use crate::sql::decimal::MAX_DIGITS;
use crate::sql::domain_key;
use crate::sql::sql_value::SqlValue;

/// The kind of a column: which values it keeps unchanged. Others it may round, pad, cut or generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Integer,
    /// Whole numbers; the database generates one if NULL or 0 is inserted.
    Counter,
    Float,
    /// Floats of 32 bits.
    Single,
    Text,
    Blob,
    /// Exact numbers with a fixed number of digits, a fixed number of them after the point.
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    /// Moments to a fixed number of digits of a second; some databases generate one if NULL is inserted.
    Moment {
        digits: u8,
        is_stamp: bool,
    },
    /// An unknown kind.
    Other,
}

/// A column as its database describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) kind: ColumnKind,
    /// Whether it does not keep the written value, whatever that is.
    pub(crate) is_changed: bool,
    /// Its declared type, in the words of the database.
    pub(crate) declared: String,
}

impl ColumnKind {
    /// The kind for the driver's name of the type.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "INTEGER" | "INT" | "BIGINT" | "MEDIUMINT" | "SMALLINT" | "TINYINT" | "INT8" | "INT4"
            | "INT2" | "BOOLEAN" => Self::Integer,
            "INT UNSIGNED" | "BIGINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "SMALLINT UNSIGNED"
            | "TINYINT UNSIGNED" => Self::Integer,
            "REAL" | "DOUBLE" | "FLOAT8" => Self::Float,
            "FLOAT" | "FLOAT4" => Self::Single,
            // `CHAR` pads what it keeps, and drivers here read it without the spaces.
            "TEXT" | "VARCHAR" | "CHAR" | "TINYTEXT" | "MEDIUMTEXT" | "LONGTEXT" => Self::Text,
            "BLOB" | "BYTEA" | "VARBINARY" => Self::Blob,
            _ => Self::Other,
        }
    }

    /// How SQLite converts the values of a column with this declared type.
    pub(crate) fn affinity(declared: &str) -> Self {
        let declared = declared.to_ascii_uppercase();
        let kinds = [
            (&["INT"][..], Self::Integer),
            (&["CHAR", "CLOB", "TEXT"], Self::Text),
            (&["BLOB"], Self::Blob),
            (&["REAL", "FLOA", "DOUB"], Self::Float),
        ];
        let found = kinds.into_iter().find(|(words, _)| words.iter().any(|word| declared.contains(word)));
        found.map_or(Self::Other, |(_, kind)| kind)
    }

    /// The kind for the declared type, if the driver's name is not precise enough: `numeric(10,2)`, `timestamp(3)
    /// with time zone`.
    pub(crate) fn declared(words: &str, default_digits: u8) -> Option<Self> {
        let (name, rest) = words.split_at(words.find(['(', ' ']).unwrap_or(words.len()));
        let is_array = words.ends_with("[]");
        let inside =
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(inside, _)| inside);
        let numbers: Vec<Option<u8>> = inside.split(',').map(|number| number.trim().parse().ok()).collect();
        match (name, &numbers[..]) {
            _ if is_array => None,
            ("numeric" | "decimal", [Some(precision), Some(scale)]) => {
                Some(Self::Decimal { precision: *precision, scale: *scale })
            }
            ("date", _) => Some(Self::Date),
            ("timestamp" | "datetime", [digits, ..]) => Some(Self::Moment {
                digits: digits.unwrap_or(default_digits),
                is_stamp: words == "timestamp",
            }),
            _ => None,
        }
    }

    /// Whether the value that is read later is `value`, bit for bit.
    pub(crate) fn keeps(self, value: &SqlValue) -> bool {
        match (self, value) {
            (Self::Counter, SqlValue::Integer(value)) => *value != 0,
            (Self::Counter | Self::Other, _) => false,
            (Self::Moment { is_stamp: true, .. }, SqlValue::Null) => false,
            (_, SqlValue::Null)
            | (Self::Date, SqlValue::Date(_))
            | (Self::Integer, SqlValue::Integer(_))
            | (Self::Blob, SqlValue::Blob(_)) => true,
            (Self::Decimal { scale: kept, .. }, SqlValue::Decimal { scale, .. }) => kept == *scale,
            (Self::Moment { digits, .. }, SqlValue::Timestamp(micros)) => {
                micros % 10i64.pow(6 - u32::from(digits).min(6)) == 0
            }
            // SQLite turns NaN into NULL, and has one zero.
            (Self::Float, SqlValue::Float(value)) => is_plain(*value),
            (Self::Single, SqlValue::Float(value)) => {
                #[expect(clippy::cast_possible_truncation, reason = "that is what is asked")]
                let single = *value as f32;
                is_plain(*value) && f64::from(single).to_bits() == value.to_bits()
            }
            // Spaces beyond the length of a column are truncated without an error.
            (Self::Text, SqlValue::Text(value)) => !value.ends_with(' '),
            _ => false,
        }
    }

    /// Whether values of the column, as they are read, have the order that the database gives them.
    pub(crate) fn has_order_of(self, domain: DomainType) -> bool {
        match (self, domain) {
            (
                Self::Integer | Self::Counter,
                DomainType::Integer | DomainType::Unsigned | DomainType::Timestamp,
            )
            | (Self::Float | Self::Single, DomainType::Float)
            | (Self::Text, DomainType::Text)
            | (Self::Date, DomainType::Date)
            | (Self::Moment { .. }, DomainType::Timestamp) => true,
            (Self::Decimal { precision, scale }, DomainType::Decimal { scale: registered }) => {
                scale == registered && precision <= MAX_DIGITS
            }
            _ => false,
        }
    }

    /// `value` in the form in which it is read from the column, if an equal value has another form.
    pub(crate) fn fitted(self, value: SqlValue) -> SqlValue {
        match (self, &value) {
            (Self::Decimal { scale, .. }, SqlValue::Integer(_) | SqlValue::Decimal { .. }) => {
                let domain = DomainType::Decimal { scale };
                let key = domain_key::key(domain, &value).ok().flatten();
                key.and_then(|key| domain_key::value(domain, &key).ok()).unwrap_or(value)
            }
            (Self::Integer | Self::Counter, SqlValue::Timestamp(micros)) => SqlValue::Integer(*micros),
            (Self::Moment { .. }, SqlValue::Integer(micros)) => SqlValue::Timestamp(*micros),
            _ => value,
        }
    }
}

fn is_plain(value: f64) -> bool {
    value.is_finite() && (value != 0.0 || value.is_sign_positive())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_column_changes_are_not_taken_as_kept() {
        let moment = |digits, is_stamp| ColumnKind::Moment { digits, is_stamp };
        let price = ColumnKind::Decimal { precision: 10, scale: 2 };
        let kept: [(ColumnKind, SqlValue); 9] = [
            (ColumnKind::Integer, 0.into()),
            (ColumnKind::Counter, 7.into()),
            (ColumnKind::Float, 0.1.into()),
            (ColumnKind::Single, 0.5.into()),
            (ColumnKind::Text, " a".into()),
            (ColumnKind::Text, SqlValue::Null),
            (price, SqlValue::decimal("0.50").unwrap()),
            (moment(3, true), SqlValue::Timestamp(-1_000)),
            (moment(6, false), SqlValue::Null),
        ];
        assert!(kept.iter().all(|(kind, value)| kind.keeps(value)));
        let changed: [(ColumnKind, SqlValue); 12] = [
            (ColumnKind::Counter, 0.into()),
            (ColumnKind::Counter, SqlValue::Null),
            (ColumnKind::Float, f64::NAN.into()),
            (ColumnKind::Float, (-0.0).into()),
            (ColumnKind::Single, 0.1.into()),
            (ColumnKind::Text, "a ".into()),
            (ColumnKind::Integer, 1.5.into()),
            (ColumnKind::Other, 1.into()),
            (ColumnKind::Other, SqlValue::Null),
            (price, SqlValue::decimal("0.5").unwrap()),
            (moment(3, false), SqlValue::Timestamp(1)),
            (moment(6, true), SqlValue::Null),
        ];
        assert!(changed.iter().all(|(kind, value)| !kind.keeps(value)));
        assert_eq!(price.fitted(SqlValue::decimal("0.5").unwrap()), SqlValue::decimal("0.50").unwrap());
        assert_eq!(price.fitted(7.into()), SqlValue::decimal("7.00").unwrap());
        assert_eq!(price.fitted(SqlValue::decimal("0.005").unwrap()), SqlValue::decimal("0.005").unwrap());
        assert_eq!(moment(6, false).fitted(7.into()), SqlValue::Timestamp(7));
    }

    #[test]
    fn the_words_of_databases_say_what_columns_keep() {
        let kind = |words| ColumnKind::declared(words, 6);
        assert_eq!(kind("numeric(10,2)"), Some(ColumnKind::Decimal { precision: 10, scale: 2 }));
        assert_eq!(kind("decimal(5,0) unsigned"), Some(ColumnKind::Decimal { precision: 5, scale: 0 }));
        assert_eq!(
            kind("timestamp(3) with time zone"),
            Some(ColumnKind::Moment { digits: 3, is_stamp: false })
        );
        assert_eq!(kind("datetime"), Some(ColumnKind::Moment { digits: 6, is_stamp: false }));
        assert_eq!(kind("date"), Some(ColumnKind::Date));
        for other in ["numeric", "numeric(10,-2)", "numeric(10,2)[]", "date[]", "daterange", "text"] {
            assert_eq!(kind(other), None, "{other}");
        }
    }
}
