//! Which values a column certainly holds, by its declaration: the database refuses those beyond its limits.

use std::ops::RangeInclusive;

use super::{Column, ColumnKind, Dialect};
use crate::sql::calendar;
use crate::sql::sql_value::SqlValue;

/// Years whose days and moments every database supports.
const YEARS: RangeInclusive<i64> = 1_000..=9_999;
/// The same for `TIMESTAMP` of MariaDB, whose last is in January 2038.
const STAMP_YEARS: RangeInclusive<i64> = 1_971..=2_037;
const MICROS_OF_DAY: i64 = 86_400_000_000;

/// Whether the column certainly holds the value. NULL is checked by the constraints.
pub(crate) fn takes(dialect: Dialect, column: &Column, value: &SqlValue) -> bool {
    let declared = column.declared.as_str();
    match (column.kind, value) {
        (_, SqlValue::Null)
        | (ColumnKind::Bool, SqlValue::Bool(_))
        | (ColumnKind::Uuid { .. }, SqlValue::Uuid(_)) => true,
        (ColumnKind::Float | ColumnKind::Single, SqlValue::Float(value)) => {
            !declared.contains("unsigned") || *value >= 0.0
        }
        (ColumnKind::Integer | ColumnKind::Counter { .. }, SqlValue::Integer(value)) => {
            dialect == Dialect::Sqlite
                || integers(dialect, declared).is_some_and(|range| range.contains(value))
        }
        (ColumnKind::Text, SqlValue::Text(text)) => match dialect {
            Dialect::Sqlite => true,
            // PostgreSQL has no letter with the number 0.
            Dialect::Postgres if text.contains('\0') => false,
            _ => max_letters(declared).is_some_and(|max| text.chars().count() <= max),
        },
        (ColumnKind::Blob, SqlValue::Blob(bytes)) => match dialect {
            Dialect::Sqlite => true,
            _ => max_letters(declared).is_some_and(|max| bytes.len() <= max),
        },
        (ColumnKind::Decimal { precision, .. }, SqlValue::Decimal { digits, .. }) => {
            let max = 10u128.checked_pow(precision.into());
            !declared.contains("unsigned") && max.is_none_or(|max| digits.unsigned_abs() < max)
        }
        (ColumnKind::Date, SqlValue::Date(date)) => is_of(&YEARS, date.days.into()),
        (ColumnKind::Moment { .. }, SqlValue::Timestamp(micros)) => {
            let is_stamp = dialect == Dialect::MariaDb && declared.starts_with("timestamp");
            is_of(if is_stamp { &STAMP_YEARS } else { &YEARS }, micros.div_euclid(MICROS_OF_DAY))
        }
        _ => false,
    }
}

/// Whether the database certainly compares the column with the value, whichever the rows are.
pub(crate) fn compares(dialect: Dialect, column: &Column, value: &SqlValue) -> bool {
    match value {
        // What no column can hold, PostgreSQL cannot even read.
        SqlValue::Text(text) => dialect != Dialect::Postgres || !text.contains('\0'),
        SqlValue::Date(_) | SqlValue::Timestamp(_) => takes(dialect, column, value),
        _ => true,
    }
}

fn is_of(years: &RangeInclusive<i64>, day: i64) -> bool {
    years.contains(&calendar::civil(day).0)
}

/// Whole numbers of a type: `int(10) unsigned`, `smallint`.
fn integers(dialect: Dialect, declared: &str) -> Option<RangeInclusive<i64>> {
    let bits = match (dialect, first_word(declared)) {
        (Dialect::MariaDb, "tinyint") => 8,
        (Dialect::MariaDb, "mediumint") => 24,
        (_, "smallint") => 16,
        (_, "int" | "integer") => 32,
        (_, "bigint") => 64,
        _ => return None,
    };
    let is_unsigned = declared.contains("unsigned");
    let max = i64::MAX >> (64 - bits);
    // Unsigned values beyond `i64` cannot be given here, either.
    Some(if is_unsigned { 0..=max } else { -max - 1..=max })
}

/// Length limit of a text in letters, or of other values in bytes: `varchar(20)`, `text`. A text without a limit
/// here is limited by the maximum of a write (`certainty.rs`).
fn max_letters(declared: &str) -> Option<usize> {
    let given = declared.split_once('(').and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    match first_word(declared) {
        "varchar" | "char" | "character" | "varbinary" | "binary" if declared != "character varying" => given,
        // The limit is in bytes; a letter has at most four.
        "tinytext" | "tinyblob" => Some(63),
        "text" | "mediumtext" | "longtext" | "blob" | "mediumblob" | "longblob" | "bytea" | "character" => {
            Some(usize::MAX)
        }
        _ => None,
    }
}

