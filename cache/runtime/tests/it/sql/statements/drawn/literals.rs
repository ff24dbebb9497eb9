//! Values as they are written in a statement, and as a database writes them.

use lacuna_cache::sql::SqlValue;

use super::Drawn;
use crate::sql::world::Dialect;

/// A value as an application writes it by hand.
pub(super) fn literal(dialect: Dialect, value: &SqlValue) -> String {
    let is_postgres = dialect == Dialect::Postgres;
    match value {
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Decimal { digits, scale } => decimal(*digits, *scale),
        SqlValue::Float(float) if is_postgres => format!("'{float}'::float8"),
        SqlValue::Float(float) => format!("{float:e}"),
        SqlValue::Text(text) => format!("'{text}'"),
        SqlValue::Bool(flag) => flag.to_string().to_uppercase(),
        SqlValue::Date(_) => format!("DATE '{}'", days(value)),
        SqlValue::Timestamp(micros) => {
            let name = if is_postgres { "TIMESTAMPTZ" } else { "TIMESTAMP" };
            format!("{name} '{}'", moment(*micros))
        }
        other => panic!("no literal of {other:?}"),
    }
}

fn decimal(digits: i128, scale: u8) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let unit = 10_u128.pow(scale.into());
    let (whole, rest) = (digits.unsigned_abs() / unit, digits.unsigned_abs() % unit);
    let behind = if scale == 0 { String::new() } else { format!(".{rest:0width$}", width = scale.into()) };
    format!("{sign}{whole}{behind}")
}

/// A day in February 2024.
fn days(value: &SqlValue) -> String {
    let found = (1..=29).find(|day| SqlValue::date(2024, 2, *day).unwrap() == *value);
    format!("2024-02-{:02}", found.expect("a day of that month"))
}

/// A moment of the minutes around 2023-11-14 22:13:20.
fn moment(micros: i64) -> String {
    let rest = micros - 1_700_000_000_000_000 + 20_000_000;
    format!("2023-11-14 22:13:{:02}.{:06}", rest / 1_000_000, rest % 1_000_000)
}

/// Whether the database wrote `value` as `text`.
pub(in super::super) fn is_value(value: &SqlValue, text: &str, drawn: &Drawn) -> bool {
    match value {
        SqlValue::Null | SqlValue::Blob(_) => false,
        SqlValue::Integer(number) => text.parse() == Ok(*number),
        SqlValue::Unsigned(number) => text.parse() == Ok(*number),
        SqlValue::Bool(flag) => text == if *flag { "t" } else { "f" },
        SqlValue::Decimal { digits, scale } => text == decimal(*digits, *scale),
        SqlValue::Float(float) => text.parse() == Ok(*float),
        // `CHAR(n)` of PostgreSQL is read without its padding.
        SqlValue::Text(shown) => {
            let is_padded = drawn.columns.iter().any(|column| column.declared.starts_with("CHARACTER("));
            shown == text || (is_padded && shown == text.trim_end_matches(' '))
        }
        SqlValue::Date(_) => text == days(value),
        SqlValue::Timestamp(micros) => {
            let text = text.trim_end_matches("+00");
            let (seconds, behind) = text.split_once('.').unwrap_or((text, ""));
            format!("{seconds}.{behind:0<6}") == moment(*micros)
        }
        other => panic!("no text of {other:?}"),
    }
}
