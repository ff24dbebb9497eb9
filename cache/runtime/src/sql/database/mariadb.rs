//! MariaDB. The fence is read `LOCK IN SHARE MODE`, which sees the newest row whatever the transaction has seen
//! before.

use lacuna_base::Date;
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions, MySqlRow};
use sqlx::{Row as _, TypeInfo as _, ValueRef as _};

use super::connect::{check, refused, trusting, unreachable};
use super::driver::driver;
use super::{Database, Dialect, Failure, FailureKind, Later, Table, Transaction};
use crate::sql::calendar;
use crate::sql::sql_value::{SqlValue, decimal_or_text};
use crate::sql::statement::Statement;

driver!(
    MariaDb,
    MariaDbTransaction,
    sqlx::MySql,
    Dialect::MariaDb,
    "START TRANSACTION",
    decoded,
    kind_of,
    text
);

impl MariaDb {
    /// Connects to the database at `url`.
    pub(crate) async fn open(url: &str, connections: u32) -> Result<Self> {
        let url = url.replacen("mariadb:", "mysql:", 1);
        // Moments are UTC here, whatever the time zone of the server.
        let options: MySqlConnectOptions = url.parse().map_err(refused)?;
        let options = options.timezone(Some("+00:00".to_owned()));
        let place = format!("{}:{}", options.get_host(), options.get_port());
        check(&options, &place).await?;
        // A single statement is committed when it is answered, whatever the configuration of the server says. A value that
        // a column cannot hold is refused: otherwise it would become another one, in a place that the cache does not know.
        // Other modes would read `CHAR` with its padding, or store NULL for an empty text. After a commit the server begins no transaction
        // of its own, in which the next write would not be committed, and no limit leaves rows out. `IS NULL` does not mean the last
        // insertion, and no read sees what is not committed. A write of a range may look at every row. Texts are sorted by more than
        // the usual 1,024 bytes; the buffer must hold fifteen rows of all that they are sorted by, or the sort is refused: this one
        // holds 17 columns of TEXT.
        let pool = MySqlPoolOptions::new().after_connect(|connection, _| {
            Box::pin(async move {
                let strict = "SET SESSION autocommit = 1, completion_type = 0, sql_auto_is_null = 0, sql_safe_updates = 0, \
                              tx_isolation = IF(@@tx_isolation = 'READ-UNCOMMITTED', 'READ-COMMITTED', @@tx_isolation), \
                              max_sort_length = 65536, sort_buffer_size = GREATEST(@@sort_buffer_size, 16777216), \
                              sql_select_limit = 18446744073709551615, sql_mode = \
                              'PIPES_AS_CONCAT,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'";
                sqlx::raw_sql(strict).execute(connection).await.map(|_| ())
            })
        });
        Ok(Self {
            pool: trusting(pool, connections).connect_with(options).await.map_err(unreachable(&place))?,
            is_in_memory: false,
        })
    }
}

fn decoded(row: &MySqlRow, place: usize) -> Result<SqlValue, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    let type_info = value.type_info().into_owned();
    if value.is_null() {
        let is_of_days = matches!(type_info.name(), "DATE" | "DATETIME" | "TIMESTAMP");
        // The driver takes `0000-00-00` for NULL, but gives its bytes.
        let bytes = row.try_get_unchecked::<Vec<u8>, _>(place).ok().filter(|_| is_of_days);
        return Ok(bytes.map_or(SqlValue::Null, |bytes| moment(type_info.name() == "DATE", &bytes)));
    }
    Ok(match type_info.name() {
        // The driver calls `TINYINT(1)` so, with a sign or without one.
        "BOOLEAN" => match row.try_get(place) {
            Ok(value) => SqlValue::Integer(value),
            Err(_) => row.try_get::<u64, _>(place)?.into(),
        },
        "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => SqlValue::Integer(row.try_get(place)?),
        "FLOAT" => SqlValue::Float(row.try_get::<f32, _>(place)?.into()),
        "DOUBLE" => SqlValue::Float(row.try_get(place)?),
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" => {
            SqlValue::Blob(row.try_get(place)?)
        }
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "INT UNSIGNED"
        | "BIGINT UNSIGNED" => row.try_get::<u64, _>(place)?.into(),
        "DECIMAL" => decimal_or_text(row.try_get_unchecked(place)?),
        "DATE" | "DATETIME" | "TIMESTAMP" => {
            moment(type_info.name() == "DATE", &row.try_get_unchecked::<Vec<u8>, _>(place)?)
        }
        // A value that is not text gives an error that says so.
        _ => SqlValue::Text(row.try_get(place)?),
    })
}

