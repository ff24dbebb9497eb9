//! Getting to a database, and what is said when that fails.

use lacuna_core::Error;

/// A URL, or a path in one, that the driver makes nothing of.
pub(super) fn refused(error: sqlx::Error) -> Error {
    Error::invalid_input(error.to_string()).with_context("reading the URL")
}

/// A database that cannot be reached at `place`.
pub(super) fn unreachable(place: &str) -> impl Fn(sqlx::Error) -> Error {
    move |error| Error::unavailable(error.to_string()).with_context(format!("connecting to {place}"))
}

/// Connects once. A pool would go on trying without a word, and then not say why it failed.
#[cfg(any(feature = "mariadb", feature = "postgres"))]
pub(super) async fn check<O>(options: &O, place: &str) -> lacuna_core::Result<()>
where
    O: sqlx::ConnectOptions<Connection: Sized>,
{
    use std::time::Duration;

    use sqlx::Connection as _;

    const PATIENCE: Duration = Duration::from_secs(30);
    let connected = tokio::time::timeout(PATIENCE, options.connect()).await;
    let silent = |_| Error::unavailable("nobody answered").with_context(format!("connecting to {place}"));
    let connection = connected.map_err(silent)?.map_err(unreachable(place))?;
    connection.close().await.map_err(unreachable(place))
}
