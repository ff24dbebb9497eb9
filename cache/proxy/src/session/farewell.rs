//! The last message to a client.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connection::Connection;

/// How long a client may take to read it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends `message`, which may be empty, and closes the connection. What the client still sends is read and dropped: otherwise the system
/// would reset the connection, and the message could be lost on its way.
pub(crate) async fn farewell(mut client: Connection, message: &[u8]) -> io::Result<()> {
    let said = timeout(PATIENCE, async {
        client.write_all(message).await?;
        client.shutdown().await?;
        let mut dropped = [0; 4_096];
        while client.read(&mut dropped).await? > 0 {}
        Ok(())
    });
    said.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