/// A value that came as text, whatever its type is.
fn text(row: &MySqlRow, place: usize) -> Result<Option<String>, sqlx::Error> {
    let bytes: Option<&[u8]> = row.try_get_unchecked(place)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}

/// A day or a moment: first the number of the following bytes, as the last may be missing; then year in two bytes,
/// month, day, hour, minute, second, and microseconds in four bytes. An invalid date (`0000-00-00`) is text, less
/// than all others.
fn moment(is_day: bool, bytes: &[u8]) -> SqlValue {
    let byte = |place: usize| bytes.get(place).copied().unwrap_or(0);
    let year = i64::from(u16::from_le_bytes([byte(1), byte(2)]));
    let (month, day_of_month) = (byte(3), byte(4));
    let day = calendar::day_of(year, month, day_of_month);
    if calendar::civil(day) != (year, month, day_of_month) {
        let date = format!("{year:04}-{month:02}-{day_of_month:02}");
        let time = format!(" {:02}:{:02}:{:02}", byte(5), byte(6), byte(7));
        return SqlValue::Text(if is_day { date } else { date + &time });
    }
    if is_day {
        let days = i32::try_from(day).expect("years have two bytes");
        return SqlValue::Date(Date { days });
    }
    let second = i64::from(byte(5)) * 3_600 + i64::from(byte(6)) * 60 + i64::from(byte(7));
    let micros = i64::from(u32::from_le_bytes([byte(8), byte(9), byte(10), byte(11)]));
    let moment = calendar::moment(day, second * 1_000_000 + micros);
    SqlValue::Timestamp(moment.expect("years have two bytes"))
}

fn kind_of(error: &dyn sqlx::error::DatabaseError) -> FailureKind {
    let number = error
        .try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()
        .map_or(0, sqlx::mysql::MySqlDatabaseError::number);
    kind_of_number(number, error.code().as_deref().and_then(|code| code.get(..2)))
}

/// By the number of an error, and the class of its code. A commit that failed, or a connection that was killed, may have been
/// executed. What is wrong with a statement, its values or its rows is permanent. Everything else is temporary (no memory,
/// disk, connection or lock, a host that is blocked, a password that has expired, a read-only server).
fn kind_of_number(number: u16, class: Option<&str>) -> FailureKind {
    match (number, class) {
        (1180 | 1317 | 1927, _) => FailureKind::Unknown,
        // Of other classes: a missing right, a missing database, too many connections or prepared statements.
        (1044 | 1142 | 1143 | 1227 | 1370, _) => FailureKind::Denied,
        (1040 | 1049 | 1203 | 1226 | 1461, _) => FailureKind::Later,
        (_, Some("08" | "70")) => FailureKind::Unknown,
        // A deadlock, or a password that is being changed.
        (_, Some("28" | "40")) => FailureKind::Later,
        (_, Some("01" | "0A" | "21" | "22" | "23" | "42" | "44" | "45")) => FailureKind::Never,
        // Without a class of their own. A table that a statement reads and writes, or cannot write; what cannot be
        // prepared; types and collations that do not go together; a text that is none; a column without a default; a value
        // of another type or for no partition; an error that a trigger raised; an entry that is too long for an index; a
        // generated column; a check; a document.
        (
            1093 | 1111 | 1210 | 1221 | 1267 | 1270 | 1271 | 1273 | 1288 | 1295 | 1300 | 1364 | 1366 | 1369
            | 1411 | 1442 | 1526 | 1643 | 1644 | 1709 | 1748 | 1906 | 1977 | 3105 | 3140 | 3819 | 4025 | 4078
            | 4079,
            _,
        ) => FailureKind::Never,
        _ => FailureKind::Later,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrong_with_a_write_is_permanent() {
        let later = [
            (1040, Some("08")),
            (1129, None),
            (1130, None),
            (1135, Some("HY")),
            (1205, Some("HY")),
            (1213, Some("40")),
            (1226, Some("42")),
            (1049, Some("42")),
            (1461, Some("42")),
            (1615, Some("HY")),
            (1637, Some("HY")),
            (1820, Some("HY")),
            (1862, Some("HY")),
        ];
        for (number, class) in later {
            assert_eq!(kind_of_number(number, class), FailureKind::Later, "{number}");
        }
        let never = [
            (1062, Some("23")),
            (1064, Some("42")),
            (1136, Some("21")),
            (1146, Some("42")),
            (1264, Some("22")),
            (1265, Some("01")),
            (1364, Some("HY")),
            (1644, Some("45")),
            (4025, Some("23")),
        ];
        for (number, class) in never {
            assert_eq!(kind_of_number(number, class), FailureKind::Never, "{number}");
        }
    }
}
