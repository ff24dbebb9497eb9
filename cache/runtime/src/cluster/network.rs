//! How connections are made: over TCP, or on a network that a test simulates.
//!
//! The connecting side names a [`Network`], the listening side brings a [`Listener`]. Both return the two
//! directions of a connection, over which all other code is generic: over TCP these are tokio's own halves, and
//! the choice costs only one virtual call for each connection that is made.

use std::fmt::Debug;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use lacuna_cache_protocol::Result;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::cluster::hello::Role;
use crate::cluster::link::Link;
use crate::cluster::secret::Secret;

/// How long a connection may be silent before the other machine is probed, how long it has to answer, and how
/// often it is probed: half a minute in all.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(15), Duration::from_secs(5), 3);

/// Makes connections.
pub trait Network: Debug + Send + Sync + 'static {
    /// The incoming direction.
    type Incoming: AsyncRead + Debug + Send + Unpin + 'static;
    /// The outgoing direction.
    type Outgoing: AsyncWrite + Debug + Send + Unpin + 'static;

    /// A connection to the listener at an address.
    ///
    /// # Errors
    /// If there is no listener.
    fn connect(
        &self,
        address: &str,
    ) -> impl Future<Output = io::Result<(Self::Incoming, Self::Outgoing)>> + Send;
}

/// Takes connections.
pub trait Listener: Send + Sync + 'static {
    /// The incoming direction.
    type Incoming: AsyncRead + Debug + Send + Unpin + 'static;
    /// The outgoing direction.
    type Outgoing: AsyncWrite + Debug + Send + Unpin + 'static;

    /// The next connection.
    ///
    /// # Errors
    /// If this one could not be taken; the next may be.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Incoming, Self::Outgoing)>> + Send;
}

/// The network of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tcp;

impl Network for Tcp {
    type Incoming = OwnedReadHalf;
    type Outgoing = OwnedWriteHalf;

    async fn connect(&self, address: &str) -> io::Result<(OwnedReadHalf, OwnedWriteHalf)> {
        let socket = TcpStream::connect(address).await?;
        prepare(&socket)?;
        Ok(socket.into_split())
    }
}

impl Listener for TcpListener {
    type Incoming = OwnedReadHalf;
    type Outgoing = OwnedWriteHalf;

    async fn accept(&self) -> io::Result<(OwnedReadHalf, OwnedWriteHalf)> {
        let (socket, _) = Self::accept(self).await?;
        prepare(&socket)?;
        Ok(socket.into_split())
    }
}

/// Small messages are sent immediately, and a connection to a machine that failed silently ends, which releases what
/// its caller holds here.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    let (after, between, probes) = KEEPALIVE;
    let keepalive = TcpKeepalive::new().with_time(after).with_interval(between).with_retries(probes);
    SockRef::from(socket).set_tcp_keepalive(&keepalive)?;
    // While something is unacknowledged, Linux sends no probes, and gives up after a quarter of an hour.
    #[cfg(target_os = "linux")]
    SockRef::from(socket).set_tcp_user_timeout(Some(after + between * probes))?;
    socket.set_nodelay(true)
}

/// A [`Network`] as an object that makes links.
pub(crate) trait Dial: Debug + Send + Sync {
    /// A link to the dendrite at an address, in a role and about a collection.
    fn dial<'a>(
        &'a self,
        address: &'a str,
        secret: &'a Secret,
        what: (Role, &'a str),
    ) -> Pin<Box<dyn Future<Output = Result<Link>> + Send + 'a>>;
}

impl<N: Network> Dial for N {
    fn dial<'a>(
        &'a self,
        address: &'a str,
        secret: &'a Secret,
        what: (Role, &'a str),
    ) -> Pin<Box<dyn Future<Output = Result<Link>> + Send + 'a>> {
        Box::pin(Link::connect(self, address, secret, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn machines_that_have_gone_are_noticed_from_both_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (called, caller) = tokio::join!(Listener::accept(&listener), Tcp.connect(&address));
        for (half, _) in [called.unwrap(), caller.unwrap()] {
            let socket: &TcpStream = half.as_ref();
            let options = SockRef::from(socket);
            assert!(options.keepalive().unwrap() && socket.nodelay().unwrap());
            #[cfg(target_os = "linux")]
            assert!(options.tcp_user_timeout().unwrap().is_some_and(|limit| limit.as_secs() <= 30));
        }
    }
}
