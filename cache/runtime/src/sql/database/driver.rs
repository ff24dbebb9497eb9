//! The part of a driver that is the same for every database of `sqlx`, whose types differ.

use lacuna_cache_protocol::Error;

use super::{Dialect, Failure, FailureKind};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

/// The text under which a statement is prepared. The driver of PostgreSQL remembers prepared statements by their texts
/// alone, with the types that the first values had: the bytes of a float would be read as those of the whole number that
/// was there first. So the types are in the text.
pub(super) fn prepared_text(dialect: Dialect, statement: &Statement) -> String {
    if dialect != Dialect::Postgres || statement.params.is_empty() {
        return statement.sql.clone();
    }
    let types = statement.params.iter().map(|value| match value {
        SqlValue::Null | SqlValue::Integer(_) => 'i',
        SqlValue::Float(_) => 'f',
        SqlValue::Blob(_) => 'b',
        SqlValue::Bool(_) => 'o',
        SqlValue::Text(_)
        | SqlValue::Decimal { .. }
        | SqlValue::Date(_)
        | SqlValue::Timestamp(_)
        | SqlValue::Unsigned(_)
        | SqlValue::Uuid(_)
        | SqlValue::Json(_) => 't',
    });
    format!("{} /* {} */", statement.sql, types.collect::<String>())
}

/// A transaction one of whose statements was not waited for is not committed: whether that one was executed is unknown.
pub(super) fn dropped_statement() -> Failure {
    let why =
        "a statement of the transaction failed on the way or was not waited for: repeat the transaction";
    Failure { error: Error::unavailable(why), kind: FailureKind::Later }
}

/// The error of a right that is missing names the table; if that is one of the cache, the rights to it have a page.
pub(super) fn with_rights(error: Error, kind: FailureKind) -> Error {
    if kind == FailureKind::Denied && error.to_string().contains("lacuna_") {
        return error.with_context(
            "this user lacks a right to a table of the cache (\"Rights to the cache's tables\" in \
             docs/guide/operating-a-range-cache.md)",
        );
    }
    error
}

