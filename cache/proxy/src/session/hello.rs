//! The first packets of a client: requests for encryption, and what it has come for.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

use crate::connection::Connection;
use crate::tls::{Identity, PROTOCOL};
use crate::wire::startup::{Request, TLS_HANDSHAKE, packet_len, request};

/// Requests for encryption that a client may make: one of each kind, and one more after a refusal.
const MAX_REQUESTS: usize = 4;

/// What a client has come for.
#[derive(Debug)]
pub(super) enum Hello {
    Session { client: Connection, packet: Vec<u8> },
    Cancel { client: Connection, packet: Vec<u8> },
}

/// Answers requests for encryption, and reads the packet after them.
///
/// # Errors
/// Those of the connection, and `InvalidData` for what is not PostgreSQL's protocol.
pub(super) async fn receive(mut client: Connection, identity: Option<&Identity>) -> io::Result<Hello> {
    if begins_encrypted(&client).await? {
        client = encrypted_at_once(client, identity).await?;
    }
    for _ in 0..MAX_REQUESTS {
        let packet = read_packet(&mut client).await?;
        client = match (request(&packet).ok_or_else(malformed)?, identity) {
            (Request::Startup, _) => return Ok(Hello::Session { client, packet }),
            (Request::Cancel, _) => return Ok(Hello::Cancel { client, packet }),
            (Request::Tls, Some(identity)) if client.is_plain_tcp() => {
                client.write_all(b"S").await?;
                encrypted(client, identity).await?
            }
            (Request::Tls | Request::Gss, _) => {
                client.write_all(b"N").await?;
                client.flush().await?;
                client
            }
        };
    }
    Err(malformed())
}

/// Whether the client sends a TLS handshake without a request before it.
async fn begins_encrypted(client: &Connection) -> io::Result<bool> {
    let Connection::Tcp(stream) = client else { return Ok(false) };
    let mut first = [0];
    stream.peek(&mut first).await?;
    Ok(first == [TLS_HANDSHAKE])
}

/// Reads one packet and not a byte more: what a client has sent in clear after a request for TLS becomes an error of
/// the handshake, and never a part of the encrypted session.
async fn read_packet(client: &mut Connection) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    client.read_exact(&mut packet).await?;
    let len = packet_len(&packet).flatten().ok_or_else(malformed)?;
    packet.resize(len, 0);
    client.read_exact(&mut packet[4..]).await?;
    Ok(packet)
}

async fn encrypted(client: Connection, identity: &Identity) -> io::Result<Connection> {
    let Connection::Tcp(stream) = client else { return Err(malformed()) };
    let stream = TlsAcceptor::from(identity.config.clone()).accept(stream).await?;
    Ok(Connection::Tls(Box::new(stream.into())))
}

/// TLS without a request before it must name the protocol, so that the connection of another protocol is not taken.
async fn encrypted_at_once(client: Connection, identity: Option<&Identity>) -> io::Result<Connection> {
    let client = encrypted(client, identity.ok_or_else(malformed)?).await?;
    match &client {
        Connection::Tls(stream) if stream.get_ref().1.alpn_protocol() == Some(PROTOCOL) => Ok(client),
        _ => Err(malformed()),
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the client does not speak PostgreSQL's protocol")
}
