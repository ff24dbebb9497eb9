//! How blocks of keys are hashed: under a seed, which is fast, or under a key that was made of a secret.

use std::fmt;

use lacuna_base::hash::{IntegerHasher, KeyedHasher};

/// What a filter's bytes hold to hash its blocks again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// XXH3-64 under a seed.
    Seeded(u64),
    /// SipHash-2-4 under a key.
    Keyed([u64; 2]),
}

/// Of the filter's own hash: places on the circle of a spill must not go with it.
const SPILL_SEED: u64 = 0x6A09_E667_F3BC_C909;
/// Nor must those of a far half, or of its spill.
const FAR_SEED: u64 = 0xBB67_AE85_84CA_A73B;
/// Odd multiplier that makes the mask of a block of its hash.
const MASK: u64 = 0xA076_1D64_78BD_642F;

/// What a keyed hash is for: the ninth byte of its message. Numbers below 16 are those of [`lacuna_base::Secret`].
mod purpose {
    pub(super) const MASK: u8 = 16;
    pub(super) const SPILL_LOW: u8 = 17;
    pub(super) const SPILL_HIGH: u8 = 18;
    pub(super) const FAR_LOW: u8 = 19;
    pub(super) const FAR_HIGH: u8 = 20;
}

/// A key stays out of logs.
impl fmt::Debug for Hashing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seeded(seed) => f.debug_tuple("Seeded").field(seed).finish(),
            Self::Keyed(_) => f.write_str("Keyed(..)"),
        }
    }
}

impl Hashing {
    /// Bytes that a key needs beyond those of a seed.
    pub(crate) const fn further_bytes(is_keyed: bool) -> usize {
        if is_keyed { 8 } else { 0 }
    }

    pub(crate) fn is_keyed(self) -> bool {
        matches!(self, Self::Keyed(_))
    }

    /// The seed, or the first half of the key; and the second half.
    pub(crate) fn words(self) -> (u64, Option<u64>) {
        match self {
            Self::Seeded(seed) => (seed, None),
            Self::Keyed([low, high]) => (low, Some(high)),
        }
    }

    /// What [`words`](Self::words) took apart.
    pub(crate) fn of_words(first: u64, second: Option<u64>) -> Self {
        second.map_or(Self::Seeded(first), |second| Self::Keyed([first, second]))
    }

    /// The hash of the spill.
    pub(crate) fn for_spill(self) -> Self {
        self.for_another(SPILL_SEED, [purpose::SPILL_LOW, purpose::SPILL_HIGH])
    }

    /// The hash of a far half beside a near one of this hash.
    pub(crate) fn for_far(self) -> Self {
        self.for_another(FAR_SEED, [purpose::FAR_LOW, purpose::FAR_HIGH])
    }

    fn for_another(self, seed_bits: u64, purposes: [u8; 2]) -> Self {
        match self {
            Self::Seeded(seed) => Self::Seeded(seed ^ seed_bits),
            Self::Keyed(key) => {
                let hasher = KeyedHasher::new(key);
                Self::Keyed(purposes.map(|purpose| hasher.hash_for(purpose, 0)))
            }
        }
    }

    /// Prepares the hash.
    #[inline]
    pub(crate) fn hasher(self) -> BlockHasher {
        match self {
            Self::Seeded(seed) => BlockHasher::Seeded(IntegerHasher::new(seed)),
            Self::Keyed(key) => BlockHasher::Keyed(KeyedHasher::new(key)),
        }
    }
}

/// A prepared hash of blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BlockHasher {
    /// Under a seed.
    Seeded(IntegerHasher),
    /// Under a key.
    Keyed(KeyedHasher),
}

impl BlockHasher {
    /// The hash of `block`.
    #[inline(always)]
    pub(crate) fn hash(self, block: u64) -> u64 {
        match self {
            Self::Seeded(hasher) => hasher.hash(block),
            Self::Keyed(hasher) => hasher.hash(block),
        }
    }

    /// A number to hide a value of `block` under, whose hash is `hash`: of the hash, or, under a key, independent of it.
    #[inline(always)]
    pub(crate) fn mask(self, block: u64, hash: u64) -> u32 {
        let mixed = match self {
            Self::Seeded(_) => (hash ^ (hash >> 29)).wrapping_mul(MASK),
            Self::Keyed(hasher) => hasher.hash_for(purpose::MASK, block),
        };
        (mixed >> 32) as u32
    }
}
