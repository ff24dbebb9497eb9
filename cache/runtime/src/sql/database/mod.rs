//! The differences between databases: how to connect, how to write, and the meaning of their errors.

mod borrowed;
mod columns;
mod computed;
mod connect;
mod constraints;
mod describe;
mod dialect;
mod driver;
mod inlined;
mod kind;
mod limited;
mod limits;
#[cfg(feature = "mariadb")]
mod mariadb;
mod offer;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_binary;
mod rights;
#[cfg(feature = "sqlite")]
mod sqlite;
mod table_name;
#[cfg(all(test, feature = "sqlite", feature = "postgres", feature = "mariadb"))]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod vanished_tests;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use lacuna_cache_protocol::{Error, Result};

pub(crate) use constraints::Constraints;
pub(crate) use describe::{Described, canonical, describe};
pub(crate) use dialect::Dialect;
pub(crate) use inlined::inlined;
pub(crate) use kind::{Column, ColumnKind, TextOrder};
pub(crate) use limited::in_time;
pub(crate) use limits::{compares, takes};
pub(crate) use rights::rights;
pub(crate) use table_name::TableName;

use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

/// The word that begins every mark.
pub(crate) const MARK: &str = "lacuna";
/// Connections of a process, unless it needs exactly one.
const CONNECTIONS: u32 = 16;

/// Connects to the database at `url`.
pub(crate) async fn open(url: &str) -> Result<Arc<dyn Database>> {
    connect(url, CONNECTIONS).await
}

/// The same with a single connection, which lives as long as it can.
#[cfg_attr(
    not(any(feature = "postgres", feature = "mariadb")),
    allow(dead_code, reason = "no driver is built whose log is followed")
)]
pub(crate) async fn open_alone(url: &str) -> Result<Arc<dyn Database>> {
    connect(url, 1).await
}

async fn connect(url: &str, connections: u32) -> Result<Arc<dyn Database>> {
    match url.split(':').next() {
        #[cfg(feature = "sqlite")]
        Some("sqlite") => Ok(Arc::new(sqlite::Sqlite::open(url, connections).await?)),
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => {
            Ok(limited::in_the_end(Arc::new(postgres::Postgres::open(url, connections).await?), connections))
        }
        #[cfg(feature = "mariadb")]
        Some("mysql" | "mariadb") => {
            Ok(limited::in_the_end(Arc::new(mariadb::MariaDb::open(url, connections).await?), connections))
        }
        other => {
            let offered = "sqlite:, with features postgres: and mysql:";
            Err(Error::invalid_input(format!(
                "{} is not a database URL that this build knows: {offered}",
                other.unwrap_or(url)
            )))
        }
    }
}

/// The file of the database at `url`, if it is one of SQLite.
pub(crate) fn file_of(url: &str) -> Result<Option<std::path::PathBuf>> {
    match url.split(':').next() {
        #[cfg(feature = "sqlite")]
        Some("sqlite") => sqlite::file_of(url),
        _ => Ok(None),
    }
}

/// Whether the database is in memory, so that nothing of it outlives the process.
pub(crate) fn is_in_memory(url: &str) -> bool {
    url.contains(":memory:") || url.contains("mode=memory")
}

pub(crate) type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A receiver of rows as they come, as texts.
#[cfg(any(feature = "postgres", feature = "mariadb"))]
pub(crate) type Hear<'a> = &'a mut (dyn FnMut(&[Option<String>]) -> Result<()> + Send + 'a);

/// The mark that transactions of a cache leave in the log, by which watchdogs recognize them: the name of the
/// table they were sent to, in characters that end neither a text nor a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// For the table `people` it is `70656f706c65`.
    pub(crate) fn of(table: &str) -> Self {
        use std::fmt::Write as _;
        Self(table.bytes().fold(String::with_capacity(2 * table.len()), |mut signs, byte| {
            let _ = write!(signs, "{byte:02x}");
            signs
        }))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Rows as the database returns them.
pub(crate) type Table = Vec<Vec<SqlValue>>;

/// Why a statement failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) kind: FailureKind,
}

/// The meaning of a failure for its write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// It was not executed; the same may succeed later: a deadlock, a busy or full database, no connection.
    Later,
    /// It was not executed and never will be: a constraint, a syntax error.
    Never,
    /// It was not executed, as a right is missing, or a publication forbids it: final for a write that is asked for, and not for one
    /// that was acknowledged, since the right may be given back.
    Denied,
    /// The connection broke, or the database cannot say: a single statement, or a commit, may have been executed.
    Unknown,
}

/// A pool of connections.
pub(crate) trait Database: Debug + Send + Sync {
    fn dialect(&self) -> Dialect;

    /// One statement, in a transaction of its own.
    fn query<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>>;

    /// One statement that writes, in a transaction of its own: returns how many rows it changed.
    fn execute<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>>;

    /// Several statements in sequence, without parameters.
    fn run<'a>(&'a self, sql: &'a str) -> Later<'a, Result<(), Failure>>;

    /// One statement without parameters, whose rows are passed on one by one and not kept. Invalid UTF-8 in them
    /// is replaced. If not all of them are read, the connection is closed.
    #[cfg(any(feature = "postgres", feature = "mariadb"))]
    fn each_row<'a>(&'a self, _sql: &'a str, _hear: Hear<'a>) -> Later<'a, Result<()>> {
        Box::pin(async {
            Err::<(), Error>(Error::unsupported("this database has no log of changes to follow"))
        })
    }

    /// A transaction that will write. Dropped without a commit, it changes nothing.
    fn begin(&self) -> Later<'_, Result<Box<dyn Transaction>, Failure>>;

    /// Closes all connections.
    fn close(&self) -> Later<'_, ()>;
}

/// A transaction in progress.
pub(crate) trait Transaction: Send {
    fn query<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>>;

    /// Returns how many rows it changed.
    fn execute<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>>;

    /// Several statements in sequence, without parameters: returns how many rows each changed, or the index of the
    /// one that failed.
    fn run<'a>(&'a mut self, sql: &'a str) -> Later<'a, Result<Vec<u64>, (usize, Failure)>>;

    /// After an error of the kind [`FailureKind::Unknown`] the outcome is unknown; after others it was not
    /// committed.
    fn commit(self: Box<Self>) -> Later<'static, Result<(), Failure>>;

    /// Changes nothing.
    fn rollback(self: Box<Self>) -> Later<'static, ()>;
}
