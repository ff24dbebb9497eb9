//! A secret of the caller, from which each filter gets a key of its own.
//!
//! Filters hash under a seed, so that their mistakes stand where nothing of the keys or queries leads. Who knows the seed can
//! compute the mistakes. With a secret a filter hashes under a key of 128 bits that follows from the secret and from the
//! filter's own keys, and its bytes hold this key alone: who reads one file learns nothing of the secret and of other files.
//! The page [`docs/design/secret-seed.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/secret-seed.md) says against whom that
//! helps.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::hash::KeyedHasher;

/// Sixteen bytes that an enemy must not guess: from the system's source of randomness, the same for all filters of a program.
///
/// ```
/// use lacuna_base::Secret;
///
/// let secret: Secret = "000102030405060708090a0b0c0d0e0f".parse()?;
/// assert_eq!(secret, Secret::new([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));
/// assert_eq!(format!("{secret:?}"), "Secret(..)", "it stays out of logs");
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; Self::BYTES]);

/// What a keyed hash is for: the ninth byte of its message.
mod purpose {
    pub(super) const KEYS: u8 = 0;
    pub(super) const LOW: u8 = 1;
    pub(super) const HIGH: u8 = 2;
}

impl Secret {
    /// Bytes of a secret.
    pub const BYTES: usize = 16;

    /// The secret of these bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes again, for a binding that hands them on. No text of a secret has them.
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0
    }

    /// The key of the filter over `keys`. Other keys make another one: what is learned of a filter's mistakes is of no use at the
    /// next.
    pub fn key_for(&self, keys: &[u64]) -> [u64; 2] {
        let hasher = self.hasher();
        // A chain of hashes, as of a message whose length comes first.
        let digest = keys.iter().fold(hasher.hash_for(purpose::KEYS, keys.len() as u64), |digest, key| {
            hasher.hash_for(purpose::KEYS, digest ^ key)
        });
        [purpose::LOW, purpose::HIGH].map(|purpose| hasher.hash_for(purpose, digest))
    }

    fn hasher(&self) -> KeyedHasher {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let (low, high) = self.0.split_at(8);
        KeyedHasher::new([word(low), word(high)])
    }
}

/// Reads 32 hexadecimal digits.
impl FromStr for Secret {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let digits = text.as_bytes();
        let mut bytes = [0; Self::BYTES];
        let is_whole = digits.len() == 2 * Self::BYTES && digits.iter().all(u8::is_ascii_hexdigit);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
            *byte = pair.filter(|_| is_whole).ok_or_else(misread)?;
        }
        if is_whole { Ok(Self(bytes)) } else { Err(misread()) }
    }
}

/// The text is not repeated: most of it may be the secret.
fn misread() -> Error {
    Error::invalid_input("a secret is 32 hexadecimal digits, such as `openssl rand -hex 16` prints")
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_set_changes_the_key() {
        let secret = Secret::new(*b"sixteen bytes ok");
        let keys: Vec<u64> = (0..50).map(|number| number * 1_000).collect();
        let mut made = vec![secret.key_for(&keys), secret.key_for(&keys[1..]), secret.key_for(&keys[..49])];
        for place in 0..keys.len() {
            let mut other = keys.clone();
            other[place] += 1;
            made.push(secret.key_for(&other));
        }
        made.push(Secret::new(*b"sixteen bytes no").key_for(&keys));
        made.push(secret.key_for(&[]));
        let mut distinct: Vec<u64> = made.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 2 * made.len());
        assert_eq!(made[0], secret.key_for(&keys));
    }

    /// It decides the bytes of filters. Computed by a program of its own.
    #[test]
    fn the_key_of_a_set_is_fixed_for_ever() {
        let secret = Secret::new(*b"sixteen bytes ok");
        assert_eq!(secret.key_for(&[1, 2, 3]), [0xAA2D_6524_F1A4_7550, 0xF3F9_35B4_DF6B_11C4]);
    }

    #[test]
    fn what_is_no_secret_is_refused_and_not_repeated() {
        let short = "000102030405060708090a0b0c0d0e";
        for text in [
            "",
            short,
            "000102030405060708090a0b0c0d0e0",
            "000102030405060708090a0b0c0d0e0f0",
            "+00102030405060708090a0b0c0d0e0f",
        ] {
            let error = text.parse::<Secret>().expect_err(text).to_string();
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
        assert!("FF0102030405060708090A0B0C0D0E0F".parse::<Secret>().is_ok());
    }
}
