//! The beginning of a session at the database, and the one message that a relay over TLS has to look at.
//!
//! A login by SCRAM passes through unseen, with one exception: *channel binding*. A server that is reached by TLS also
//! offers `SCRAM-SHA-256-PLUS`, which proves that client and server see the same certificate.
//!
//! | client to proxy | proxy to server | what is done |
//! | --- | --- | --- |
//! | any | plain | nothing: the server does not offer it |
//! | plain | TLS | the offer is left out; libpq refuses one that it cannot use |
//! | TLS | TLS, the same certificate | nothing: binding works, `channel_binding=require` too |
//! | TLS | TLS, another, `sslmode=prefer` | the session is begun again without TLS to the server, if it takes that |
//! | TLS | TLS, another, TLS required | nothing: clients log in that do not bind (`channel_binding=disable`) |
//!
//! In the last case a client that can bind is refused by the server, whatever the proxy does: binding as offered proves
//! that the certificates differ, and without the offer the client reports that it could have bound.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connection::Connection;
use crate::shared::Shared;
use crate::wire::Fields;

/// Most bytes before the server has asked for a proof.
const MAX_ANSWER: usize = 65_536;
const SASL: i32 = 10;
const PLUS: &[u8] = b"-PLUS";

/// A session that the database has begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) upstream: Connection,
    /// What it has sent already, for the client.
    pub(super) sent: Vec<u8>,
}

/// Opens a connection to the database and hands the client's packet on.
pub(super) async fn begin(shared: &Shared, client: &Connection, packet: &[u8]) -> io::Result<Begun> {
    let mut upstream = shared.connector.connect().await?;
    send(&mut upstream, packet).await?;
    if !upstream.is_encrypted() {
        return Ok(Begun { upstream, sent: Vec::new() });
    }
    let first = timeout(shared.options.login_timeout, first_answer(&mut upstream)).await??;
    let begun = Begun { upstream, sent: first.bytes };
    let Some(offer) = begun.sent.get(first.start..first.end).and_then(without_plus) else { return Ok(begun) };
    if !client.is_encrypted() {
        let sent = [&begun.sent[..first.start], &offer, &begun.sent[first.end..]].concat();
        return Ok(Begun { sent, ..begun });
    }
    let own = shared.identity.as_ref().map(|identity| &identity.certificate);
    if own == begun.upstream.certificate_of_server() || !shared.connector.may_be_plain() {
        return Ok(begun);
    }
    Ok(begin_plain(shared, packet).await.unwrap_or(begun))
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
    let len = usize::try_from(length).ok().filter(|len| (4..=MAX_ANSWER).contains(len));
    let len = len.ok_or_else(|| io::Error::other("the server's answer is not one of PostgreSQL"))?;
    let end = start + 1 + len;
    Ok((end <= bytes.len()).then_some((tag, end)))
}

/// The offer of mechanisms without those that bind; `None` if the message is no such offer.
fn without_plus(message: &[u8]) -> Option<Vec<u8>> {
    let mut fields = Fields::new(message);
    let header = fields.bytes(5)?;
    if header[0] != b'R' || fields.int32()? != SASL {
        return None;
    }
    let mut kept = SASL.to_be_bytes().to_vec();
    let mut is_offered = false;
    while let Some(mechanism) = fields.text().filter(|mechanism| !mechanism.is_empty()) {
        if mechanism.ends_with(PLUS) {
            is_offered = true;
        } else {
            kept.extend([mechanism, b"\0"].concat());
        }
    }
    kept.push(0);
    let length = u32::try_from(kept.len() + 4).ok()?;
    is_offered.then(|| [&b"R"[..], &length.to_be_bytes(), &kept].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offer_is_written_without_binding() {
        let offer = b"R\0\0\0\x2a\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
        let expected = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
        assert_eq!(without_plus(offer).as_deref(), Some(&expected[..]));
        assert_eq!(without_plus(expected), None);
        assert_eq!(without_plus(b"R\0\0\0\x08\0\0\0\x00"), None);
        assert_eq!(without_plus(b"E"), None);
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
