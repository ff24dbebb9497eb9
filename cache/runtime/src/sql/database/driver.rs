//! The part of a driver that is the same for every database of `sqlx`, whose types differ.

use super::Dialect;
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

/// Implements [`super::Database`] and [`super::Transaction`] for one database. `$decode` reads a value of a row,
/// `$kind` classifies an error of the database, and `$text` reads a value that came as text, where a log is read.
macro_rules! driver {
    ($name:ident, $open:ident, $database:ty, $dialect:expr, $begin:literal, $decode:path, $kind:path $(, $text:path)?) => {
        /// A pool of connections.
        #[derive(Debug)]
        pub(crate) struct $name {
            pool: sqlx::Pool<$database>,
        }

        struct $open {
            connection: sqlx::pool::PoolConnection<$database>,
            is_over: bool,
        }

        impl Drop for $open {
            fn drop(&mut self) {
                if !self.is_over {
                    // The database rolls back when the connection is closed.
                    self.connection.close_on_drop();
                }
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
            Failure { error: Error::new(class, text).with_source(error), kind }
        }

        impl Database for $name {
            fn dialect(&self) -> Dialect {
                $dialect
            }

            fn query<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>> {
                Box::pin(
                    async move { table(&prepared(statement).fetch_all(&self.pool).await.map_err(failure)?) },
                )
            }

            fn execute<'a>(&'a self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>> {
                Box::pin(async move {
                    let done = prepared(statement).execute(&self.pool).await.map_err(failure)?;
                    Ok(done.rows_affected())
                })
            }

            fn run<'a>(&'a self, sql: &'a str) -> Later<'a, Result<(), Failure>> {
                Box::pin(async move {
                    let run = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&self.pool).await;
                    run.map(|_| ()).map_err(failure)
                })
            }

            $(
                fn each_row<'a>(&'a self, sql: &'a str, hear: super::Hear<'a>) -> Later<'a, Result<()>> {
                    Box::pin(async move {
                        use futures::StreamExt as _;
                        use sqlx::Row as _;
                        let connection =
                            self.pool.acquire().await.map_err(|error| failure(error).error)?;
                        // Unless all rows were read the connection is closed, because its statement must not
                        // outlive it.
                        let mut alone = $open { connection, is_over: false };
                        let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
                        let mut rows = statement.fetch(&mut *alone.connection);
                        while let Some(row) = rows.next().await {
                            let row = row.map_err(|error| failure(error).error)?;
                            let texts = (0..row.len())
                                .map(|place| $text(&row, place))
                                .collect::<Result<Vec<Option<String>>, sqlx::Error>>();
                            hear(&texts.map_err(|error| failure(error).error)?)?;
                        }
                        drop(rows);
                        alone.is_over = true;
                        Ok(())
                    })
                }
            )?

            fn begin(&self) -> Later<'_, Result<Box<dyn Transaction>, Failure>> {
                Box::pin(async move {
                    let connection = self.pool.acquire().await.map_err(failure)?;
                    let mut open = $open { connection, is_over: false };
                    sqlx::raw_sql($begin).execute(&mut *open.connection).await.map_err(failure)?;
                    let open: Box<dyn Transaction> = Box::new(open);
                    Ok(open)
                })
            }

            fn close(&self) -> Later<'_, ()> {
                Box::pin(self.pool.close())
            }
        }

        impl Transaction for $open {
            fn query<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<Table, Failure>> {
                Box::pin(async move {
                    table(&prepared(statement).fetch_all(&mut *self.connection).await.map_err(failure)?)
                })
            }

            fn execute<'a>(&'a mut self, statement: &'a Statement) -> Later<'a, Result<u64, Failure>> {
                Box::pin(async move {
                    let done = prepared(statement).execute(&mut *self.connection).await.map_err(failure)?;
                    Ok(done.rows_affected())
                })
            }

            fn run<'a>(&'a mut self, sql: &'a str) -> Later<'a, Result<Vec<u64>, (usize, Failure)>> {
                Box::pin(async move {
                    use futures::StreamExt as _;
                    let statements = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
                    let mut done = statements.execute_many(&mut *self.connection);
                    let mut changed = Vec::new();
                    while let Some(next) = done.next().await {
                        let next = next.map_err(|error| (changed.len(), failure(error)))?;
                        changed.push(next.rows_affected());
                    }
                    Ok(changed)
                })
            }

            fn commit(mut self: Box<Self>) -> Later<'static, Result<(), Failure>> {
                Box::pin(async move {
                    let Err(error) = sqlx::raw_sql("COMMIT").execute(&mut *self.connection).await else {
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
                    self.is_over = sqlx::raw_sql("ROLLBACK").execute(&mut *self.connection).await.is_ok();
                })
            }
        }
    };
}

pub(super) use driver;
