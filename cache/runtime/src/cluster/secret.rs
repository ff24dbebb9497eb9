//! The secret that all dendrites of a cache share, and the keys derived from it.
//!
//! Both sides of a connection prove that they know it, without revealing it, over random bytes of both; the tags
//! of later frames are made with keys that only this connection has. [`docs/format/dendrite-protocol.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/dendrite-protocol.md) says what
//! that protects against, and what not.

use std::fmt;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use lacuna_cache_protocol::{Error, Result};
use sha2::Sha256;

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;
/// Bytes of a tag: 128 bits cannot be guessed at a server that closes the connection at the first error.
pub(crate) const TAG_BYTES: usize = 16;

/// A secret of at least 16 bytes.
///
/// ```
/// use lacuna_cache::cluster::Secret;
///
/// assert!(Secret::new(b"0123456789abcdef").is_ok());
/// assert!(Secret::new(b"too short").is_err());
/// ```
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A secret of these bytes.
    ///
    /// # Errors
    /// `InvalidInput` if they are fewer than 16.
    pub fn new(secret: &[u8]) -> Result<Self> {
        if secret.len() < SHORTEST {
            let message = format!("the secret has {} bytes; it needs at least {SHORTEST}", secret.len());
            return Err(Error::invalid_input(message));
        }
        Ok(Self(keyed(secret)))
    }

    /// The content of a file, without white space at its end.
    ///
    /// # Errors
    /// `Unavailable` if it cannot be read, otherwise as [`Secret::new`].
    pub fn from_file(path: &Path) -> Result<Self> {
        let place = || format!("the secret in {}", path.display());
        let bytes = std::fs::read(path)
            .map_err(|error| Error::unavailable(error.to_string()).with_context(place()))?;
        Self::new(bytes.trim_ascii_end()).map_err(|error| error.with_context(place()))
    }

    fn of(&self, purpose: &str, transcript: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(b"lacuna dendrite 1, ");
        mac.update(purpose.as_bytes());
        mac.update(transcript);
        mac
    }

    /// The proof of one side that it knows the secret.
    pub(crate) fn proof(&self, side: Side, transcript: &[u8]) -> [u8; 32] {
        self.of(side.name(), transcript).finalize().into_bytes().into()
    }

    /// Whether `proof` is the proof of a side. Takes the same time for every wrong proof.
    pub(crate) fn is_proof(&self, side: Side, transcript: &[u8], proof: &[u8; 32]) -> bool {
        self.of(side.name(), transcript).verify_slice(proof).is_ok()
    }

    /// The seal that tags the frames that a side sends.
    pub(crate) fn seal(&self, side: Side, transcript: &[u8]) -> Seal {
        let key = self.of(side.direction(), transcript).finalize().into_bytes();
        Seal { key: keyed(&key), next: 0 }
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Caller,
    Called,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Called => "called",
        }
    }

    const fn direction(self) -> &'static str {
        match self {
            Self::Caller => "from caller",
            Self::Called => "from called",
        }
    }
}

/// Tags the frames of one direction, in their order.
pub(crate) struct Seal {
    key: Hmac<Sha256>,
    next: u64,
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Seal {
    fn mac(&mut self, frame: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.key.clone();
        mac.update(&self.next.to_le_bytes());
        mac.update(frame);
        self.next += 1;
        mac
    }

    /// The tag of the next frame.
    pub(crate) fn tag(&mut self, frame: &[u8]) -> [u8; TAG_BYTES] {
        let whole: [u8; 32] = self.mac(frame).finalize().into_bytes().into();
        *whole.first_chunk().expect("32 is more than 16")
    }

    /// Whether the next frame has this tag.
    pub(crate) fn is_tag(&mut self, frame: &[u8], tag: &[u8]) -> bool {
        self.mac(frame).verify_truncated_left(tag).is_ok()
    }
}
