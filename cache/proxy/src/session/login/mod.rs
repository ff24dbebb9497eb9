//! The beginning of a session at the database, and the one message that a relay over TLS has to look at.
//!
//! A login by SCRAM passes through unseen, with one exception: *channel binding*. A server that is reached by TLS also
//! offers `SCRAM-SHA-256-PLUS`, which proves that client and server see the same certificate.
//!
//! | client to proxy | proxy to server | what is done |
//! | --- | --- | --- |
//! | plain | plain | nothing: the server does not offer it |
//! | plain | TLS | the offer is left out; libpq refuses one that it cannot use |
//! | TLS | TLS, the same certificate | nothing: binding works, `channel_binding=require` too |
//! | TLS | plain, or TLS with another certificate; the role is in the file of logins | two logins, each bound to the certificate that is seen (`own.rs`) |
//! | TLS | plain | nothing: clients log in that need not bind |
//! | TLS | TLS, another, `sslmode=prefer` | the session is begun again without TLS to the server, if it takes that |
//! | TLS | TLS, another, TLS required | nothing: clients log in that do not bind (`channel_binding=disable`) |
//!
//! In the last case a client that can bind is refused by the server, whatever the proxy does: binding as offered proves
//! that the certificates differ, and without the offer the client reports that it could have bound.

mod own;

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connection::Connection;
use crate::credentials::Credentials;
use crate::scram;
use crate::shared::Shared;
use crate::wire::login::{SASL, checked_len};
use crate::wire::{self, Fields, startup};

/// A session that the database has begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) upstream: Connection,
    /// What it has sent already, for the client.
    pub(super) sent: Vec<u8>,
}

/// Why a session does not begin.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The database cannot be reached, or has gone.
    Lost(io::Error),
    /// The client has gone, or sends what belongs to no login.
    Gone(io::Error),
    /// The login has failed: SQLSTATE and sentence for the client.
    Login(&'static str, String),
}

impl From<io::Error> for Refusal {
    fn from(why: io::Error) -> Self {
        Self::Lost(why)
    }
}

/// Opens a connection to the database and hands the client's packet on.
pub(super) async fn begin(
    shared: &Shared,
    credentials: &Credentials,
    client: &mut Connection,
    packet: &[u8],
) -> Result<Begun, Refusal> {
    let mut upstream = shared.connector.connect().await?;
    send(&mut upstream, packet).await?;
    let role = startup::role(packet).filter(|_| client.is_encrypted());
    let verifier = role.and_then(|role| credentials.logins.verifier(role));
    if !upstream.is_encrypted() && verifier.is_none() {
        return Ok(Begun { upstream, sent: Vec::new() });
    }
    let first = in_time(shared, first_answer(&mut upstream)).await?;
    let offered = first.bytes.get(first.start..first.end).and_then(mechanisms);
    let Some(offered) = offered else { return Ok(Begun { upstream, sent: first.bytes }) };
    let own = credentials.identity.as_ref().map(|identity| &identity.certificate);
    if client.is_encrypted() && upstream.is_encrypted() && own == upstream.certificate_of_server() {
        return Ok(Begun { upstream, sent: first.bytes });
    }
    if let Some((role, verifier)) = role.zip(verifier)
        && offered.contains(&scram::PLAIN)
        && first.end == first.bytes.len()
    {
        client.write_all(&first.bytes[..first.start]).await.map_err(Refusal::Gone)?;
        let login = own::Login { own, role, verifier, may_bind: offered.contains(&scram::PLUS) };
        return in_time(shared, login.run(client, upstream)).await;
    }
    if !offered.contains(&scram::PLUS) {
        return Ok(Begun { upstream, sent: first.bytes });
    }
    if !client.is_encrypted() {
        let kept: Vec<_> = offered.into_iter().filter(|&mechanism| mechanism != scram::PLUS).collect();
        let sent = [&first.bytes[..first.start], &offer(&kept), &first.bytes[first.end..]].concat();
        return Ok(Begun { upstream, sent });
    }
    let begun = Begun { upstream, sent: first.bytes };
    if !shared.connector.may_be_plain() {
        return Ok(begun);
    }
    Ok(begin_plain(shared, packet).await.unwrap_or(begun))
}

