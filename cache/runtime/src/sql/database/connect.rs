//! Connecting to a database, and the errors of failed attempts.

use lacuna_cache_protocol::Error;

/// A URL, or a path in one, that the driver cannot parse.
pub(super) fn refused(error: sqlx::Error) -> Error {
    Error::invalid_input(error.to_string()).with_context("reading the URL")
}

/// A database that cannot be reached at `place`.
pub(super) fn unreachable(place: &str) -> impl Fn(sqlx::Error) -> Error {
    move |error| Error::unavailable(error.to_string()).with_context(format!("connecting to {place}"))
}

#[cfg(any(feature = "mariadb", feature = "postgres"))]
pub(super) use servers::{check, trusting};

#[cfg(any(feature = "mariadb", feature = "postgres"))]
mod servers {
    use std::time::Duration;

    use lacuna_cache_protocol::{Error, Result};
    use sqlx::pool::PoolOptions;
    use sqlx::{ConnectOptions, Connection as _};

    use super::unreachable;

    /// How long a server may take to start, or to answer.
    const PATIENCE: Duration = Duration::from_secs(30);
    /// Pause between two tries while the server starts.
    const PAUSE: Duration = Duration::from_millis(50);
    /// PostgreSQL's `cannot_connect_now`: it starts, or recovers from a crash.
    const STARTING: &str = "57P03";

    /// How long a connection that was idle may take to show that it is open.
    const PING: Duration = Duration::from_secs(2);

    /// How long a connection may be idle and still be assumed to be open.
    const TRUSTED: Duration = Duration::from_secs(1);

    /// A pool of `connections` connections. It checks whether a connection is open only if that was not used for a
    /// while: the check costs as much as a statement. A single connection lives as long as it can.
    pub(in super::super) fn trusting<D>(options: PoolOptions<D>, connections: u32) -> PoolOptions<D>
    where
        D: sqlx::Database,
    {
        let options = options.max_connections(connections);
        let options = if connections == 1 { options.max_lifetime(None).idle_timeout(None) } else { options };
        options.test_before_acquire(false).before_acquire(|connection, seen| {
            Box::pin(async move {
                if seen.idle_for > TRUSTED {
                    let silent = |_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
                    tokio::time::timeout(PING, connection.ping()).await.map_err(silent)??;
                }
                Ok(true)
            })
        })
    }

    /// Connects once. A pool would retry silently where no server listens, and then not say why it failed.
    pub(in super::super) async fn check<O>(options: &O, place: &str) -> Result<()>
    where
        O: ConnectOptions<Connection: Sized>,
    {
        let reached = async { connected(options).await?.close().await };
        let reached = tokio::time::timeout(PATIENCE, reached).await;
        let silent = |_| {
            Error::unavailable("the server did not answer in time")
                .with_context(format!("connecting to {place}"))
        };
        reached.map_err(silent)?.map_err(unreachable(place))
    }

    async fn connected<O>(options: &O) -> std::result::Result<O::Connection, sqlx::Error>
    where
        O: ConnectOptions<Connection: Sized>,
    {
        loop {
            match options.connect().await {
                Err(sqlx::Error::Database(error)) if error.code().is_some_and(|code| code == STARTING) => {
                    tokio::time::sleep(PAUSE).await;
                }
                done => return done,
            }
        }
    }
}
