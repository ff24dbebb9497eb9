//! The state of a key in a changing filter, and how keys are hashed.

use lacuna_base::KeySpace;
use lacuna_base::hash::{IntegerHasher, hash_bytes};

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It was never inserted, or it was reported as a false positive and not inserted since.
    Absent,
    /// It may have been inserted.
    Present,
    /// It was removed and not inserted since.
    Deleted,
}

impl KeyState {
    pub(super) fn of(number: Option<u64>) -> Self {
        match number {
            None => Self::Present,
            Some(0) => Self::Absent,
            Some(_) => Self::Deleted,
        }
    }
}

/// A key space whose keys can be hashed: `u64` or `[u8]`.
pub trait HashedKey: KeySpace {
    /// The key's hash under `seed`, fixed for ever.
    fn hash(key: Self::Ref<'_>, seed: u64) -> u64;
}

impl HashedKey for u64 {
    fn hash(key: u64, seed: u64) -> u64 {
        IntegerHasher::new(seed).hash(key)
    }
}

impl HashedKey for [u8] {
    fn hash(key: &[u8], seed: u64) -> u64 {
        hash_bytes(key, seed)
    }
}
