//! The proxy as a client of the database.

use super::attributes::{Attributes, encode, text};
use super::server::Proven;
use super::{BOUND, Failure, UNBOUND, Verifier, hash, hmac, xor};

/// A login at the database with the key that a client's proof has shown.
#[derive(Debug)]
pub(crate) struct ClientLogin<'a> {
    verifier: &'a Verifier,
    proven: &'a Proven,
    /// How it binds, and to what.
    binding: String,
    header: &'static str,
    nonce: String,
}

/// A login that waits for the proof of the server.
#[derive(Debug)]
pub(crate) struct AwaitedProof {
    expected: String,
}

impl<'a> ClientLogin<'a> {
    /// Binds to `endpoint`, a hash of the certificate of the server, or not at all.
    pub(crate) fn new(
        verifier: &'a Verifier,
        proven: &'a Proven,
        endpoint: Option<&[u8]>,
        nonce: String,
    ) -> Self {
        let header = if endpoint.is_some() { BOUND } else { UNBOUND };
        let binding = encode(&[header.as_bytes(), endpoint.unwrap_or_default()].concat());
        Self { verifier, proven, binding, header, nonce }
    }

    /// The first message.
    pub(crate) fn first(&self) -> String {
        format!("{}{}", self.header, self.bare())
    }

    /// PostgreSQL takes the role from the first packet of the session.
    fn bare(&self) -> String {
        format!("n=,r={}", self.nonce)
    }

    /// Takes the answer to it, and gives the last message.
    pub(crate) fn prove(&self, answer: &[u8]) -> Result<(String, AwaitedProof), Failure> {
        let answer = text(answer)?;
        let mut attributes = Attributes::new(answer);
        let nonce = attributes.nonce()?;
        let salt = attributes.bytes('s')?;
        let iterations: u32 = attributes.value('i')?.parse().map_err(|_| Failure::Malformed)?;
        attributes.end()?;
        if nonce.len() <= self.nonce.len() || !nonce.starts_with(&self.nonce) {
            return Err(Failure::Malformed);
        }
        // Of another password, or of the same one that was set anew.
        if (iterations, &salt) != (self.verifier.iterations, &self.verifier.salt) {
            return Err(Failure::OtherKeys);
        }
        let without_proof = format!("c={},r={nonce}", self.binding);
        let all = format!("{},{answer},{without_proof}", self.bare());
        let client_key = &self.proven.client_key;
        let proof = xor(client_key, &hmac(&hash(client_key), &all));
        let expected = format!("v={}", encode(&hmac(&self.verifier.server_key, &all)));
        Ok((format!("{without_proof},p={}", encode(&proof)), AwaitedProof { expected }))
    }
}

impl AwaitedProof {
    /// Takes the last message of the server: it knows the keys.
    pub(crate) fn finish(self, answer: &[u8]) -> Result<(), Failure> {
        if text(answer)? == self.expected { Ok(()) } else { Err(Failure::WrongServer) }
    }
}
