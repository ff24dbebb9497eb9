//! The first packets: the server greets, the client answers, and from then on both are relayed.
//!
//! | packet | what is done |
//! | --- | --- |
//! | greeting | abilities that a session which is followed must not have are taken out: TLS, compression, cached definitions |
//! | error in the place of a greeting | passed on |
//! | the client's answer | passed on; one that asks for what was not offered is refused with a sentence |
//! | what follows of the login | relayed: the server asks and checks, the proxy knows no password |

mod greeting;
mod login;

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use crate::connection::Connection;
use crate::mysql::wire::{Capabilities, Complaint, HEADER, error_packet, read_packet};
use crate::shared::Shared;

use greeting::Greeting;

/// Longest greeting: one has some hundred bytes.
const MAX_GREETING: usize = 4 << 10;
/// Longest answer of a client: attributes of its connection have up to 64 KiB.
const MAX_LOGIN: usize = 128 << 10;

/// A session whose login is under way.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) upstream: Connection,
    /// What both sides can do; none if the session cannot be followed.
    pub(super) capabilities: Option<Capabilities>,
    /// The number of the server's next packet.
    pub(super) next: u8,
}

/// Why a session does not begin.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The database cannot be reached, or has gone.
    Lost(io::Error),
    /// The client has gone, or is not one of MySQL.
    Gone(io::Error),
    /// The packet that the client gets.
    Answer(Vec<u8>),
}

/// Opens a connection to the database, and passes the greeting and the client's answer on.
pub(super) async fn begin(shared: &Shared, client: &mut Connection) -> Result<Begun, Refusal> {
    let mut upstream = shared.connector.connect().await.map_err(Refusal::Lost)?;
    let greeting = in_time(shared, read_packet(&mut upstream, MAX_GREETING)).await.map_err(Refusal::Lost)?;
    let Greeting { packet, offered } = greeting::read(greeting)?;
    send(client, &packet).await.map_err(Refusal::Gone)?;
    let packet = in_time(shared, read_packet(client, MAX_LOGIN)).await.map_err(Refusal::Gone)?;
    let next = packet[HEADER - 1].wrapping_add(1);
    let asked = login::capabilities(&packet[HEADER..]);
    if let Some(sentence) = login::refusal(asked) {
        return Err(Refusal::Answer(error_packet(next, Complaint::BAD_HANDSHAKE, sentence)));
    }
    if let Err(why) = send(&mut upstream, &packet).await {
        let sentence = format!("the connection of the proxy to the database was lost: {why}");
        return Err(Refusal::Answer(error_packet(next, Complaint::CONNECTION_LOST, &sentence)));
    }
    let capabilities = login::may_be_followed(asked).then(|| asked.and(offered));
    Ok(Begun { upstream, capabilities, next })
}

async fn in_time<T>(shared: &Shared, step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(shared.options.login_timeout, step).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn send(to: &mut Connection, packet: &[u8]) -> io::Result<()> {
    to.write_all(packet).await?;
    to.flush().await
}
