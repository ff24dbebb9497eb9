//! The proxy as the server of a client's login.

use std::fmt;

use super::attributes::{Attributes, encode, text};
use super::{BOUND, Failure, Key, PLAIN, PLUS, UNBOUND, UNBOUND_FOR_SERVER, Verifier, hash, hmac, xor};

/// A login of a client that has the first answer of the server.
#[derive(Debug)]
pub(crate) struct ServerLogin<'a> {
    verifier: &'a Verifier,
    /// What the client must repeat: how it binds, and to what.
    binding: String,
    nonce: String,
    /// The first message of the client without how it binds, a comma, and that of the server.
    so_far: String,
    answer: String,
}

/// What a right proof has shown.
pub(crate) struct Proven {
    /// Logs in at any server that has the same keys.
    pub(super) client_key: Key,
    /// The last message to the client: the server knows the keys, too.
    pub(crate) answer: String,
}

impl fmt::Debug for Proven {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proven")
    }
}

impl<'a> ServerLogin<'a> {
    /// Takes the client's first message. `endpoint` is what a client binds to: a hash of this proxy's certificate.
    pub(crate) fn begin(
        verifier: &'a Verifier,
        endpoint: Option<&[u8]>,
        mechanism: &[u8],
        message: &[u8],
        nonce: &str,
    ) -> Result<Self, Failure> {
        let message = text(message)?;
        let (header, endpoint) = match (mechanism, endpoint) {
            (PLUS, Some(endpoint)) => (BOUND, endpoint),
            (PLAIN, Some(_)) if message.starts_with(UNBOUND_FOR_SERVER) => return Err(Failure::Downgraded),
            (PLAIN, None) if message.starts_with(UNBOUND_FOR_SERVER) => (UNBOUND_FOR_SERVER, &[][..]),
            (PLAIN, _) => (UNBOUND, &[][..]),
            _ => return Err(Failure::Malformed),
        };
        // Somebody else's name between the commas, and other ways to bind, are not for PostgreSQL.
        let bare = message.strip_prefix(header).ok_or(Failure::Malformed)?;
        let mut attributes = Attributes::new(bare);
        // The role is that of the first packet, whatever stands here.
        attributes.value('n')?;
        let nonce = format!("{}{nonce}", attributes.nonce()?);
        attributes.end()?;
        let answer = format!("r={nonce},s={},i={}", encode(&verifier.salt), verifier.iterations);
        let binding = encode(&[header.as_bytes(), endpoint].concat());
        Ok(Self { verifier, binding, nonce, so_far: format!("{bare},{answer}"), answer })
    }

    /// The answer to the first message.
    pub(crate) fn answer(&self) -> &str {
        &self.answer
    }

    /// Takes the client's last message, and with it the proof.
    pub(crate) fn finish(self, message: &[u8]) -> Result<Proven, Failure> {
        let message = text(message)?;
        let (without_proof, _) = message.rsplit_once(",p=").ok_or(Failure::Malformed)?;
        let mut attributes = Attributes::new(message);
        let binding = attributes.value('c')?;
        let nonce = attributes.nonce()?;
        let proof = attributes.key('p')?;
        attributes.end()?;
        if nonce != self.nonce {
            return Err(Failure::Malformed);
        }
        if binding != self.binding {
            return Err(Failure::OtherCertificate);
        }
        let all = format!("{},{without_proof}", self.so_far);
        let client_key = xor(&proof, &hmac(&self.verifier.stored_key, &all));
        // What the time of this comparison could tell are bytes of a hash of random bytes.
        if hash(&client_key) != self.verifier.stored_key {
            return Err(Failure::WrongPassword);
        }
        let answer = format!("v={}", encode(&hmac(&self.verifier.server_key, &all)));
        Ok(Proven { client_key, answer })
    }
}
