//! Plain SQL, past the cache, as texts.

use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, ValueRef as _};

use crate::sql::world::AT_MOST;

/// Rows of texts, `None` for NULL.
pub(crate) type Texts = Vec<Vec<Option<String>>>;

/// A connection of another program.
pub(crate) enum Plain {
    Postgres(sqlx::PgConnection),
    MariaDb(sqlx::MySqlConnection),
}

impl Plain {
    pub(crate) async fn open(url: &str) -> Self {
        let start = Instant::now();
        loop {
            match Self::try_open(url).await {
                Ok(open) => return open,
                // A server that has just started may not answer yet.
                Err(why) => assert!(start.elapsed() < AT_MOST, "{why}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn try_open(url: &str) -> Result<Self, sqlx::Error> {
        if url.starts_with("postgres") {
            return Ok(Self::Postgres(sqlx::PgConnection::connect(url).await?));
        }
        let options: sqlx::mysql::MySqlConnectOptions = url.parse()?;
        Ok(Self::MariaDb(options.connect().await?))
    }

    /// Runs statements, one after the other.
    pub(crate) async fn run(&mut self, sql: &str) {
        let done = match self {
            Self::Postgres(open) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(open).await.map(drop),
            Self::MariaDb(open) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(open).await.map(drop),
        };
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Rows of a query, whose columns must be texts.
    pub(crate) async fn rows(&mut self, sql: &str) -> Texts {
        self.try_rows(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The same, or why the database refuses the query.
    pub(crate) async fn try_rows(&mut self, sql: &str) -> Result<Texts, sqlx::Error> {
        Ok(match self {
            Self::Postgres(open) => {
                let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(open).await?;
                let texts = |row| (0..sqlx::Row::len(row)).map(|place| postgres_text(row, place)).collect();
                rows.iter().map(texts).collect()
            }
            Self::MariaDb(open) => {
                let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(open).await?;
                let texts = |row| (0..sqlx::Row::len(row)).map(|place| mariadb_text(row, place)).collect();
                rows.iter().map(texts).collect()
            }
        })
    }

    /// The only value of a query, `None` for NULL.
    pub(crate) async fn value(&mut self, sql: &str) -> Option<String> {
        let mut rows = self.rows(sql).await;
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows.remove(0).remove(0)
    }
}

fn postgres_text(row: &sqlx::postgres::PgRow, place: usize) -> Option<String> {
    let value = row.try_get_raw(place).unwrap();
    if value.is_null() { None } else { Some(value.as_str().unwrap().to_owned()) }
}

fn mariadb_text(row: &sqlx::mysql::MySqlRow, place: usize) -> Option<String> {
    let bytes: Option<Vec<u8>> = row.try_get_unchecked(place).unwrap();
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
