//! Bytes of the published layout: a header, then the array of the range Bloom filter. See
//! [`docs/format/rencoder_published.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rencoder_published.md).

use lacuna_base::{Error, Result};

use crate::rencoder::codec::{MAX_HASHES, TREE_LEVELS};

/// Newest version of the body, and the one written.
pub(super) const VERSION: u16 = 1;
/// Bytes before the array.
pub(super) const HEADER_BYTES: usize = 16;
/// Largest bound on fetched mini-trees: a whole range of a million keys in mini-trees of eight levels.
pub(super) const MAX_PROBES: u32 = 4_096;
/// Smallest window: one word.
const MIN_WINDOW_BYTES: usize = 8;

/// The header before the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Seed of the first hash function.
    pub(super) seed: u64,
    /// Most mini-trees a query fetches.
    pub(super) max_probes: u32,
    /// Hash functions: windows of each mini-tree.
    pub(super) hash_count: u32,
    /// Levels of a mini-tree below its root.
    pub(super) tree_levels: u32,
    /// Stored levels, from the keys upwards.
    pub(super) stored_levels: u32,
}

/// Bytes of the bitmap of a mini-tree: a bit for each node, rounded up to words.
pub(super) const fn window_bytes(tree_levels: u32) -> usize {
    let bytes = (2 << tree_levels) / 8;
    if bytes < MIN_WINDOW_BYTES { MIN_WINDOW_BYTES } else { bytes }
}

/// Bytes of the smallest body: the array is one window.
pub(super) const fn smallest_bytes(tree_levels: u32) -> usize {
    HEADER_BYTES + window_bytes(tree_levels)
}

fn byte(number: u32) -> u8 {
    u8::try_from(number).expect("levels and hash functions are at most 64")
}

impl Header {
    /// Writes the header to the start of `body`.
    pub(super) fn write(self, body: &mut [u8]) {
        body[..8].copy_from_slice(&self.seed.to_le_bytes());
        body[8..12].copy_from_slice(&self.max_probes.to_le_bytes());
        body[12] = byte(self.hash_count);
        body[13] = byte(self.tree_levels);
        body[14] = byte(self.stored_levels);
        body[15] = 0;
    }

    /// Reads the header of `body`.
    pub(super) fn read(body: &[u8]) -> Result<Self> {
        let short = || Error::corrupt("a published REncoder is too short for its array");
        let bytes: &[u8; HEADER_BYTES] = body.first_chunk().ok_or_else(short)?;
        let header = Self {
            seed: u64::from_le_bytes(*bytes.first_chunk().expect("16 bytes hold 8")),
            max_probes: u32::from_le_bytes(*bytes[8..].first_chunk().expect("8 bytes hold 4")),
            hash_count: u32::from(bytes[12]),
            tree_levels: u32::from(bytes[13]),
            stored_levels: u32::from(bytes[14]),
        };
        if !header.is_sound() || bytes[15] != 0 {
            return Err(Error::corrupt("no published REncoder has such levels"));
        }
        if body.len() < smallest_bytes(header.tree_levels) { Err(short()) } else { Ok(header) }
    }

    fn is_sound(&self) -> bool {
        TREE_LEVELS.contains(&self.tree_levels)
            && (1..=MAX_HASHES).contains(&self.hash_count)
            && (1..=MAX_PROBES).contains(&self.max_probes)
            && (1..=u64::BITS).contains(&self.stored_levels)
    }
}
