//! Bytes of Rosetta: [`docs/format/rosetta.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rosetta.md).

use lacuna_base::{Error, Result};
use lacuna_succinct::bytes::load_u32;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the table of levels.
pub(crate) const HEADER_BYTES: usize = 16;
/// Bytes of an entry of that table.
pub(crate) const ENTRY_BYTES: usize = 8;
/// Bytes of a word: filters are whole words.
pub(crate) const WORD_BYTES: usize = 8;
/// Levels there are: level h holds the keys without their low h bits.
pub(crate) const LEVELS: usize = 64;
/// Most bits a prefix sets.
pub(crate) const MAX_HASHES: u32 = 32;
/// Largest bound on probes.
pub(crate) const MAX_PROBES: u32 = 1 << 20;

/// The Bloom filter of one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Level {
    /// Words of its bits; 0 where the level has no filter.
    pub(crate) words: u32,
    /// Words of all filters before it.
    pub(crate) start: u32,
    /// Bits a prefix sets.
    pub(crate) hash_count: u16,
    /// Share of ones, in steps of 1/65,535, rounded up.
    pub(crate) ones: u16,
}

/// Steps in which shares are stored.
const SHARE_STEPS: f64 = 65_535.0;

impl Level {
    /// Number of bits.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.words) * 64
    }

    /// Notes that `ones` of the bits are set.
    pub(crate) fn with_ones(self, ones: u64) -> Self {
        let steps = (ones as f64 / self.bits() as f64 * SHARE_STEPS).ceil().clamp(0.0, SHARE_STEPS);
        #[expect(clippy::cast_possible_truncation, reason = "clamped to 0..=65,535")]
        let ones = steps as u16;
        Self { ones, ..self }
    }

    /// Share of ones, not rounded down.
    pub(crate) fn share_of_ones(self) -> f64 {
        f64::from(self.ones) / SHARE_STEPS
    }
}

/// The header before the filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Seed of the hash.
    pub(crate) seed: u64,
    /// Most prefixes a query asks for.
    pub(crate) max_probes: u32,
    /// A one for each level that has a filter.
    pub(crate) filtered: u64,
    /// All levels, from the keys upwards.
    pub(crate) levels: [Level; LEVELS],
}

/// Bytes of the header of a body with this many filters.
pub(crate) const fn header_bytes(filters: usize) -> usize {
    HEADER_BYTES + filters * ENTRY_BYTES
}

impl Header {
    /// The levels that have a filter, ascending, with their height.
    pub(crate) fn filters(&self) -> impl Iterator<Item = (usize, Level)> {
        self.levels.into_iter().enumerate().filter(|(_, level)| level.words > 0)
    }

    /// First byte of the filters.
    pub(crate) fn bits_offset(&self) -> usize {
        header_bytes(self.filtered.count_ones() as usize)
    }

    /// Bytes of the whole body.
    pub(crate) fn body_bytes(&self) -> usize {
        self.bits_offset() + self.filters().map(|(_, level)| level.words as usize * WORD_BYTES).sum::<usize>()
    }

    /// Writes the header to the start of `body`.
    pub(crate) fn write(&self, body: &mut [u8]) {
        body[..8].copy_from_slice(&self.seed.to_le_bytes());
        body[8..12].copy_from_slice(&self.max_probes.to_le_bytes());
        body[12..16].copy_from_slice(&self.filtered.count_ones().to_le_bytes());
        let entries = body[HEADER_BYTES..].as_chunks_mut::<ENTRY_BYTES>().0;
        for (entry, (height, level)) in entries.iter_mut().zip(self.filters()) {
            entry[..4].copy_from_slice(&level.words.to_le_bytes());
            entry[4] = u8::try_from(height).expect("below 64");
            entry[5] = u8::try_from(level.hash_count).expect("at most 32");
            entry[6..].copy_from_slice(&level.ones.to_le_bytes());
        }
    }

    /// Reads the header of `body`, whose length it must explain.
    pub(crate) fn read(body: &[u8]) -> Result<Self> {
        let short = || Error::corrupt("a Rosetta body is shorter than its header");
        let start: &[u8; HEADER_BYTES] = body.first_chunk().ok_or_else(short)?;
        let filters = load_u32(start, 12) as usize;
        let entries = body.get(HEADER_BYTES..header_bytes(filters.min(LEVELS))).ok_or_else(short)?;
        let mut header = Self {
            seed: u64::from_le_bytes(*start.first_chunk().expect("16 bytes hold 8")),
            max_probes: load_u32(start, 8),
            filtered: 0,
            levels: [Level::default(); LEVELS],
        };
        for entry in entries.as_chunks::<ENTRY_BYTES>().0 {
            header.read_entry(entry)?;
        }
        let is_whole = header.filtered.count_ones() as usize == filters && header.body_bytes() == body.len();
        if is_whole && header.filtered & 1 == 1 && (1..=MAX_PROBES).contains(&header.max_probes) {
            Ok(header)
        } else {
            Err(Error::corrupt("no Rosetta has such levels"))
        }
    }

    /// Adds the level that `entry` describes after the ones before.
    fn read_entry(&mut self, entry: &[u8; ENTRY_BYTES]) -> Result<()> {
        let &[.., height, hash_count, low, high] = entry;
        let words = load_u32(entry, 0);
        let start = self.filters().last().map_or(Some(0), |(_, level)| level.start.checked_add(level.words));
        let ascends = self.filtered.checked_ilog2().is_none_or(|last| last < u32::from(height));
        let is_sound = usize::from(height) < LEVELS
            && ascends
            && words > 0
            && (1..=MAX_HASHES).contains(&u32::from(hash_count));
        let Some(start) = start.filter(|_| is_sound) else {
            return Err(Error::corrupt(format!("a Rosetta has no such filter of level {height}")));
        };
        self.filtered |= 1 << height;
        self.levels[usize::from(height)] =
            Level { words, start, hash_count: u16::from(hash_count), ones: u16::from_le_bytes([low, high]) };
        Ok(())
    }
}
