//! Logins by SCRAM-SHA-256 that end in the proxy: with a client as its server, with the database as its client.
//!
//! A server of SCRAM need not know the password. What PostgreSQL keeps of a role ([`Verifier`]) is enough to check a
//! client's proof, and a right proof tells the `ClientKey`, by which the proxy then logs in at the database. So each side
//! can bind its login to the certificate that it sees, though the two differ.
//!
//! Nothing is kept: a `ClientKey` lives as long as one login.
//!
//! Sources: RFC 5802 (messages and keys), RFC 7677 (SHA-256), RFC 5929 section 4 (`tls-server-end-point`).

mod attributes;
mod client;
mod password;
mod server;
#[cfg(test)]
mod tests;
mod verifier;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

pub(crate) use client::ClientLogin;
pub(crate) use password::PasswordLogin;
pub(crate) use server::{Proven, ServerLogin};
pub(crate) use verifier::Verifier;

/// The mechanism, and the one that binds to the certificate of the server.
pub(crate) const PLAIN: &[u8] = b"SCRAM-SHA-256";
pub(crate) const PLUS: &[u8] = b"SCRAM-SHA-256-PLUS";

/// How a client that binds begins its first message.
const BOUND: &str = "p=tls-server-end-point,,";
/// One that cannot bind, and one that could and believes that the server cannot.
const UNBOUND: &str = "n,,";
const UNBOUND_FOR_SERVER: &str = "y,,";

/// Bytes of a nonce, before they are written in base64.
const NONCE_LEN: usize = 18;

/// A key or a proof.
type Key = [u8; 32];

/// Why a login ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A message is not one of the protocol, or says something else than the one before.
    Malformed,
    /// The client could bind and believes that it cannot: somebody has changed the offer.
    Downgraded,
    /// The client is connected to another certificate than that of this proxy.
    OtherCertificate,
    /// The password is another one.
    WrongPassword,
    /// The server has other keys for the role.
    OtherKeys,
    /// The server does not know the role's keys.
    WrongServer,
}

/// Random text of characters that may stand in a nonce.
///
/// # Errors
/// The system has no random bytes.
pub(crate) fn nonce() -> std::io::Result<String> {
    let mut bytes = [0; NONCE_LEN];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(attributes::encode(&bytes))
}

fn hmac(key: &Key, message: &str) -> Key {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().into()
}

fn hash(key: &Key) -> Key {
    Sha256::digest(key).into()
}

fn xor(a: &Key, b: &Key) -> Key {
    std::array::from_fn(|at| a[at] ^ b[at])
}
