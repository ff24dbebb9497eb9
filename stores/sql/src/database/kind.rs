//! What a column does to the values that are put into it.

use lacuna_range_cache::DomainType;

use crate::sql_value::SqlValue;

/// Which values a column keeps as they are. Others it may round, pad, cut or make up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Integer,
    /// Whole numbers; the database makes one up where NULL or 0 is put in.
    Counter,
    Float,
    /// Floats of 32 bits.
    Single,
    Text,
    Blob,
    /// Nobody here knows.
    Other,
}

impl ColumnKind {
    /// By the name that the driver has for the type.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "INTEGER" | "INT" | "BIGINT" | "MEDIUMINT" | "SMALLINT" | "TINYINT" | "INT8" | "INT4"
            | "INT2" => Self::Integer,
            "INT UNSIGNED" | "BIGINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "SMALLINT UNSIGNED"
            | "TINYINT UNSIGNED" => Self::Integer,
            "REAL" | "DOUBLE" | "FLOAT8" => Self::Float,
            "FLOAT4" => Self::Single,
            "TEXT" | "VARCHAR" => Self::Text,
            "BLOB" | "BYTEA" | "VARBINARY" => Self::Blob,
            _ => Self::Other,
        }
    }

    /// Whether the value that is read afterwards is `value`, bit by bit.
    pub(crate) fn keeps(self, value: &SqlValue) -> bool {
        match (self, value) {
            (Self::Counter, SqlValue::Integer(value)) => *value != 0,
            (Self::Counter | Self::Other, _) => false,
            (_, SqlValue::Null) | (Self::Integer, SqlValue::Integer(_)) | (Self::Blob, SqlValue::Blob(_)) => {
                true
            }
            // SQLite makes NULL of what is no number, and has one zero.
            (Self::Float, SqlValue::Float(value)) => is_plain(*value),
            (Self::Single, SqlValue::Float(value)) => {
                #[expect(clippy::cast_possible_truncation, reason = "that is what is asked")]
                let single = *value as f32;
                is_plain(*value) && f64::from(single).to_bits() == value.to_bits()
            }
            // Spaces beyond the length of a column are cut without an error.
            (Self::Text, SqlValue::Text(value)) => !value.ends_with(' '),
            _ => false,
        }
    }

    /// Whether values of the column, as they are read, have the order that the database gives them.
    pub(crate) const fn has_order_of(self, domain: DomainType) -> bool {
        matches!(
            (self, domain),
            (
                Self::Integer | Self::Counter,
                DomainType::Integer | DomainType::Unsigned | DomainType::Timestamp
            ) | (Self::Float | Self::Single, DomainType::Float)
                | (Self::Text, DomainType::Text)
        )
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
        let kept: [(ColumnKind, SqlValue); 6] = [
            (ColumnKind::Integer, 0.into()),
            (ColumnKind::Counter, 7.into()),
            (ColumnKind::Float, 0.1.into()),
            (ColumnKind::Single, 0.5.into()),
            (ColumnKind::Text, " a".into()),
            (ColumnKind::Text, SqlValue::Null),
        ];
        assert!(kept.iter().all(|(kind, value)| kind.keeps(value)));
        let changed: [(ColumnKind, SqlValue); 9] = [
            (ColumnKind::Counter, 0.into()),
            (ColumnKind::Counter, SqlValue::Null),
            (ColumnKind::Float, f64::NAN.into()),
            (ColumnKind::Float, (-0.0).into()),
            (ColumnKind::Single, 0.1.into()),
            (ColumnKind::Text, "a ".into()),
            (ColumnKind::Integer, 1.5.into()),
            (ColumnKind::Other, 1.into()),
            (ColumnKind::Other, SqlValue::Null),
        ];
        assert!(changed.iter().all(|(kind, value)| !kind.keeps(value)));
    }
}
