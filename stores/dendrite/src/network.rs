//! How connections come about: over TCP, or on a network that a test simulates.
//!
//! Whoever connects names a [`Network`], whoever is connected to brings a [`Listener`]. Both give the two directions of a
//! connection, which everything else is generic over: over TCP these are tokio's own halves, and nothing is paid for the choice
//! but one call through a table for each connection that is made.

use std::fmt::Debug;
use std::io;
use std::pin::Pin;

use lacuna_core::Result;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::hello::Role;
use crate::link::Link;
use crate::secret::Secret;

/// Makes connections.
pub trait Network: Debug + Send + Sync + 'static {
    /// What is heard.
    type Incoming: AsyncRead + Debug + Send + Unpin + 'static;
    /// What is said.
    type Outgoing: AsyncWrite + Debug + Send + Unpin + 'static;

    /// A connection to whoever listens at an address.
    ///
    /// # Errors
    /// If nobody does.
    fn connect(
        &self,
        address: &str,
    ) -> impl Future<Output = io::Result<(Self::Incoming, Self::Outgoing)>> + Send;
}

/// Takes connections.
pub trait Listener: Send + Sync + 'static {
    /// What is heard.
    type Incoming: AsyncRead + Debug + Send + Unpin + 'static;
    /// What is said.
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
        socket.set_nodelay(true)?;
        Ok(socket.into_split())
    }
}

impl Listener for TcpListener {
    type Incoming = OwnedReadHalf;
    type Outgoing = OwnedWriteHalf;

    async fn accept(&self) -> io::Result<(OwnedReadHalf, OwnedWriteHalf)> {
        let (socket, _) = Self::accept(self).await?;
        drop(socket.set_nodelay(true));
        Ok(socket.into_split())
    }
}

/// A [`Network`] as an object that makes links.
pub(crate) trait Dial: Debug + Send + Sync {
    fn dial<'a>(
        &'a self,
        address: &'a str,
        secret: &'a Secret,
        role: Role,
    ) -> Pin<Box<dyn Future<Output = Result<Link>> + Send + 'a>>;
}

impl<N: Network> Dial for N {
    fn dial<'a>(
        &'a self,
        address: &'a str,
        secret: &'a Secret,
        role: Role,
    ) -> Pin<Box<dyn Future<Output = Result<Link>> + Send + 'a>> {
        Box::pin(Link::connect(self, address, secret, role))
    }
}
