//! A connection of a pool, for one round trip or one transaction.
//!
//! A round trip that is dropped, or that fails on the way, leaves its reply on the wire, or a part of it. The connection is
//! closed then, so that no later statement reads that reply. A pool asks each connection that it is given back whether it
//! is alive, and waits for the answer for ever: this wait has a limit here, so that the place in the pool is free again
//! when the host of the database has vanished.

use std::time::Duration;

use sqlx::Pool;
use sqlx::pool::PoolConnection;
use tokio::runtime::Handle;

/// How long a connection may take to be given back.
const GIVE_BACK: Duration = Duration::from_secs(5);

/// A connection that is given back when it is dropped, or closed if a round trip did not end.
pub(super) struct Borrowed<D: sqlx::Database> {
    /// `None` once it was given back.
    connection: Option<PoolConnection<D>>,
    is_in_doubt: bool,
    is_closing: bool,
    /// Whether it leads to another process. One to SQLite has no replies on the way, and a database in memory ends with it.
    is_remote: bool,
}

impl<D: sqlx::Database> Borrowed<D> {
    pub(super) async fn from(pool: &Pool<D>, is_remote: bool) -> Result<Self, sqlx::Error> {
        let connection = Some(pool.acquire().await?);
        Ok(Self { connection, is_in_doubt: false, is_closing: false, is_remote })
    }

    /// The connection, for a round trip whose result goes to [`Borrowed::ended`].
    pub(super) fn begin(&mut self) -> Result<&mut D::Connection, sqlx::Error> {
        self.is_in_doubt = true;
        self.connection.as_deref_mut().ok_or(sqlx::Error::PoolClosed)
    }

    /// Notes that a round trip has ended. After an error that is not the database's own the connection is not used again.
    pub(super) fn ended<T>(&mut self, done: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        self.is_in_doubt = !matches!(done, Ok(_) | Err(sqlx::Error::Database(_)));
        done
    }

    /// Whether a round trip was dropped or failed on the way.
    pub(super) const fn is_in_doubt(&self) -> bool {
        self.is_in_doubt && self.is_remote
    }

    /// Closes it when it is dropped: the database rolls back what was not committed.
    pub(super) const fn close(&mut self) {
        self.is_closing = true;
    }
}

impl<D: sqlx::Database> Drop for Borrowed<D> {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        if self.is_closing || self.is_in_doubt() {
            connection.close_on_drop();
        } else if self.is_remote
            && let Ok(runtime) = Handle::try_current()
        {
            let given_back = connection.return_to_pool();
            runtime.spawn(async move { drop(tokio::time::timeout(GIVE_BACK, given_back).await) });
        }
    }
}
