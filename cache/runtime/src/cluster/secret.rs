//! The secret that all dendrites of a cache share.

use std::fmt;
use std::path::Path;

use lacuna_cache_protocol::{Error, Result};
use sha2::{Digest, Sha256};

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;
/// Keeps the key of the handshake apart from other uses of the secret.
const PURPOSE: &[u8] = b"lacuna dendrite 1, secret";

/// A secret of at least 16 bytes.
///
/// ```
/// use lacuna_cache::cluster::Secret;
///
/// assert!(Secret::new(b"0123456789abcdef").is_ok());
/// assert!(Secret::new(b"too short").is_err());
/// ```
#[derive(Clone)]
pub struct Secret([u8; 32]);

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
        Ok(Self(Sha256::new().chain_update(PURPOSE).chain_update(secret).finalize().into()))
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

    /// The key that both sides of a handshake have in common.
    pub(crate) const fn key(&self) -> &[u8; 32] {
        &self.0
    }
}
