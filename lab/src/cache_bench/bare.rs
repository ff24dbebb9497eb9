//! The store without a cache: the statements that an application would run, prepared, from a pool of connections.

use std::str::FromStr as _;

use lacuna_cache_protocol::{Error, Result};
use sqlx::mysql::MySqlPoolOptions;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, MySqlPool, PgPool, Row as _, SqlitePool};

use crate::cache_bench::records::{NAMES, fields, table_name};

/// Rows of one statement while loading: a megabyte.
const BATCH: u64 = 1_000;

/// Connections to a database.
#[derive(Debug, Clone)]
pub(crate) enum Bare {
    Sqlite(SqlitePool),
    MariaDb(MySqlPool),
    Postgres(PgPool),
}

/// Does the same with each kind of pool, whose types differ.
macro_rules! each {
    ($bare:expr, $pool:ident => $what:expr) => {
        match $bare {
            Bare::Sqlite($pool) => $what,
            Bare::MariaDb($pool) => $what,
            Bare::Postgres($pool) => $what,
        }
    };
}

impl Bare {
    /// The database at `url`, with a pool of connections. The pool does not test a connection before each statement,
    /// which would be one more round trip.
    pub(crate) async fn open(url: &str, connections: u32) -> Result<Self> {
        let opened = if url.starts_with("sqlite:") {
            // As durable as the file that the cache opens.
            let options = SqliteConnectOptions::from_str(url).map_err(|error| failed(&error))?;
            let options = options
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .busy_timeout(std::time::Duration::from_secs(20));
            SqlitePoolOptions::new()
                .test_before_acquire(false)
                .max_connections(connections)
                .connect_with(options)
                .await
                .map(Self::Sqlite)
        } else if url.starts_with("mysql:") {
            MySqlPoolOptions::new()
                .test_before_acquire(false)
                .max_connections(connections)
                .connect(url)
                .await
                .map(Self::MariaDb)
        } else {
            PgPoolOptions::new()
                .test_before_acquire(false)
                .max_connections(connections)
                .connect(url)
                .await
                .map(Self::Postgres)
        };
        opened.map_err(|error| failed(&error))
    }

    /// Runs statements without parameters.
    pub(crate) async fn run(&self, sql: &str) -> Result<()> {
        let sql = AssertSqlSafe(sql.to_owned());
        each!(self, pool => sqlx::raw_sql(sql).execute(pool).await.map(drop)).map_err(|error| failed(&error))
    }

    /// Drops what a former run has left, then makes and fills a table.
    pub(crate) async fn load(&self, table: u64, first: u64, count: u64, columns: usize) -> Result<()> {
        let name = table_name(table);
        let definitions: Vec<String> =
            NAMES[..columns].iter().map(|column| format!("{column} VARCHAR(100) NOT NULL")).collect();
        self.run(&format!("DROP TABLE IF EXISTS {name}")).await?;
        self.run(&format!("CREATE TABLE {name} (id BIGINT PRIMARY KEY, {})", definitions.join(", "))).await?;
        let mut from = first;
        while from < first + count {
            let to = (from + BATCH).min(first + count);
            let row = |record: u64| format!("({record}, '{}')", fields(record, 1, columns).join("', '"));
            let rows: Vec<String> = (from..to).map(row).collect();
            self.run(&format!("INSERT INTO {name} VALUES {}", rows.join(", "))).await?;
            from = to;
        }
        Ok(())
    }

    /// Has PostgreSQL take back what updates have left of a table.
    pub(crate) async fn clean_up(&self, table: u64) -> Result<()> {
        match self {
            Self::Postgres(_) => self.run(&format!("VACUUM {}", table_name(table))).await,
            Self::Sqlite(_) | Self::MariaDb(_) => Ok(()),
        }
    }

    /// The parameter with this number.
    fn parameter(&self, number: usize) -> String {
        match self {
            Self::Postgres(_) => format!("${number}"),
            Self::Sqlite(_) | Self::MariaDb(_) => "?".to_owned(),
        }
    }

    /// The first `columns` columns of the records `first..=last`, in order.
    pub(crate) async fn scan(
        &self,
        table: u64,
        first: u64,
        last: u64,
        columns: usize,
    ) -> Result<Vec<Vec<String>>> {
        let sql = format!(
            "SELECT {} FROM {} WHERE id >= {} AND id <= {} ORDER BY id",
            NAMES[..columns].join(", "),
            table_name(table),
            self.parameter(1),
            self.parameter(2)
        );
        let (first, last) = (first.cast_signed(), last.cast_signed());
        each!(self, pool => {
            let query = sqlx::query(AssertSqlSafe(sql)).bind(first).bind(last);
            let found = query.fetch_all(pool).await;
            found.and_then(|rows| rows.iter().map(|row| (0..columns).map(|place| row.try_get(place)).collect()).collect())
        })
        .map_err(|error| failed(&error))
    }

    /// Gives the first columns of a record these values.
    pub(crate) async fn update(&self, table: u64, record: u64, fields: &[String]) -> Result<()> {
        let set: Vec<String> = NAMES
            .iter()
            .zip(1..)
            .take(fields.len())
            .map(|(name, at)| format!("{name} = {}", self.parameter(at)))
            .collect();
        let sql = format!(
            "UPDATE {} SET {} WHERE id = {}",
            table_name(table),
            set.join(", "),
            self.parameter(fields.len() + 1)
        );
        each!(self, pool => {
            let query = fields.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, field| query.bind(field.clone()));
            query.bind(record.cast_signed()).execute(pool).await.map(drop)
        })
        .map_err(|error| failed(&error))
    }

    /// Closes all connections.
    pub(crate) async fn close(&self) {
        each!(self, pool => pool.close().await);
    }
}

fn failed(error: &sqlx::Error) -> Error {
    Error::unavailable(error.to_string()).with_context("asking the store")
}
