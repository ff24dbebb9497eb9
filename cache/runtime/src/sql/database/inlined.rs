//! Statements with their parameters written out, so that many of them fit into one message.
//!
//! Otherwise a transaction of a hundred buffered writes would wait for a hundred round trips to the server.
//! `UPDATE "people" SET "name" = $1 WHERE "id" = $2` becomes `UPDATE "people" SET "name" = E'O''Neill'::text WHERE
//! "id" = '7'::int8`: values have the types that they have as parameters.
//!
//! Only for statements that this crate wrote completely; names are quoted in them. Values that cannot be written
//! safely in every mode of a server, and all statements of SQLite, which has no round trips, give `None`: they are
//! sent with parameters.

use std::fmt::Write as _;

use super::Dialect;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

/// The statement as text.
pub(crate) fn inlined(dialect: Dialect, statement: &Statement) -> Option<String> {
    if dialect == Dialect::Sqlite {
        return None;
    }
    let room: usize = statement.params.iter().map(SqlValue::bytes).sum();
    // Twice, for blobs are written in hexadecimal and types are named.
    let mut text = String::with_capacity(statement.sql.len() + 2 * room);
    let mut params = statement.params.iter();
    let sql = statement.sql.as_bytes();
    let (mut at, mut copied, mut quote) = (0, 0, None);
    while let Some(&sign) = sql.get(at) {
        at += 1;
        let is_placeholder = match (sign, quote) {
            (_, Some(open)) => {
                quote = quote.filter(|_| sign != open);
                false
            }
            (b'"' | b'`' | b'\'', None) => {
                quote = Some(sign);
                false
            }
            // Placeholders are numbered in their order in the text.
            (b'?', None) => dialect == Dialect::MariaDb,
            (b'$', None) => dialect == Dialect::Postgres,
            _ => false,
        };
        if !is_placeholder {
            continue;
        }
        text.push_str(&statement.sql[copied..at - 1]);
        while sign == b'$' && sql.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        write_literal(&mut text, dialect, params.next()?)?;
        copied = at;
    }
    text.push_str(&statement.sql[copied..]);
    params.next().is_none().then_some(text)
}

/// Appends a value; `None` for one that cannot be written safely.
fn write_literal(text: &mut String, dialect: Dialect, value: &SqlValue) -> Option<()> {
    let written = match (value, dialect) {
        (SqlValue::Null, _) => return None,
        (SqlValue::Integer(value), Dialect::Postgres) => write!(text, "'{value}'::int8"),
        (SqlValue::Integer(value), _) => write!(text, "({value})"),
        (SqlValue::Float(value), _) if !value.is_finite() => return None,
        (SqlValue::Float(value), Dialect::Postgres) => write!(text, "'{value:e}'::float8"),
        (SqlValue::Float(value), _) => write!(text, "({value:e})"),
        // A zero byte would end the message.
        (SqlValue::Text(value), _) if value.contains('\0') => return None,
        (SqlValue::Text(value), Dialect::Postgres) => {
            write_text(text, "E'", value, &['\\', '\'']);
            write!(text, "::text")
        }
        // Whether a backslash escapes the next character depends on the mode of the server.
        (SqlValue::Text(value), _) if value.contains('\\') => return None,
        (SqlValue::Text(value), _) => {
            write_text(text, "'", value, &['\'']);
            Ok(())
        }
        (SqlValue::Blob(bytes), Dialect::Postgres) => write!(text, "E'\\\\x{}'::bytea", hex(bytes)),
        (SqlValue::Blob(bytes), _) => write!(text, "X'{}'", hex(bytes)),
        (SqlValue::Bool(value), Dialect::Postgres) => write!(text, "'{value}'::bool"),
        (SqlValue::Bool(value), _) => write!(text, "({})", u8::from(*value)),
        (
            SqlValue::Decimal { .. }
            | SqlValue::Date(_)
            | SqlValue::Timestamp(_)
            | SqlValue::Unsigned(_)
            | SqlValue::Uuid(_)
            | SqlValue::Json(_),
            _,
        ) => {
            return write_literal(text, dialect, &SqlValue::Text(value.as_text()));
        }
    };
    written.ok()
}

/// Appends `value` between quotes, with each of the `signs` in it doubled.
fn write_text(text: &mut String, open: &str, value: &str, signs: &[char]) {
    text.push_str(open);
    for part in value.split_inclusive(signs) {
        text.push_str(part);
        text.extend(part.chars().next_back().filter(|last| signs.contains(last)));
    }
    text.push('\'');
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_stay_inside_their_text() {
        let set = |sql: &str, text: &str| Statement::new(sql).with(text).with(-7);
        let postgres = inlined(Dialect::Postgres, &set("UPDATE \"a$1\" SET b = $1 WHERE c = $2", "O'N\\"));
        assert_eq!(postgres.unwrap(), "UPDATE \"a$1\" SET b = E'O''N\\\\'::text WHERE c = '-7'::int8");
        let mariadb = inlined(Dialect::MariaDb, &set("UPDATE `a?` SET b = ? WHERE c = ?", "O'N"));
        assert_eq!(mariadb.unwrap(), "UPDATE `a?` SET b = 'O''N' WHERE c = (-7)");
    }

    #[test]
    fn what_a_mode_may_change_is_not_written_out() {
        let with = |value: SqlValue| Statement::new("SELECT ?").with(value);
        for value in [SqlValue::from("a\\"), SqlValue::from("a\0"), SqlValue::Float(f64::NAN), SqlValue::Null]
        {
            assert_eq!(inlined(Dialect::MariaDb, &with(value)), None);
        }
        assert_eq!(inlined(Dialect::Sqlite, &with(1.into())), None);
        assert_eq!(inlined(Dialect::MariaDb, &Statement::new("SELECT ?")), None, "a parameter is missing");
        assert_eq!(inlined(Dialect::MariaDb, &Statement::new("SELECT 1").with(1)), None, "one is too many");
    }
}
