//! Which columns can be queried by range: those whose values have the same order in this process, the cache and
//! the database.
//!
//! Others would give results that miss rows, so they are refused when the table is opened, with advice.

use lacuna_cache_protocol::DomainType;
use lacuna_cache_protocol::{Error, Result};

use super::{Column, ColumnKind, Dialect, TextOrder};
use crate::sql::calendar;
use crate::sql::sql_value::SqlValue;

impl Dialect {
    /// Whether `column` can be registered with the type `domain`.
    pub(crate) fn offers(self, name: &str, column: &Column, domain: DomainType) -> Result<()> {
        let is_offered = match (self, domain) {
            // Any column of SQLite may hold any value, which the order of the key follows if the types are those
            // of the domain. A column of floats rounds whole numbers beyond 2^53, one of texts turns numbers into texts,
            // and one of numbers texts into numbers, bounds included.
            (
                Self::Sqlite,
                DomainType::Decimal { .. } | DomainType::Date | DomainType::Bool | DomainType::Uuid,
            ) => false,
            (Self::Sqlite, DomainType::Text) => column.order != TextOrder::Foreign && column.keeps_texts(),
            (Self::Sqlite, DomainType::Float) => column.kind == ColumnKind::Float,
            (Self::Sqlite, DomainType::Bytes) => column.kind == ColumnKind::Blob,
            (Self::Sqlite, _) => !matches!(column.kind, ColumnKind::Text | ColumnKind::Float),
            // Texts of these types (an enumeration) are compared by their bytes, but the database may order them
            // differently.
            (Self::MariaDb, DomainType::Text) if matches!(column.kind, ColumnKind::Label { .. }) => true,
            (_, DomainType::Text) if column.order == TextOrder::Foreign => false,
            _ => column.kind.has_order_of(domain),
        };
        if is_offered {
            return Ok(());
        }
        let Column { kind, declared, .. } = column;
        let message =
            format!("{name} ({declared}) cannot be registered as {domain}: {}", self.advice(*kind, domain));
        Err(Error::invalid_input(message))
    }

