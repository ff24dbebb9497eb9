//! The database: where it is, and connections to it.

mod address;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use lacuna_base::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::connection::Connection;
use crate::tls;
use crate::wire::startup;

pub use address::{SslMode, Upstream};

/// Makes connections to the database.
#[derive(Debug)]
pub(crate) struct Connector {
    upstream: Upstream,
    /// What TLS needs; none with `sslmode=disable`.
    config: Option<Arc<ClientConfig>>,
    patience: Duration,
}

impl Connector {
    /// # Errors
    /// Those of the authority's file.
    pub(crate) fn new(upstream: Upstream, patience: Duration) -> Result<Self> {
        let config = match upstream.ssl_mode() {
            SslMode::Disable => None,
            SslMode::Prefer | SslMode::Require => Some(tls::client_config(None)?),
            SslMode::VerifyFull => Some(tls::client_config(upstream.authority())?),
        };
        Ok(Self { upstream, config, patience })
    }

    pub(crate) fn may_be_plain(&self) -> bool {
        matches!(self.upstream.ssl_mode(), SslMode::Prefer | SslMode::Disable)
    }

    /// A connection as the mode says: encrypted if it must be, or if the database offers that.
    pub(crate) async fn connect(&self) -> io::Result<Connection> {
        self.in_time(self.negotiated()).await
    }

    /// A connection without TLS.
    pub(crate) async fn connect_plain(&self) -> io::Result<Connection> {
        self.in_time(self.plain()).await
    }

    async fn in_time<T>(&self, connecting: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        timeout(self.patience, connecting).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    async fn plain(&self) -> io::Result<Connection> {
        Ok(match self.upstream.socket() {
            Some(path) => Connection::Unix(UnixStream::connect(path).await?),
            None => Connection::tcp(TcpStream::connect((self.upstream.host(), self.upstream.port())).await?),
        })
    }

    async fn negotiated(&self) -> io::Result<Connection> {
        let (mut stream, config) = match (self.plain().await?, &self.config) {
            (Connection::Tcp(stream), Some(config)) => (stream, config),
            (plain, _) => return Ok(plain),
        };
        stream.write_all(&startup::tls_request()).await?;
        // One byte and no more: what else comes belongs to TLS.
        match stream.read_u8().await? {
            b'S' => self.encrypted(config, stream).await,
            b'N' if self.may_be_plain() => Ok(Connection::Tcp(stream)),
            b'N' => Err(io::Error::other("it does not offer TLS, which sslmode asks for")),
            _ => Err(io::Error::other("its answer to a request for TLS is not one of PostgreSQL")),
        }
    }

    async fn encrypted(&self, config: &Arc<ClientConfig>, stream: TcpStream) -> io::Result<Connection> {
        let name = ServerName::try_from(self.upstream.host().to_owned()).map_err(io::Error::other)?;
        let stream = TlsConnector::from(config.clone()).connect(name, stream).await?;
        Ok(Connection::Tls(Box::new(stream.into())))
    }
}
