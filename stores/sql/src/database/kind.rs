//! What a column does to the values that are put into it.

use crate::sql_value::SqlValue;

/// Which values a column keeps as they are. Others it may round, pad or convert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Integer,
    Float,
    Text,
    Blob,
    /// Nobody here knows.
    Other,
}

impl ColumnKind {
    /// By the name that the driver has for the type.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "INTEGER" | "INT" | "BIGINT" | "INT8" | "INT4" | "INT2" => Self::Integer,
            "REAL" | "DOUBLE" | "FLOAT8" => Self::Float,
            "TEXT" | "VARCHAR" => Self::Text,
            "BLOB" | "BYTEA" | "VARBINARY" => Self::Blob,
            _ => Self::Other,
        }
    }

    pub(crate) const fn keeps(self, value: &SqlValue) -> bool {
        matches!(
            (self, value),
            (_, SqlValue::Null)
                | (Self::Integer, SqlValue::Integer(_))
                | (Self::Float, SqlValue::Float(_))
                | (Self::Text, SqlValue::Text(_))
                | (Self::Blob, SqlValue::Blob(_))
        )
    }
}
