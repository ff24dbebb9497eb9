//! MariaDB. The fence is read `LOCK IN SHARE MODE`, which sees the newest row whatever the transaction saw before.

use lacuna_core::{Error, ErrorKind, Result};
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions, MySqlRow};
use sqlx::{Row as _, TypeInfo as _, ValueRef as _};

use super::connect::{check, refused, trusting, unreachable};
use super::driver::driver;
use super::{ColumnKind, Database, Dialect, Failure, FailureKind, Later, Table, Transaction};
use crate::sql_value::SqlValue;
use crate::statement::Statement;

driver!(MariaDb, MariaDbTransaction, sqlx::MySql, Dialect::MariaDb, "START TRANSACTION", decoded, kind_of);

/// Connections of a process.
const CONNECTIONS: u32 = 16;

impl MariaDb {
    /// Connects to the database at `url`.
    pub(crate) async fn open(url: &str) -> Result<Self> {
        let url = url.replacen("mariadb:", "mysql:", 1);
        let options: MySqlConnectOptions = url.parse().map_err(refused)?;
        let place = format!("{}:{}", options.get_host(), options.get_port());
        check(&options, &place).await?;
        // Or a value that a column cannot hold would become another one, in a place that nobody was told of.
        let pool = MySqlPoolOptions::new().max_connections(CONNECTIONS).after_connect(|connection, _| {
            Box::pin(async move {
                let strict = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')";
                sqlx::raw_sql(strict).execute(connection).await.map(|_| ())
            })
        });
        Ok(Self { pool: trusting(pool).connect_with(options).await.map_err(unreachable(&place))? })
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
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "INT UNSIGNED"
        | "BIGINT UNSIGNED" => {
            let value = i64::try_from(row.try_get::<u64, _>(place)?);
            SqlValue::Integer(value.map_err(|error| sqlx::Error::Decode(Box::new(error)))?)
        }
        // What is no text is an error here, which says so.
        _ => SqlValue::Text(row.try_get(place)?),
    })
}

/// By the class of the code where it has one. Those without: no memory, disk or connections, locks that cannot be had, a server
/// that may only be read pass; a commit that failed, or a connection that was killed, may have been carried out.
fn kind_of(error: &dyn sqlx::error::DatabaseError) -> FailureKind {
    let number = error
        .try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()
        .map_or(0, sqlx::mysql::MySqlDatabaseError::number);
    match number {
        1180 | 1317 | 1927 => return FailureKind::Unknown,
        1020 | 1021 | 1037 | 1040 | 1041 | 1114 | 1203 | 1205 | 1206 | 1290 | 1836 => {
            return FailureKind::Later;
        }
        _ => {}
    }
    match error.code().as_deref().and_then(|code| code.get(..2)) {
        Some("40") => FailureKind::Later,
        Some("08" | "70") => FailureKind::Unknown,
        _ => FailureKind::Never,
    }
}
