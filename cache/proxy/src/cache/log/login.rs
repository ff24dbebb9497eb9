//! A login for a connection that streams the log.
//!
//! Of the ways to log in it knows those without a password, with one in clear, and SCRAM-SHA-256 (RFC 5802).

use std::io;

use lacuna_base::{Error, Result};
use tokio::io::AsyncWriteExt as _;

use super::account::Account;
use crate::connection::Connection;
use crate::scram::{self, PasswordLogin};
use crate::wire::login::{CLEAR_PASSWORD, MD5_PASSWORD, OK, SASL, SASL_CONTINUE, SASL_FINAL};
use crate::wire::{self, Fields, error_sentence};

/// Settings by which values are printed as the proxy reads them.
const PARAMETERS: [(&str, &str); 5] = [
    ("replication", "database"),
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, YMD"),
    ("TimeZone", "UTC"),
    ("application_name", "lacuna proxy"),
];

/// Logs in as the account over a new connection, which then takes commands of replication.
///
/// # Errors
/// `Unavailable` with what the server says.
pub(super) async fn log_in(connection: &mut Connection, account: &Account) -> Result<()> {
    let named = [("user", &account.user[..]), ("database", &account.database)];
    let mut packet = wire::startup::VERSION_3_0.to_be_bytes().to_vec();
    for (name, value) in named.into_iter().chain(PARAMETERS) {
        packet.extend([name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
    }
    packet.push(0);
    let length = u32::try_from(packet.len() + 4).map_err(|_| malformed())?.to_be_bytes();
    send(connection, &[&length[..], &packet].concat()).await?;
    loop {
        let (tag, body) = receive(connection).await?;
        let mut fields = Fields::new(&body);
        match (tag, fields.int32()) {
            (b'R', Some(OK)) => break,
            (b'R', Some(CLEAR_PASSWORD)) => {
                let password = password(account)?;
                send(connection, &wire::message(b'p', &[password.as_bytes(), b"\0"].concat())).await?;
            }
            (b'R', Some(SASL)) => prove(connection, password(account)?).await?,
            (b'R', Some(MD5_PASSWORD)) => {
                return Err(Error::unavailable(
                    "the log is read with a password of SCRAM-SHA-256, and the account has one of MD5: set password_encryption = \
                     'scram-sha-256' and the password anew",
                ));
            }
            (b'R', _) => {
                return Err(Error::unavailable("the database asks for a login that is not known here"));
            }
            _ => {}
        }
    }
    until_ready(connection).await.map(drop)
}

/// The messages up to the next `ReadyForQuery`.
///
/// # Errors
/// `Unavailable` with an error of the server.
pub(super) async fn until_ready(connection: &mut Connection) -> Result<Vec<(u8, Vec<u8>)>> {
    let mut messages = Vec::new();
    loop {
        match receive(connection).await? {
            (b'Z', _) => return Ok(messages),
            message => messages.push(message),
        }
    }
}

/// # Errors
/// `Unavailable` if the connection has ended.
pub(super) async fn send(connection: &mut Connection, bytes: &[u8]) -> Result<()> {
    connection.write_all(bytes).await.map_err(broken)?;
    connection.flush().await.map_err(broken)
}

/// The next message, which is no error.
pub(super) async fn receive(connection: &mut Connection) -> Result<(u8, Vec<u8>)> {
    match wire::login::read(connection).await.map_err(broken)? {
        (b'E', body) => Err(refused(&body)),
        message => Ok(message),
    }
}

/// The error of a message of type `E`.
pub(super) fn refused(body: &[u8]) -> Error {
    Error::unavailable(format!("the log of the database cannot be read: {}", error_sentence(body)))
}

pub(super) fn broken(why: io::Error) -> Error {
    Error::unavailable(format!("the connection that reads the log was lost: {why}")).with_source(why)
}

pub(super) fn malformed() -> Error {
    Error::unavailable("the stream of the log is not one of PostgreSQL")
}

fn password(account: &Account) -> Result<&str> {
    let password = account.password.as_deref();
    password.ok_or_else(|| {
        Error::unavailable(
            "the database asks for a password to read the log, and the URL of the account has none",
        )
    })
}

async fn prove(connection: &mut Connection, password: &str) -> Result<()> {
    let login = PasswordLogin::new(scram::nonce().map_err(broken)?);
    let first = login.first();
    let length = u32::try_from(first.len()).map_err(|_| malformed())?.to_be_bytes();
    let initial = [scram::PLAIN, b"\0", &length, first.as_bytes()].concat();
    let answer = answered(connection, SASL_CONTINUE, &initial).await?;
    let (last, asked) = login.prove(password, &answer).map_err(|_| malformed())?;
    let answer = answered(connection, SASL_FINAL, last.as_bytes()).await?;
    asked.finish(&answer).map_err(|_| Error::unavailable("the database does not know the account's password"))
}

async fn answered(connection: &mut Connection, kind: i32, body: &[u8]) -> Result<Vec<u8>> {
    send(connection, &wire::message(b'p', body)).await?;
    let (tag, body) = receive(connection).await?;
    let mut fields = Fields::new(&body);
    if tag == b'R' && fields.int32() == Some(kind) { Ok(fields.rest().to_vec()) } else { Err(malformed()) }
}
