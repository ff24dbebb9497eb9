//! Where the bytes of a partition are, and which bytes they must be.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use lacuna_base::hash::hash_bytes;
use lacuna_base::{Error, Result};

/// The number of a partition file: 128 bits by chance, so that files of a restored or copied database never meet under one
/// name. The text is the name of the file without its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(pub(crate) [u8; 16]);

impl FileId {
    /// A number that no other file has.
    pub(crate) fn random() -> Self {
        // The standard library seeds each of these from the system's randomness and a counter.
        let state = RandomState::new();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let halves = [state.hash_one(time), state.hash_one((time, std::process::id()))];
        Self(u128::to_le_bytes(u128::from(halves[0]) << 64 | u128::from(halves[1])))
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for FileId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::invalid_input("the number of a partition file has 32 lower-case hexadecimal digits");
        let number = u128::from_str_radix(text, 16).map_err(|_| wrong())?;
        let id = Self(number.to_be_bytes());
        if id.to_string() == text { Ok(id) } else { Err(wrong()) }
    }
}

/// Where a partition is. Two that are equal hold the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PartitionPlace {
    pub(crate) file: FileId,
    pub(crate) start: u64,
    pub(crate) bytes: usize,
    pub(crate) hash: u64,
}

impl PartitionPlace {
    /// Whether these are the bytes that were written there. A hash over all of them finds damage, a file cut short, and
    /// the file of another table alike.
    pub(crate) fn holds(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.bytes && Self::hash_of(bytes) == self.hash
    }

    /// The hash that the directory keeps.
    pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
        const SEED: u64 = 0x4C41_4355_4E41_5031;
        hash_bytes(bytes, SEED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_no_other_is() {
        let id = FileId::random();
        assert_eq!(id.to_string().parse::<FileId>().unwrap(), id);
        assert_ne!(FileId::random(), id);
        for wrong in ["", "12", "+0000000000000000000000000000001", "0000000000000000000000000000000G"] {
            assert!(wrong.parse::<FileId>().is_err(), "{wrong}");
        }
    }
}
