//! PostgreSQL. Writers of different rows run concurrently; each locks a slot of the fence, so that a new owner waits for
//! them.

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{Row as _, TypeInfo as _, ValueRef as _};

use super::connect::{check, refused, trusting, unreachable};
use super::driver::driver;
use super::postgres_binary::{date, moment, numeric, uuid};
use super::{Database, Dialect, Failure, FailureKind, Later, Table, Transaction};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

driver!(Postgres, PostgresTransaction, sqlx::Postgres, Dialect::Postgres, "BEGIN", decoded, kind_of, text);

/// Settings of a single connection, as a slot ends with it. A host that is gone is detected within a minute; a
/// statement that is no longer waited for here ends at the server, too.
const ALONE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("statement_timeout", "30s"),
];

impl Postgres {
    /// Connects to the database at `url`.
    pub(crate) async fn open(url: &str, connections: u32) -> Result<Self> {
        let options: PgConnectOptions = url.parse().map_err(refused)?;
        let options = if connections == 1 { options.options(ALONE) } else { options };
        let place = match options.get_socket() {
            Some(folder) => format!("the socket of port {} in {}", options.get_port(), folder.display()),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        check(&options, &place).await?;
        let pool = trusting(PgPoolOptions::new(), connections).connect_with(options).await;
        Ok(Self { pool: pool.map_err(unreachable(&place))?, is_in_memory: false })
    }
}

fn decoded(row: &PgRow, place: usize) -> Result<SqlValue, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(SqlValue::Null);
    }
    let type_info = value.type_info().into_owned();
    Ok(match type_info.name() {
        "INT2" => SqlValue::Integer(row.try_get::<i16, _>(place)?.into()),
        "INT4" => SqlValue::Integer(row.try_get::<i32, _>(place)?.into()),
        "INT8" => SqlValue::Integer(row.try_get(place)?),
        "BOOL" => SqlValue::Bool(row.try_get(place)?),
        "FLOAT4" => SqlValue::Float(row.try_get::<f32, _>(place)?.into()),
        "FLOAT8" => SqlValue::Float(row.try_get(place)?),
        "BYTEA" => SqlValue::Blob(row.try_get(place)?),
        // Comparisons ignore its padding.
        "CHAR" => SqlValue::Text(row.try_get::<String, _>(place)?.trim_end_matches(' ').to_owned()),
        "NUMERIC" => numeric(value.as_bytes().map_err(sqlx::Error::Decode)?),
        "DATE" => date(value.as_bytes().map_err(sqlx::Error::Decode)?),
        "TIMESTAMP" | "TIMESTAMPTZ" => moment(value.as_bytes().map_err(sqlx::Error::Decode)?),
        "UUID" => uuid(value.as_bytes().map_err(sqlx::Error::Decode)?),
        // A value that is not text gives an error that says so.
        _ => SqlValue::Text(row.try_get(place)?),
    })
}

/// A value that came as text, whatever its type is.
fn text(row: &PgRow, place: usize) -> Result<Option<String>, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(None);
    }
    let bytes = value.as_bytes().map_err(sqlx::Error::Decode)?;
    Ok(Some(String::from_utf8_lossy(bytes).into_owned()))
}

/// By the class of the error code: an error in the statement or its values is permanent. A server that crashes, or
/// reports a crash, does not know whether it committed; nor does a server that ends a connection, which may be on
/// the way back from its commit. All other errors (deadlocks, locks, memory, disk, a standby) are temporary.
fn kind_of(error: &dyn sqlx::error::DatabaseError) -> FailureKind {
    let code = error.code().unwrap_or_default();
    match code.get(..2).unwrap_or("") {
        _ if matches!(&*code, "57P01" | "57P02" | "40003") => FailureKind::Unknown,
        // A transaction that took too long, or is read-only here, may succeed later; so may one whose prepared statement a
        // pooler has lost or given to another.
        _ if matches!(&*code, "25006" | "25P03" | "25P04" | "26000" | "42P05") => FailureKind::Later,
        // A right, or the replica identity without which a publication lets no row be changed.
        _ if matches!(&*code, "42501" | "55000") => FailureKind::Denied,
        "0A" | "20" | "21" | "22" | "23" | "25" | "26" | "27" | "2B" | "38" | "39" | "42" | "44" | "54"
        | "P0" => FailureKind::Never,
        "08" | "XX" => FailureKind::Unknown,
        _ => FailureKind::Later,
    }
}
