//! SQL that databases write differently.

use std::borrow::Cow;

use super::{Column, ColumnKind, MARK, Mark, TextOrder};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Shape, Statement};

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "postgres", feature = "mariadb")),
    allow(dead_code, reason = "its driver is not built")
)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
    MariaDb,
}

impl Dialect {
    /// Whether the database is another process.
    pub(crate) fn is_remote(self) -> bool {
        self != Self::Sqlite
    }

    pub(crate) fn quoted(self, name: &str) -> String {
        let mut text = String::with_capacity(name.len() + 2);
        self.quote(&mut text, name);
        text
    }

    /// Appends the name in quotes. SQLite takes a name in `"` for a text if there is no such column, as after it was renamed: it would
    /// read the name, and delete by comparing it.
    pub(crate) fn quote(self, text: &mut String, name: &str) {
        let mark = if self == Self::Postgres { '"' } else { '`' };
        text.push(mark);
        for (nth, part) in name.split(mark).enumerate() {
            if nth > 0 {
                text.push(mark);
                text.push(mark);
            }
            text.push_str(part);
        }
        text.push(mark);
    }

    /// The parameter with this number, from 1 on; parameters are used in order.
    pub(crate) fn placeholder(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres => format!("${number}"),
            Self::MariaDb => "?".to_owned(),
        }
    }

    /// A statement with placeholders for `values` in place of `{}`.
    pub(crate) fn statement(self, sql: &str, values: &[SqlValue]) -> Statement {
        let mut parts = sql.split("{}");
        let mut text = parts.next().unwrap_or("").to_owned();
        for (number, part) in (1..).zip(parts) {
            text.push_str(&self.placeholder(number));
            text.push_str(part);
        }
        values.iter().cloned().fold(Statement::new(text), Statement::with)
    }

    /// The parameter with this number, for `value`. Types with different names in the databases are sent as text
    /// and cast: without a cast they would be compared as text, or as floats.
    pub(crate) fn typed(self, number: usize, value: &SqlValue) -> String {
        let placeholder = self.placeholder(number);
        let name = match (self, value) {
            (Self::Postgres, SqlValue::Decimal { .. } | SqlValue::Unsigned(_)) => "NUMERIC",
            (Self::Postgres, SqlValue::Uuid(_)) => "UUID",
            (Self::MariaDb, SqlValue::Unsigned(_)) => "UNSIGNED",
            (Self::Postgres, SqlValue::Timestamp(_)) => "TIMESTAMPTZ",
            (Self::MariaDb, SqlValue::Decimal { scale, .. }) => {
                return format!("CAST({placeholder} AS DECIMAL(65, {scale}))");
            }
            (Self::MariaDb, SqlValue::Timestamp(_)) => "DATETIME(6)",
            (Self::Postgres | Self::MariaDb, SqlValue::Date(_)) => "DATE",
            _ => return placeholder,
        };
        format!("CAST({placeholder} AS {name})")
    }

    /// What is read of a column: its value, or its text in the database's own form.
    pub(crate) fn read(self, quoted: &str, kind: ColumnKind) -> String {
        match (self, kind) {
            (Self::Postgres, kind) if kind.is_cast() => format!("CAST({quoted} AS text)"),
            (Self::MariaDb, ColumnKind::Bits) => format!("CAST({quoted} AS UNSIGNED)"),
            (Self::MariaDb, ColumnKind::Geometry) => format!("CAST({quoted} AS BINARY)"),
            (Self::MariaDb, ColumnKind::Uuid { .. } | ColumnKind::Label { .. } | ColumnKind::Other) => {
                format!("CONVERT(CAST({quoted} AS CHAR) USING utf8mb4)")
            }
            _ => quoted.to_owned(),
        }
    }

    /// A column, compared and ordered as its values are here: texts by their bytes.
    pub(crate) fn by_bytes(self, quoted: &str, column: &Column) -> String {
        let read = self.read(quoted, column.kind);
        let is_text = match self {
            // A value of a column may be a text whatever its declaration, unless that is one of numbers.
            Self::Sqlite => {
                !matches!(column.kind, ColumnKind::Integer | ColumnKind::Counter { .. } | ColumnKind::Float)
            }
            _ => column.kind == ColumnKind::Text || column.kind.is_cast(),
        };
        if !is_text || (column.kind == ColumnKind::Text && column.order == TextOrder::Bytes) {
            return read;
        }
        match self {
            Self::Sqlite => format!("{read} COLLATE BINARY"),
            Self::Postgres => format!("{read} COLLATE \"C\""),
            // By the bytes of UTF-8, whatever the character set of the column; trailing spaces count.
            Self::MariaDb => format!("BINARY CONVERT({read} USING utf8mb4)"),
        }
    }

    /// SQL that writes only while the fence of `range` is at `epoch`; the fence cannot be raised until the
    /// statement is done. It has more parameters after its own `params`: range, epoch, and the slot where there are
    /// slots. Watchdogs recognize it by its mark.
    pub(crate) fn fenced(
        self,
        sql: &str,
        shape: Shape,
        params: usize,
        mark: Option<&Mark>,
    ) -> Option<String> {
        let shown = self.mark_of_fence(mark).unwrap_or_else(|| "1".to_owned());
        let [range, epoch, slot] = [1, 2, 3].map(|number| self.placeholder(params + number));
        let fence = if self.has_slots() {
            format!(
                "SELECT {shown} FROM lacuna_slot WHERE range_id = {range} AND epoch = {epoch} AND slot = {slot} FOR UPDATE"
            )
        } else {
            let lock = self.shared_lock();
            format!("SELECT {shown} FROM lacuna_fence WHERE range_id = {range} AND epoch = {epoch}{lock}")
        };
        let joint = match (shape, self) {
            (Shape::Own, _) => return None,
            (Shape::Condition, _) => " AND",
            (Shape::Values, Self::MariaDb) => " FROM DUAL WHERE",
            (Shape::Values, _) => " WHERE",
        };
        let sql = self.commented(sql, mark);
        Some(match self {
            Self::Postgres => {
                format!("WITH lacuna AS ({fence}) {sql}{joint} EXISTS (SELECT 1 FROM lacuna)")
            }
            Self::Sqlite | Self::MariaDb => format!("{sql}{joint} EXISTS ({fence})"),
        })
    }

    /// An expression that leaves a mark in the log of the transaction that reads the fence.
    pub(crate) fn mark_of_fence(self, mark: Option<&Mark>) -> Option<String> {
        let signs = mark.filter(|_| self == Self::Postgres)?.as_str();
        Some(format!("pg_logical_emit_message(true, '{MARK}', '{signs}'::text)::text"))
    }

    /// The statement after its mark, if statement texts are in the log.
    pub(crate) fn commented<'a>(self, sql: &'a str, mark: Option<&Mark>) -> Cow<'a, str> {
        match mark {
            Some(mark) if self == Self::MariaDb => {
                Cow::Owned(format!("/* {MARK} {} */ {sql}", mark.as_str()))
            }
            _ => Cow::Borrowed(sql),
        }
    }

    /// Makes a transaction wait until it is on disk, whatever the server is set to: a fence that a crash undoes
    /// would admit writes of the old owner.
    pub(crate) const fn durably(self) -> Option<&'static str> {
        match self {
            Self::Postgres => Some("SET LOCAL synchronous_commit TO on"),
            // There it is a setting of the whole file, or of the whole server.
            Self::Sqlite | Self::MariaDb => None,
        }
    }

    /// Ends the wait of a transaction for a lock before its caller has given up: a server that waits does not notice that, and
    /// each try would leave a connection there. MariaDB ends such waits itself.
    pub(crate) const fn impatiently(self) -> Option<&'static str> {
        match self {
            Self::Postgres => Some("SET LOCAL lock_timeout TO '4s'"),
            Self::Sqlite | Self::MariaDb => None,
        }
    }

    /// Appended to a query: its rows cannot be changed until the transaction ends. SQLite has one writer anyway, and
    /// PostgreSQL has slots.
    pub(crate) const fn shared_lock(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "",
            Self::MariaDb => " LOCK IN SHARE MODE",
        }
    }

    /// Appended to a query whose row is changed afterwards.
    pub(crate) const fn exclusive_lock(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres | Self::MariaDb => " FOR UPDATE",
        }
    }

    /// The type of names, which must be comparable as a key.
    pub(crate) const fn name_type(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "TEXT",
            Self::MariaDb => "VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        }
    }

    /// Appended to the definition of a table: its transactions can be rolled back.
    pub(crate) const fn engine(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "",
            Self::MariaDb => " ENGINE=InnoDB",
        }
    }
}
