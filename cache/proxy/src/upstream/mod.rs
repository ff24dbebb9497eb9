//! The database: where it is, and connections to it.
//!
//! | file | idea |
//! | --- | --- |
//! | `address.rs`, `hosts.rs`, `protocol.rs` | what a URL says |
//! | `route.rs` | which of several hosts sessions are begun at |

mod address;
mod hosts;
mod protocol;
mod route;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use lacuna_base::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::connection::Connection;
use crate::tls;
use crate::wire::startup;

pub use address::{SslMode, Upstream};
use hosts::Host;
pub(crate) use hosts::each_alone;
pub(crate) use protocol::Protocol;
use route::Route;
pub(crate) use route::Visit;

/// Longest wait for one of several hosts.
const OF_SEVERAL: Duration = Duration::from_secs(3);

/// Pause between two looks at whether sessions have ended.
const ENDING: Duration = Duration::from_millis(2);

/// Makes connections to the database.
#[derive(Debug)]
pub(crate) struct Connector {
    upstream: Upstream,
    /// What TLS needs; none with `sslmode=disable`.
    config: Option<Arc<ClientConfig>>,
    patience: Duration,
    route: Route,
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
        let is_one = upstream.all_hosts().len() == 1;
        let patience = if is_one { patience } else { patience.min(OF_SEVERAL) };
        Ok(Self { upstream, config, patience, route: Route::new() })
    }

    pub(crate) fn may_be_plain(&self) -> bool {
        matches!(self.upstream.ssl_mode(), SslMode::Prefer | SslMode::Disable)
    }

    /// A connection as the mode says: encrypted if it must be, or if the database offers that.
    pub(crate) async fn connect(&self) -> io::Result<Connection> {
        self.first_of_all(true).await
    }

    /// A connection without TLS.
    pub(crate) async fn connect_plain(&self) -> io::Result<Connection> {
        self.first_of_all(false).await
    }

    /// As [`connect`](Self::connect) to a host of [`order`](Self::order).
    pub(crate) async fn connect_to(&self, host: usize) -> io::Result<Connection> {
        self.in_time(host, true).await
    }

    pub(crate) fn host_count(&self) -> usize {
        self.upstream.all_hosts().len()
    }

    /// Where sessions may be now, the most probable first.
    pub(crate) fn order(&self) -> Vec<usize> {
        self.route.order(self.host_count())
    }

    /// The number of the server at which sessions begin now.
    pub(crate) fn server(&self) -> u64 {
        self.route.server()
    }

    /// Returns when the server of this number was left, so that its sessions must end.
    pub(crate) async fn has_left(&self, server: u64) {
        self.route.has_left(server).await;
    }

    /// A session at the server of this number; `None` if that was left.
    pub(crate) fn visit(&self, server: u64) -> Option<Visit> {
        self.route.visit(server)
    }

    /// Leaves the server: no session begins. Returns the number of the next one when all sessions have ended.
    pub(crate) async fn leave(&self) -> u64 {
        let (next, left) = self.route.leave();
        while !left.is_empty() {
            sleep(ENDING).await;
        }
        next
    }

    /// Lets sessions begin at this host, and at no other.
    pub(crate) fn arrive(&self, host: usize) {
        self.route.arrive(host);
    }

    async fn first_of_all(&self, may_encrypt: bool) -> io::Result<Connection> {
        let mut failures = Vec::new();
        for host in self.order() {
            match self.in_time(host, may_encrypt).await {
                Ok(connection) => {
                    if self.route.reached(host) {
                        let at = &self.upstream.all_hosts()[host];
                        tracing::warn!(%at, "sessions begin at another host");
                    }
                    return Ok(connection);
                }
                Err(why) => failures.push((host, why)),
            }
        }
        Err(self.unreachable(failures))
    }

    fn unreachable(&self, mut failures: Vec<(usize, io::Error)>) -> io::Error {
        if failures.len() == 1 && self.host_count() == 1 {
            return failures.remove(0).1;
        }
        if failures.is_empty() {
            return io::Error::other("the server was left, and no other one has taken its place yet");
        }
        let hosts = self.upstream.all_hosts();
        let each: Vec<String> =
            failures.iter().map(|(host, why)| format!("{}: {why}", hosts[*host])).collect();
        io::Error::other(each.join("; "))
    }

    async fn in_time(&self, host: usize, may_encrypt: bool) -> io::Result<Connection> {
        let host = &self.upstream.all_hosts()[host];
        let connecting = async { if may_encrypt { self.negotiated(host).await } else { plain(host).await } };
        timeout(self.patience, connecting).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    async fn negotiated(&self, host: &Host) -> io::Result<Connection> {
        let (mut stream, config) = match (plain(host).await?, &self.config) {
            (Connection::Tcp(stream), Some(config)) => (stream, config),
            (plain, _) => return Ok(plain),
        };
        stream.write_all(&startup::tls_request()).await?;
        // One byte and no more: what else comes belongs to TLS.
        match stream.read_u8().await? {
            b'S' => encrypted(host, config, stream).await,
            b'N' if self.may_be_plain() => Ok(Connection::Tcp(stream)),
            b'N' => Err(io::Error::other("it does not offer TLS, which sslmode asks for")),
            _ => Err(io::Error::other("its answer to a request for TLS is not one of PostgreSQL")),
        }
    }
}

async fn plain(host: &Host) -> io::Result<Connection> {
    Ok(match host.socket() {
        Some(path) => Connection::Unix(UnixStream::connect(path).await?),
        None => Connection::tcp(TcpStream::connect((&host.name[..], host.port)).await?),
    })
}

async fn encrypted(host: &Host, config: &Arc<ClientConfig>, stream: TcpStream) -> io::Result<Connection> {
    let name = ServerName::try_from(host.name.clone()).map_err(io::Error::other)?;
    let stream = TlsConnector::from(config.clone()).connect(name, stream).await?;
    Ok(Connection::Tls(Box::new(stream.into())))
}