async fn in_time<T, E: From<io::Error>>(
    shared: &Shared,
    login: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    timeout(shared.options.login_timeout, login)
        .await
        .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
}

/// The same without TLS to the server; `None` if it does not take that.
async fn begin_plain(shared: &Shared, packet: &[u8]) -> Option<Begun> {
    let mut upstream = shared.connector.connect_plain().await.ok()?;
    send(&mut upstream, packet).await.ok()?;
    let first = timeout(shared.options.login_timeout, first_answer(&mut upstream)).await.ok()?.ok()?;
    let is_refused = first.bytes.get(first.start) == Some(&b'E');
    (!is_refused).then_some(Begun { upstream, sent: first.bytes })
}

async fn send(upstream: &mut Connection, packet: &[u8]) -> io::Result<()> {
    upstream.write_all(packet).await?;
    upstream.flush().await
}

/// Bytes of the server with its first answer in them, from `start` to `end`.
#[derive(Debug)]
struct First {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// Reads up to the first answer to the packet. The server's word on versions and options (`v`) may stand before it.
async fn first_answer(upstream: &mut Connection) -> io::Result<First> {
    let (mut bytes, mut start) = (Vec::new(), 0);
    loop {
        while let Some((tag, end)) = message(&bytes, start)? {
            if tag != b'v' {
                return Ok(First { bytes, start, end });
            }
            start = end;
        }
        if upstream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Type and end of the message at `start`, if it has come as a whole.
fn message(bytes: &[u8], start: usize) -> io::Result<Option<(u8, usize)>> {
    let mut fields = Fields::new(&bytes[start..]);
    let (Some(tag), Some(length)) = (fields.byte(), fields.int32()) else { return Ok(None) };
    let len = checked_len(length)
        .ok_or_else(|| io::Error::other("the server's answer is not one of PostgreSQL"))?;
    let end = start + 1 + len;
    Ok((end <= bytes.len()).then_some((tag, end)))
}

/// The mechanisms that a message offers; `None` if it is no such offer.
fn mechanisms(message: &[u8]) -> Option<Vec<&[u8]>> {
    let mut fields = Fields::new(message);
    let header = fields.bytes(5)?;
    if header[0] != b'R' || fields.int32()? != SASL {
        return None;
    }
    let mut offered = Vec::new();
    while let Some(mechanism) = fields.text().filter(|mechanism| !mechanism.is_empty()) {
        offered.push(mechanism);
    }
    Some(offered)
}

/// The message that offers these mechanisms.
fn offer(mechanisms: &[&[u8]]) -> Vec<u8> {
    let listed = mechanisms.iter().flat_map(|mechanism| [mechanism, &b"\0"[..]]).collect::<Vec<_>>().concat();
    request(SASL, &[&listed[..], b"\0"].concat())
}

/// The message `R` of a server.
fn request(kind: i32, data: &[u8]) -> Vec<u8> {
    wire::message(b'R', &[&kind.to_be_bytes(), data].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_read_and_written() {
        let both = b"R\0\0\0\x2a\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
        let plain = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
        assert_eq!(mechanisms(both), Some(vec![scram::PLUS, scram::PLAIN]));
        assert_eq!(offer(&[scram::PLUS, scram::PLAIN]), both);
        assert_eq!(offer(&[scram::PLAIN]), plain);
        assert_eq!(mechanisms(b"R\0\0\0\x08\0\0\0\x00"), None);
        assert_eq!(mechanisms(b"E"), None);
    }

    #[test]
    fn answers_are_found_once_they_are_whole() {
        let bytes = b"v\0\0\0\x0c\0\x03\0\0\0\0\0\0R\0\0\0\x08\0\0\0\x00Z";
        assert_eq!(message(bytes, 0).unwrap(), Some((b'v', 13)));
        assert_eq!(message(bytes, 13).unwrap(), Some((b'R', 22)));
        assert_eq!(message(&bytes[..21], 13).unwrap(), None);
        assert!(message(b"R\xff\0\0\0", 0).is_err());
    }
}
