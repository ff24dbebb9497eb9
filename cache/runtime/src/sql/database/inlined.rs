//! Statements with their parameters written out, so that many of them fit into one message.
//!
//! Otherwise a transaction of a hundred buffered writes would wait for a hundred round trips to the server.
//! `UPDATE "people" SET "name" = $1 WHERE "id" = $2` becomes `UPDATE "people" SET "name" = E'O''Neill'::text WHERE
//! "id" = '7'::int8`: values have the types that they have as parameters.
//!
//! Only for statements that this crate wrote completely; names are quoted in them. Values that cannot be written
//! safely in every mode of a server, and all statements of SQLite, which has no round trips, give `None`: they are
//! sent with parameters.

use super::Dialect;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

/// The statement as text.
pub(crate) fn inlined(dialect: Dialect, statement: &Statement) -> Option<String> {
    if dialect == Dialect::Sqlite {
        return None;
    }
    let (mut text, mut quote) = (String::with_capacity(statement.sql.len()), None);
    let mut signs = statement.sql.chars().peekable();
    let mut params = statement.params.iter();
    while let Some(sign) = signs.next() {
        match (sign, quote) {
            ('"' | '`' | '\'', None) => quote = Some(sign),
            (_, Some(open)) if sign == open => quote = None,
            ('?', None) if dialect == Dialect::MariaDb => {
                text.push_str(&literal(dialect, params.next()?)?);
                continue;
            }
            // Placeholders are numbered in their order in the text.
            ('$', None) if dialect == Dialect::Postgres => {
                while signs.next_if(char::is_ascii_digit).is_some() {}
                text.push_str(&literal(dialect, params.next()?)?);
                continue;
            }
            _ => {}
        }
        text.push(sign);
    }
    params.next().is_none().then_some(text)
}

fn literal(dialect: Dialect, value: &SqlValue) -> Option<String> {
    Some(match (value, dialect) {
        (SqlValue::Null, _) => return None,
        (SqlValue::Integer(value), Dialect::Postgres) => format!("'{value}'::int8"),
        (SqlValue::Integer(value), _) => format!("({value})"),
        (SqlValue::Float(value), _) if !value.is_finite() => return None,
        (SqlValue::Float(value), Dialect::Postgres) => format!("'{value:e}'::float8"),
        (SqlValue::Float(value), _) => format!("({value:e})"),
        // A zero byte would end the message.
        (SqlValue::Text(text), _) if text.contains('\0') => return None,
        (SqlValue::Text(text), Dialect::Postgres) => {
            format!("E'{}'::text", text.replace('\\', "\\\\").replace('\'', "''"))
        }
        // Whether a backslash escapes the next character depends on the mode of the server.
        (SqlValue::Text(text), _) if text.contains('\\') => return None,
        (SqlValue::Text(text), _) => format!("'{}'", text.replace('\'', "''")),
        (SqlValue::Blob(bytes), Dialect::Postgres) => format!("E'\\\\x{}'::bytea", hex(bytes)),
        (SqlValue::Blob(bytes), _) => format!("X'{}'", hex(bytes)),
        (SqlValue::Bool(value), Dialect::Postgres) => format!("'{value}'::bool"),
        (SqlValue::Bool(value), _) => format!("({})", u8::from(*value)),
        (
            SqlValue::Decimal { .. }
            | SqlValue::Date(_)
            | SqlValue::Timestamp(_)
            | SqlValue::Unsigned(_)
            | SqlValue::Uuid(_)
            | SqlValue::Json(_),
            _,
        ) => {
            return literal(dialect, &SqlValue::Text(value.as_text()));
        }
    })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
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
