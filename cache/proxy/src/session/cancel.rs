//! Requests that a statement ends. Clients have the database's own keys, so a request is forwarded as it came.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connection::Connection;
use crate::shared::{Counters, Shared};

/// Forwards the request, and closes the client's connection after the database has closed its own: then the signal is
/// sent, and a client that waits for this knows it. A key does not say at which host it was given: at another one it is none.
pub(super) async fn forward(shared: &Shared, client: Connection, packet: &[u8]) -> io::Result<()> {
    Counters::add(&shared.counters.cancels);
    let mut forwarded = Err(io::ErrorKind::NotConnected.into());
    for host in shared.connector.order() {
        let done = forward_to(shared, host, packet).await;
        forwarded = forwarded.or(done);
    }
    drop(client);
    forwarded
}

async fn forward_to(shared: &Shared, host: usize, packet: &[u8]) -> io::Result<()> {
    let mut upstream = shared.connector.connect_to(host).await?;
    upstream.write_all(packet).await?;
    upstream.flush().await?;
    // The database sends nothing.
    drop(timeout(shared.options.login_timeout, upstream.read_u8()).await);
    Ok(())
}
