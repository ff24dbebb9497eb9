//! MariaDB. The fence is read `LOCK IN SHARE MODE`, which sees the newest row whatever the transaction saw before.

use lacuna_core::{Error, ErrorKind, Result};
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions, MySqlRow};
use sqlx::{Row as _, TypeInfo as _, ValueRef as _};

use super::driver::driver;
use super::{ColumnKind, Database, Dialect, Failure, FailureKind, Later, Table, Transaction};
use crate::sql_value::SqlValue;
use crate::statement::Statement;

driver!(
    MariaDb,
    MariaDbTransaction,
    sqlx::MySql,
    Dialect::MariaDb,
    "START TRANSACTION",
    decoded,
    is_for_later
);

/// Connections of a process.
const CONNECTIONS: u32 = 16;

impl MariaDb {
    /// Connects to the database at `url`.
    pub(crate) async fn open(url: &str) -> Result<Self> {
        let refused =
            |error: sqlx::Error| Error::invalid_input(error.to_string()).with_context("reading the URL");
        let url = url.replacen("mariadb:", "mysql:", 1);
        let options: MySqlConnectOptions = url.parse().map_err(refused)?;
        let pool = MySqlPoolOptions::new().max_connections(CONNECTIONS);
        let unreachable =
            |error: sqlx::Error| Error::unavailable(error.to_string()).with_context("connecting");
        Ok(Self { pool: pool.connect_with(options).await.map_err(unreachable)? })
    }
}

fn decoded(row: &MySqlRow, place: usize) -> Result<SqlValue, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(SqlValue::Null);
    }
    let type_info = value.type_info().into_owned();
    Ok(match type_info.name() {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
            SqlValue::Integer(row.try_get(place)?)
        }
        "FLOAT" => SqlValue::Float(row.try_get::<f32, _>(place)?.into()),
        "DOUBLE" => SqlValue::Float(row.try_get(place)?),
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" => {
            SqlValue::Blob(row.try_get(place)?)
        }
        // What is no text is an error here, which says so.
        _ => SqlValue::Text(row.try_get(place)?),
    })
}

/// Deadlocks and serialization failures.
fn is_for_later(code: &str) -> bool {
    code == "40001"
}