fn first_word(declared: &str) -> &str {
    declared.split(['(', ' ']).next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::database::TextOrder;

    fn column(kind: ColumnKind, declared: &str) -> Column {
        Column {
            kind,
            is_changed: false,
            is_counted: false,
            is_generated: false,
            is_hidden: false,
            doubt: None,
            declared: declared.to_owned(),
            cast: None,
            order: TextOrder::Collated,
            is_equal_by_bytes: false,
            is_indexed: false,
        }
    }

    #[test]
    fn values_beyond_a_declaration_are_in_doubt() {
        use Dialect::{MariaDb, Postgres, Sqlite};
        let price = ColumnKind::Decimal { precision: 4, scale: 2 };
        let stamp = ColumnKind::Moment { digits: 6, is_stamp: true };
        let day = |year| SqlValue::date(year, 1, 1).unwrap();
        let year_2100 = SqlValue::Timestamp(4_102_444_800_000_000);
        let cases: [(Dialect, ColumnKind, &str, SqlValue, bool); 30] = [
            (Postgres, ColumnKind::Integer, "integer", i64::from(i32::MAX).into(), true),
            (Postgres, ColumnKind::Integer, "integer", (i64::from(i32::MAX) + 1).into(), false),
            (Postgres, ColumnKind::Integer, "smallint", (-32_769).into(), false),
            (Postgres, ColumnKind::Integer, "bigint", i64::MIN.into(), true),
            (Postgres, ColumnKind::Integer, "numbers", 1.into(), false),
            (MariaDb, ColumnKind::Integer, "tinyint(1)", 128.into(), false),
            (MariaDb, ColumnKind::Counter { replaces_zero: true }, "int(10) unsigned", (-1).into(), false),
            (MariaDb, ColumnKind::Integer, "mediumint(8)", 8_388_607.into(), true),
            (Sqlite, ColumnKind::Integer, "INT", i64::MAX.into(), true),
            (Postgres, ColumnKind::Text, "character varying(3)", "abcd".into(), false),
            (Postgres, ColumnKind::Text, "character varying(3)", "äöü".into(), true),
            (Postgres, ColumnKind::Text, "character varying", "abcd".into(), true),
            (Postgres, ColumnKind::Text, "text", "abcd".into(), true),
            (Postgres, ColumnKind::Text, "citext", "abcd".into(), false),
            (Postgres, ColumnKind::Text, "text", "a\0b".into(), false),
            (MariaDb, ColumnKind::Text, "text", "a\0b".into(), true),
            (MariaDb, ColumnKind::Blob, "varbinary(2)", SqlValue::Blob(vec![1; 3]), false),
            (Postgres, ColumnKind::Uuid { is_ordered: true }, "uuid", [1; 16].into(), true),
            (Postgres, ColumnKind::Other, "inet", "10.0.0.1".into(), false),
            (MariaDb, ColumnKind::Integer, "bigint(20) unsigned", u64::MAX.into(), false),
            (MariaDb, ColumnKind::Float, "double unsigned", (-0.5).into(), false),
            (MariaDb, ColumnKind::Float, "double unsigned", 0.5.into(), true),
            (MariaDb, ColumnKind::Float, "double", (-0.5).into(), true),
            (MariaDb, ColumnKind::Single, "float unsigned", (-0.5).into(), false),
            (Postgres, ColumnKind::Float, "double precision", (-0.5).into(), true),
            (MariaDb, price, "decimal(4,2)", SqlValue::decimal("99.99").unwrap(), true),
            (MariaDb, price, "decimal(4,2)", SqlValue::decimal("100.00").unwrap(), false),
            (MariaDb, ColumnKind::Date, "date", day(999), false),
            (MariaDb, stamp, "timestamp(6)", year_2100.clone(), false),
            (MariaDb, ColumnKind::Moment { digits: 6, is_stamp: false }, "datetime(6)", year_2100, true),
        ];
        for (dialect, kind, declared, value, is_taken) in cases {
            let taken = takes(dialect, &column(kind, declared), &value);
            assert_eq!(taken, is_taken, "{value:?} in {declared} of {dialect:?}");
        }
    }
}
