//! What keeps a program from reaching its database.

use sqlx::Connection;

use super::World;
use crate::sql::world::Dialect;

/// A transaction that keeps everybody else from writing to a table; to any, in a file.
pub(super) enum Lock {
    Sqlite(sqlx::SqliteConnection),
    Postgres(sqlx::PgConnection),
}

impl Lock {
    pub(super) async fn take(world: &World, table: &str) -> Self {
        if world.dialect == Dialect::Sqlite {
            let mut connection = sqlx::SqliteConnection::connect(&world.url).await.unwrap();
            sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
            return Self::Sqlite(connection);
        }
        let mut connection = sqlx::PgConnection::connect(&world.url).await.unwrap();
        let sql = format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        Self::Postgres(connection)
    }

    /// Rows that the database has with this note.
    pub(super) async fn count(&mut self, note: i64) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM people WHERE note = {note}");
        match self {
            Self::Sqlite(open) => sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(open).await.unwrap(),
            Self::Postgres(open) => {
                sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(open).await.unwrap()
            }
        }
    }

    pub(super) async fn release(self) {
        match self {
            Self::Sqlite(open) => open.close().await.unwrap(),
            Self::Postgres(open) => open.close().await.unwrap(),
        }
    }
}
