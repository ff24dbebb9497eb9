//! Bytes of REncoder: [`docs/format/rencoder.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rencoder.md).

use lacuna_base::{Error, Result};

use super::lines::Lines;
use super::spec::Variant;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes the header takes; in a body of some size the lines start later, so that they stay aligned.
pub(crate) const HEADER_BYTES: usize = 24;
/// Most hash functions.
pub(crate) const MAX_HASHES: u32 = 32;
/// Largest bound on fetches: a whole range of a million keys in mini-trees of eight levels.
pub(crate) const MAX_PROBES: u32 = 4_096;
/// Fewest and most levels of a mini-tree.
pub(crate) const TREE_LEVELS: std::ops::RangeInclusive<u32> = 4..=8;

/// Which levels of the tree of all prefixes are stored. Level 0 holds the keys themselves, level l their `64 - l`
/// leading bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Levels {
    /// The lowest.
    pub(crate) low: u32,
    /// How many, upwards, at least one.
    pub(crate) count: u32,
}

/// The header before the lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Header {
    /// Seed of the hash.
    pub(crate) seed: u64,
    /// Most mini-trees a query fetches.
    pub(crate) max_probes: u32,
    /// Hash functions: places of each mini-tree.
    pub(crate) hash_count: u32,
    /// Levels of a mini-tree.
    pub(crate) tree_levels: u32,
    /// Stored levels.
    pub(crate) levels: Levels,
    /// How the levels were chosen and points are asked.
    pub(crate) variant: Variant,
    /// Share of ones, and how much it varies between lines.
    pub(crate) ones: Ones,
}

/// Share of ones in a line: its mean and its standard deviation over all lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ones {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// Steps in which shares are stored.
const SHARE_STEPS: f64 = 65_535.0;

fn stored_share(share: f64) -> [u8; 2] {
    #[expect(clippy::cast_possible_truncation, reason = "clamped to 0..=65,535")]
    let steps = (share * SHARE_STEPS).ceil().clamp(0.0, SHARE_STEPS) as u16;
    steps.to_le_bytes()
}

fn read_share(bytes: [u8; 2]) -> f64 {
    f64::from(u16::from_le_bytes(bytes)) / SHARE_STEPS
}

fn byte(number: u32) -> u8 {
    u8::try_from(number).expect("levels and hash functions are at most 64")
}

impl Header {
    /// Writes the header to the start of `body`.
    pub(crate) fn write(self, body: &mut [u8]) {
        body[..8].copy_from_slice(&self.seed.to_le_bytes());
        body[8..12].copy_from_slice(&self.max_probes.to_le_bytes());
        body[12] = byte(self.hash_count);
        body[13] = byte(self.tree_levels);
        body[14] = byte(self.levels.low);
        body[15] = byte(self.levels.count);
        body[16] = self.variant as u8;
        body[20..22].copy_from_slice(&stored_share(self.ones.mean));
        body[22..24].copy_from_slice(&stored_share(self.ones.deviation));
    }

    /// Reads the header of `body` and finds its lines.
    pub(crate) fn read(body: &[u8]) -> Result<(Self, Lines)> {
        let short = || Error::corrupt("a REncoder body is too short for a line");
        let lines = Lines::within(body.len()).ok_or_else(short)?;
        let header: &[u8; HEADER_BYTES] = body.first_chunk().ok_or_else(short)?;
        let variant = Variant::from_number(header[16]).ok_or_else(|| {
            Error::unsupported("the REncoder variant is not known to this version; update it")
        })?;
        let header = Self {
            seed: u64::from_le_bytes(*header.first_chunk().expect("24 bytes hold 8")),
            max_probes: u32::from_le_bytes(*header[8..].first_chunk().expect("16 bytes hold 4")),
            hash_count: u32::from(header[12]),
            tree_levels: u32::from(header[13]),
            levels: Levels { low: u32::from(header[14]), count: u32::from(header[15]) },
            variant,
            ones: Ones {
                mean: read_share([header[20], header[21]]),
                deviation: read_share([header[22], header[23]]),
            },
        };
        if header.is_sound() {
            Ok((header, lines))
        } else {
            Err(Error::corrupt("no REncoder has such levels"))
        }
    }

    fn is_sound(&self) -> bool {
        let Levels { low, count } = self.levels;
        TREE_LEVELS.contains(&self.tree_levels)
            && (1..=MAX_HASHES).contains(&self.hash_count)
            && (1..=MAX_PROBES).contains(&self.max_probes)
            && count >= 1
            && low + count <= u64::BITS
    }
}
