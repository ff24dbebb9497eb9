//! Requests that a statement ends. Clients have the database's own keys, so a request is forwarded as it came.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connection::Connection;
use crate::shared::{Counters, Shared};

/// Forwards the request, and closes the client's connection after the database has closed its own: then the signal is
/// sent, and a client that waits for this knows it.
pub(super) async fn forward(shared: &Shared, client: Connection, packet: &[u8]) -> io::Result<()> {
    Counters::add(&shared.counters.cancels);
    let mut upstream = shared.connector.connect().await?;
    upstream.write_all(packet).await?;
    upstream.flush().await?;
    // The database sends nothing.
    drop(timeout(shared.options.login_timeout, upstream.read_u8()).await);
    drop(client);
    Ok(())
}
