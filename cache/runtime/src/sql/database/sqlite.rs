//! SQLite, in this process. One writer at a time; readers see committed data.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{Row as _, TypeInfo as _, ValueRef as _};

use super::connect::{refused, unreachable};
use super::driver::driver;
use super::{Database, Dialect, Failure, FailureKind, Later, Table, Transaction, is_in_memory};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

driver!(Sqlite, SqliteTransaction, sqlx::Sqlite, Dialect::Sqlite, "BEGIN IMMEDIATE", decoded, kind_of);

/// Connections that read while one writes, at most.
const CONNECTIONS: u32 = 4;
/// How long to wait for another writer, whose disk may be slow.
const BUSY: Duration = Duration::from_secs(30);
/// Symbolic links that are followed to a file, at most.
const MAX_LINKS: usize = 40;

impl Sqlite {
    /// Opens the database at `url`, or creates one.
    pub(crate) async fn open(url: &str, connections: u32) -> Result<Self> {
        let options: SqliteConnectOptions = url.parse().map_err(refused)?;
        // A database in memory belongs to its connection.
        let is_in_memory = is_in_memory(url);
        let connections = if is_in_memory { 1 } else { connections.min(CONNECTIONS) };
        let options = options
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY);
        // A caller that stops waiting while its connection is tested loses it, and a database in memory with it.
        let pool = SqlitePoolOptions::new()
            .max_connections(connections)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false);
        Ok(Self { pool: pool.connect_with(options).await.map_err(unreachable(url))?, is_in_memory })
    }
}

/// The file of the database at `url`, by the one name that it has however the URL says it: what stands beside it is found by all that
/// open it. `None` if it is in memory.
pub(crate) fn file_of(url: &str) -> Result<Option<PathBuf>> {
    if is_in_memory(url) {
        return Ok(None);
    }
    let options: SqliteConnectOptions = url.parse().map_err(refused)?;
    let path = options.get_filename();
    if path.to_string_lossy().starts_with("file:") {
        return Err(Error::invalid_input(
            "give the path of the file itself after `sqlite:`, without `file:`",
        ));
    }
    Ok(Some(followed(path.to_path_buf())))
}

/// The path without symbolic links; the file need not be there yet.
fn followed(mut path: PathBuf) -> PathBuf {
    for _ in 0..MAX_LINKS {
        if let Ok(found) = path.canonicalize() {
            return found;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match path.read_link() {
            Ok(target) => path = folder.join(target),
            Err(_) => {
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
                return path.file_name().map_or(folder.clone(), |name| folder.join(name));
            }
        }
    }
    path
}

/// Types are of values in SQLite, not of columns.
fn decoded(row: &SqliteRow, place: usize) -> Result<SqlValue, sqlx::Error> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(SqlValue::Null);
    }
    let type_info = value.type_info().into_owned();
    Ok(match type_info.name() {
        "REAL" => SqlValue::Float(row.try_get_unchecked(place)?),
        "TEXT" => SqlValue::Text(row.try_get_unchecked(place)?),
        "BLOB" => SqlValue::Blob(row.try_get_unchecked(place)?),
        _ => SqlValue::Integer(row.try_get_unchecked(place)?),
    })
}

/// By the primary code: busy, locked, out of memory, read-only, interrupted, full, cannot open, protocol; after a
/// disk error, or an error that the file is not a database, the outcome is unknown.
fn kind_of(error: &dyn sqlx::error::DatabaseError) -> FailureKind {
    let code = error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(0);
    match code & 0xFF {
        5..=9 | 13..=15 => FailureKind::Later,
        10 | 11 | 26 => FailureKind::Unknown,
        _ => FailureKind::Never,
    }
}
