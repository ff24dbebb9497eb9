//! Names of keys, and of everything else that a filter can hold: 128 bits of hash.

use lacuna_base::hash::{IntegerHasher, hash_bytes};

/// Seeds of the two halves.
const SEEDS: [u64; 2] = [0x4C41_4355_4E41_0001, 0x4C41_4355_4E41_0002];

/// A partition key, or a bucket of rows, by 128 bits of hash. The first half stands in filters, both together are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId {
    hash: u64,
    check: u64,
}

impl KeyId {
    /// The partition with this key.
    pub fn of_partition(key: &[u8]) -> Self {
        Self { hash: hash_bytes(key, SEEDS[0]), check: hash_bytes(key, SEEDS[1]) }
    }

    /// The partition whose 128-bit hash a store has computed already (Cassandra: both halves of murmur3). The first half
    /// is mixed again, because a node that owns a range of tokens sees only keys that begin alike.
    pub const fn of_hash(first: u64, second: u64) -> Self {
        Self { hash: IntegerHasher::new(SEEDS[0]).hash(first), check: second }
    }

    /// Bucket number `bucket` of `level` in this partition.
    #[must_use]
    pub fn bucket(self, level: u32, bucket: u64) -> Self {
        let mut bytes = [0; 28];
        bytes[..8].copy_from_slice(&self.hash.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.check.to_le_bytes());
        bytes[16..20].copy_from_slice(&level.to_le_bytes());
        bytes[20..].copy_from_slice(&bucket.to_le_bytes());
        Self::of_partition(&bytes)
    }

    /// Both halves as they are, for messages.
    pub const fn from_halves(hash: u64, check: u64) -> Self {
        Self { hash, check }
    }

    /// The half that stands in filters.
    pub const fn hash(self) -> u64 {
        self.hash
    }

    /// The half that tells it from others.
    pub const fn check(self) -> u64 {
        self.check
    }

    pub(crate) const fn mark(self) -> (u64, u64) {
        (self.hash, self.check)
    }
}

/// A table of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u128);

/// A node of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u128);
