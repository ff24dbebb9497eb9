//! The messages of SCRAM: `name=value` with commas between, and bytes in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Failure, Key};

/// Attributes in the order in which the protocol has them.
#[derive(Debug, Clone)]
pub(super) struct Attributes<'a> {
    left: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    pub(super) const fn new(message: &'a str) -> Self {
        Self { left: Some(message) }
    }

    /// The value of the next attribute, which must have this name.
    pub(super) fn value(&mut self, name: char) -> Result<&'a str, Failure> {
        let left = self.left.ok_or(Failure::Malformed)?;
        let (attribute, left) =
            left.split_once(',').map_or((left, None), |(first, left)| (first, Some(left)));
        self.left = left;
        attribute
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('='))
            .filter(|value| !value.is_empty() || name == 'n')
            .ok_or(Failure::Malformed)
    }

    /// A nonce: characters that can be seen, and no comma.
    pub(super) fn nonce(&mut self) -> Result<&'a str, Failure> {
        let nonce = self.value('r')?;
        if nonce.bytes().all(|byte| byte.is_ascii_graphic()) { Ok(nonce) } else { Err(Failure::Malformed) }
    }

    /// The value of the next attribute, as bytes.
    pub(super) fn bytes(&mut self, name: char) -> Result<Vec<u8>, Failure> {
        decode(self.value(name)?)
    }

    pub(super) fn key(&mut self, name: char) -> Result<Key, Failure> {
        self.bytes(name)?.try_into().map_err(|_| Failure::Malformed)
    }

    /// No attribute is left. Those that a later version adds are optional by RFC 5802, but PostgreSQL sends none.
    pub(super) const fn end(&self) -> Result<(), Failure> {
        if self.left.is_none() { Ok(()) } else { Err(Failure::Malformed) }
    }
}

/// The message as text.
pub(super) fn text(message: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(message).map_err(|_| Failure::Malformed)
}

pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn decode(text: &str) -> Result<Vec<u8>, Failure> {
    STANDARD.decode(text).map_err(|_| Failure::Malformed)
}