    fn advice(self, kind: ColumnKind, domain: DomainType) -> String {
        match (self, domain, kind) {
            (Self::Sqlite, DomainType::Decimal { .. }, _) => {
                "SQLite has no exact decimals; keep whole numbers of the smallest unit, as Integer".to_owned()
            }
            (Self::Sqlite, DomainType::Date, _) => {
                "SQLite has no days; keep them as texts like 2024-05-01 in a column that is declared TEXT, as Text, or \
                 count them, as Integer"
                    .to_owned()
            }
            (Self::Sqlite, DomainType::Bool, _) => {
                "SQLite has 0 and 1 instead; register it as Integer".to_owned()
            }
            (Self::Sqlite, DomainType::Uuid, _) => {
                "keep UUIDs in a column that is declared TEXT, as Text, or in one that is declared BLOB, as Bytes"
                    .to_owned()
            }
            (Self::Sqlite, DomainType::Bytes, _) => "declare the column BLOB".to_owned(),
            (Self::Sqlite, DomainType::Text, kind) if !matches!(kind, ColumnKind::Text | ColumnKind::Blob) => {
                "SQLite turns texts in it into numbers where it can; declare the column TEXT".to_owned()
            }
            (Self::Sqlite, DomainType::Text, _) => {
                "the file keeps texts in UTF-16, which has another order; make it with PRAGMA encoding = 'UTF-8'".to_owned()
            }
            (Self::Sqlite, DomainType::Float, _) => "declare the column REAL".to_owned(),
            (Self::Sqlite, _, ColumnKind::Float) => {
                "SQLite rounds whole numbers in it; declare the column INTEGER".to_owned()
            }
            (Self::Sqlite, ..) => {
                "SQLite turns numbers in it into texts, which have another order; declare the column INTEGER"
                    .to_owned()
            }
            (_, _, ColumnKind::Uuid { is_ordered: false }) => {
                "MariaDB does not order UUIDs by their bytes; declare the column BINARY(16), as Bytes, or \
                 CHAR(36) CHARACTER SET ascii, as Text"
                    .to_owned()
            }
            (_, DomainType::Text, ColumnKind::Text) => {
                "the character set of the server has another order than UTF-8; make the database with UTF8"
                    .to_owned()
            }
            (_, _, ColumnKind::Uuid { .. }) => "register it as Uuid".to_owned(),
            (Self::MariaDb, DomainType::Bool, _) => {
                "MariaDB has 0 and 1 instead; register it as Integer".to_owned()
            }
            (_, _, ColumnKind::Bool) => "register it as Bool".to_owned(),
            (_, _, ColumnKind::Blob | ColumnKind::Padded { .. }) => "register it as Bytes".to_owned(),
            (_, DomainType::Bool, _) => "declare the column BOOLEAN".to_owned(),
            (_, DomainType::Uuid, _) => "declare the column UUID".to_owned(),
            (Self::MariaDb, DomainType::Bytes, _) => "declare the column VARBINARY(n)".to_owned(),
            (_, DomainType::Bytes, _) => "declare the column BYTEA".to_owned(),
            (_, _, ColumnKind::Decimal { scale, precision: ..=38 }) => {
                format!("register it as Decimal {{ scale: {scale} }}")
            }
            (_, _, ColumnKind::Date) => "register it as Date".to_owned(),
            (_, _, ColumnKind::Moment { .. }) => "register it as Timestamp".to_owned(),
            (_, DomainType::Decimal { scale }, _) => {
                format!("declare the column NUMERIC(p, {scale}), with p of at most 38")
            }
            (_, DomainType::Date, _) => "declare the column DATE".to_owned(),
            (_, DomainType::Timestamp, _) => {
                "declare the column TIMESTAMP or DATETIME, or BIGINT for microseconds since 1970".to_owned()
            }
            (_, DomainType::Text, _) => {
                "its order is not that of its text; add a generated column of type TEXT, or another column"
                    .to_owned()
            }
            (_, DomainType::Float, _) => "declare the column DOUBLE PRECISION".to_owned(),
            (_, DomainType::Integer | DomainType::Unsigned, _) => "declare the column BIGINT".to_owned(),
        }
    }

    /// Checks that `value` can bound a range. NaN is above all numbers here. SQLite and MariaDB, whose columns never hold it,
    /// find no row below it, and the range would be known to be empty.
    ///
    /// # Errors
    /// `InvalidInput` if it cannot.
    pub(crate) fn can_bound(self, value: &SqlValue) -> Result<()> {
        match value {
            SqlValue::Float(number) if number.is_nan() && self != Self::Postgres => {
                Err(Error::invalid_input("NaN bounds no range: a column of this database holds numbers only"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that SQL of the database can express `value`. It may take an inexpressible value for NULL, and find
    /// nothing.
    ///
    /// # Errors
    /// `InvalidInput` if it cannot.
    pub(crate) fn can_say(self, value: &SqlValue) -> Result<()> {
        let refused = |message: &str| Err(Error::invalid_input(format!("{}: {message}", value.as_text())));
        let day = match (self, value) {
            (Self::Sqlite, SqlValue::Decimal { .. } | SqlValue::Date(_)) => {
                return refused("SQLite has neither decimals nor days; keep whole numbers or texts");
            }
            (Self::Sqlite, SqlValue::Timestamp(_)) => {
                return refused("in SQLite moments are whole numbers, in columns that are declared INTEGER");
            }
            (Self::Sqlite, SqlValue::Unsigned(number)) if i64::try_from(*number).is_err() => {
                return refused("SQLite has whole numbers up to 2^63 - 1, and rounds those beyond to floats");
            }
            (Self::MariaDb, SqlValue::Date(date)) => i64::from(date.days),
            (Self::MariaDb, SqlValue::Timestamp(micros)) => calendar::day_and_micros(*micros).0,
            _ => return Ok(()),
        };
        match calendar::civil(day).0 {
            1..=9_999 => Ok(()),
            _ => refused("MariaDB has the years 1 to 9999"),
        }
    }
}