/// Implements [`super::Database`] and [`super::Transaction`] for one database. `$decode` reads a value of a row,
/// `$kind` classifies an error of the database, and `$text` reads a value that came as text, where a log is read.
macro_rules! driver {
    ($name:ident, $open:ident, $database:ty, $dialect:expr, $begin:literal, $decode:path, $kind:path $(, $text:path)?) => {
        /// A pool of connections.
        #[derive(Debug)]
        pub(crate) struct $name {
            pool: sqlx::Pool<$database>,
            /// Whether the database ends with its one connection.
            is_in_memory: bool,
        }

        struct $open {
            connection: super::borrowed::Borrowed<$database>,
            is_over: bool,
        }

        impl Drop for $open {
            fn drop(&mut self) {
                if !self.is_over {
                    // The database rolls back when the connection is closed.
                    self.connection.close();
                }
            }
        }

        impl $name {
            async fn borrowed(&self) -> Result<super::borrowed::Borrowed<$database>, Failure> {
                let is_remote = $dialect.is_remote();
                super::borrowed::Borrowed::from(&self.pool, is_remote).await.map_err(failure)
            }
        }

        type Arguments = <$database as sqlx::Database>::Arguments;

        fn prepared(statement: &Statement) -> sqlx::query::Query<'_, $database, Arguments> {
            let query = sqlx::query(sqlx::AssertSqlSafe(super::driver::prepared_text($dialect, statement)));
            statement.params.iter().fold(query, |query, value| match value {
                SqlValue::Null => query.bind(None::<i64>),
                SqlValue::Integer(value) => query.bind(*value),
                SqlValue::Float(value) => query.bind(*value),
                SqlValue::Text(value) => query.bind(value.clone()),
                SqlValue::Blob(value) => query.bind(value.clone()),
                SqlValue::Bool(value) => query.bind(*value),
                SqlValue::Decimal { .. }
                | SqlValue::Date(_)
                | SqlValue::Timestamp(_)
                | SqlValue::Unsigned(_)
                | SqlValue::Uuid(_)
                | SqlValue::Json(_) => query.bind(value.as_text()),
            })
        }

        fn table(rows: &[<$database as sqlx::Database>::Row]) -> Result<Table, Failure> {
            use sqlx::Row as _;
            let row = |row: &<$database as sqlx::Database>::Row| {
                (0..row.len())
                    .map(|place| $decode(row, place))
                    .collect::<Result<Vec<SqlValue>, sqlx::Error>>()
            };
            rows.iter().map(row).collect::<Result<_, _>>().map_err(failure)
        }

        fn failure(error: sqlx::Error) -> Failure {
            let kind = match &error {
                sqlx::Error::Database(refused) => $kind(&**refused),
                sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => FailureKind::Later,
                sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::WorkerCrashed
                | sqlx::Error::Protocol(_) => FailureKind::Unknown,
                _ => FailureKind::Never,
            };
            let class =
                if kind == FailureKind::Never { ErrorKind::InvalidInput } else { ErrorKind::Unavailable };
            let text = error.to_string();
            let error = Error::new(class, text).with_source(error);
            Failure { error: super::driver::with_rights(error, kind), kind }
        }

        impl Database for $name {
            fn dialect(&self) -> Dialect {
                $dialect
            }

            fn query<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>> {
                Box::pin(async move {
                    let mut alone = self.borrowed().await?;
                    let found = prepared(statement).fetch_all(alone.begin().map_err(failure)?).await;
                    table(&alone.ended(found).map_err(failure)?)
                })
            }

            fn execute<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>> {
                Box::pin(async move {
                    let mut alone = self.borrowed().await?;
                    let done = prepared(statement).execute(alone.begin().map_err(failure)?).await;
                    Ok(alone.ended(done).map_err(failure)?.rows_affected())
                })
            }

            fn run<'a>(&'a self, sql: &'a str) -> Later<'a, Result<(), Failure>> {
                Box::pin(async move {
                    let mut alone = self.borrowed().await?;
                    let statements = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
                    // Settings that they change are not for other statements, also if their end is not waited for.
                    if !self.is_in_memory {
                        alone.close();
                    }
                    let run = statements.execute(alone.begin().map_err(failure)?).await;
                    alone.ended(run).map(|_| ()).map_err(failure)
                })
            }

            $(
                fn each_row<'a>(&'a self, sql: &'a str, hear: super::Hear<'a>) -> Later<'a, Result<()>> {
                    Box::pin(async move {
                        use futures::StreamExt as _;
                        use sqlx::Row as _;
                        // Unless all rows were read the connection is closed, because its statement must not
                        // outlive it.
                        let connection = self.borrowed().await.map_err(|failure| failure.error)?;
                        let mut alone = $open { connection, is_over: false };
                        let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
                        let connection = alone.connection.begin().map_err(|error| failure(error).error)?;
                        let mut rows = statement.fetch(connection);
                        while let Some(row) = rows.next().await {
                            let row = row.map_err(|error| failure(error).error)?;
                            let texts = (0..row.len())
                                .map(|place| $text(&row, place))
                                .collect::<Result<Vec<Option<String>>, sqlx::Error>>();
                            hear(&texts.map_err(|error| failure(error).error)?)?;
                        }
                        drop(rows);
                        alone.is_over = alone.connection.ended(Ok(())).is_ok();
                        Ok(())
                    })
                }
            )?

            fn begin(&self) -> Later<'_, Result<Box<dyn Transaction>, Failure>> {
                Box::pin(async move {
                    let mut open = $open { connection: self.borrowed().await?, is_over: false };
                    open.say($begin).await.map_err(failure)?;
                    let open: Box<dyn Transaction> = Box::new(open);
                    Ok(open)
                })
            }

            fn close(&self) -> Later<'_, ()> {
                Box::pin(self.pool.close())
            }
        }

        impl $open {
            /// One statement without parameters.
            async fn say(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
                let said = sqlx::raw_sql(sql).execute(self.connection.begin()?).await;
                self.connection.ended(said).map(drop)
            }
        }

        impl Transaction for $open {
            fn query<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>> {
                Box::pin(async move {
                    let found = prepared(statement).fetch_all(self.connection.begin().map_err(failure)?).await;
                    table(&self.connection.ended(found).map_err(failure)?)
                })
            }

            fn execute<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>> {
                Box::pin(async move {
                    let done = prepared(statement).execute(self.connection.begin().map_err(failure)?).await;
                    Ok(self.connection.ended(done).map_err(failure)?.rows_affected())
                })
            }

            fn run<'a>(&'a mut self, sql: &'a str) -> Later<'a, Result<Vec<u64>, (usize, Failure)>> {
                Box::pin(async move {
                    use futures::StreamExt as _;
                    let statements = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
                    let connection = self.connection.begin().map_err(|error| (0, failure(error)))?;
                    let (mut done, mut changed) = (statements.execute_many(connection), Vec::new());
                    let ended = loop {
                        match done.next().await {
                            Some(Ok(next)) => changed.push(next.rows_affected()),
                            Some(Err(error)) => break Err(error),
                            None => break Ok(()),
                        }
                    };
                    drop(done);
                    self.connection.ended(ended).map_err(|error| (changed.len(), failure(error)))?;
                    Ok(changed)
                })
            }

            fn commit(mut self: Box<Self>) -> Later<'static, Result<(), Failure>> {
                Box::pin(async move {
                    if self.connection.is_in_doubt() {
                        return Err(super::driver::dropped_statement());
                    }
                    let Err(error) = self.say("COMMIT").await else {
                        self.is_over = true;
                        return Ok(());
                    };
                    let failure = failure(error);
                    if failure.kind != FailureKind::Unknown {
                        self.rollback().await;
                    }
                    Err(failure)
                })
            }

            fn rollback(mut self: Box<Self>) -> Later<'static, ()> {
                Box::pin(async move {
                    self.is_over = !self.connection.is_in_doubt() && self.say("ROLLBACK").await.is_ok();
                })
            }
        }
    };
}

pub(super) use driver;
