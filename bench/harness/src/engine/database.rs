//! The interface of an engine to the driver.

use std::ops::Sub;

use lacuna_base::{ByteColumn, Result};
use lacuna_guard::GuardCodec;

use super::{FilterChoice, Question};

/// Makes databases.
pub trait Engine {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Writes a database, closes it, and opens it with an empty block cache.
    ///
    /// # Errors
    /// `InvalidInput` if the engine has no such filter; `Unavailable` if it fails.
    fn create(&self, plan: &DatabasePlan<'_>) -> Result<Box<dyn Database>>;
}

/// The keys, filters and shape of a database to write.
#[derive(Debug, Clone, Copy)]
pub struct DatabasePlan<'a> {
    /// Distinct ascending keys.
    pub keys: &'a ByteColumn,
    /// How filters of ours see them.
    pub codec: &'a GuardCodec,
    /// The filter of every file.
    pub filter: &'a FilterChoice,
    /// Recorded queries, as the adapter's queue writes them; filters may be designed by them.
    pub sample: &'a [u8],
    /// Bytes of each value, half of them zero.
    pub value_bytes: usize,
    /// Levels, each of which spans all keys.
    pub levels: usize,
    /// How many times more keys each level holds than the one above.
    pub size_ratio: u64,
    /// Bytes of the block cache.
    pub cache_bytes: u64,
    /// Seed of values, levels and hashes.
    pub seed: u64,
}

/// Which way a seek goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the smallest key up.
    #[default]
    Forward,
    /// From the largest key down.
    Reverse,
}

impl Direction {
    /// The word on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

/// An open database. It goes away with its files.
pub trait Database {
    /// Rows of a closed range, `max_rows` at most.
    ///
    /// # Errors
    /// `Unavailable` if the engine cannot read.
    fn seek(&self, question: &Question, direction: Direction, max_rows: u64) -> Result<u64>;

    /// Whether there is a row with this key: as the engine looks one up when it has no filter or its own, and as a seek
    /// of one key where only that asks ours.
    ///
    /// # Errors
    /// `Unavailable` if the engine cannot read.
    fn has(&self, key: &[u8]) -> Result<bool>;

    /// Lets [`Counts::read_ns`] run, which may slow reads down a little; nothing where the engine has no such clock.
    fn set_clocks(&self, _running: bool) {}

    /// The counts so far.
    fn counts(&self) -> Counts;

    /// Its files and filters.
    ///
    /// # Errors
    /// `Unavailable` if the engine does not report them.
    fn shape(&self) -> Result<Shape>;
}

/// Reads of a database since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Blocks of data fetched from below the block cache.
    pub data_blocks: u64,
    /// Files that a filter of ours kept closed.
    pub skipped: u64,
    /// Files opened in vain by seeks that found nothing.
    pub false_positives: u64,
    /// Nanoseconds spent fetching blocks while the clocks ran.
    pub read_ns: u64,
}

impl Sub for Counts {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        Self {
            data_blocks: self.data_blocks - earlier.data_blocks,
            skipped: self.skipped - earlier.skipped,
            false_positives: self.false_positives - earlier.false_positives,
            read_ns: self.read_ns - earlier.read_ns,
        }
    }
}

/// Files and filters of a database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// Files.
    pub files: usize,
    /// Bytes of all filters together.
    pub filter_bytes: u64,
    /// Where blocks come from that are not cached, such as `direct I/O`.
    pub io: &'static str,
}
