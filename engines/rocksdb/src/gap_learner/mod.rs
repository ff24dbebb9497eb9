//! Learns the gaps of tables from their raw entries, in the background.
//!
//! A scan that returned no row hints at the tables whose filters let it pass. For each of them this looks into the file
//! itself: which keys stand left and right of the scan's range, among all entries, whatever their type and sequence
//! number? If there is none between them, the gap is learned, and the next scan in it does not read the table. If there
//! is one (deleted, expired, or invisible to the scan), nothing is, and the same hint is not followed again for a while.
//!
//! With the keys 10 and 90 side by side in a table and a scan of `50..60` that its filter let pass, one look teaches
//! that nothing is in `[11, 89]`.
//!
//! A table is known by the session that wrote it and the number it got there ([`TableIdentity`]): both are in its
//! properties, which RocksDB shows to the filter and which are read here from the file. A look takes the index of the
//! table, its properties and one or two blocks; a few tables stay open. Tables that are not block-based, and databases
//! whose handle cannot name its files (`TransactionDB`), learn nothing. See [`docs/design/rocksdb-gaps.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/rocksdb-gaps.md).
//!
//! [`TableIdentity`]: lacuna_rocksdb_property::TableIdentity

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lacuna_base::{ByteRange, Error, Result};
use lacuna_guard::{FileTag, Hint, Looks, Neighbours, ReadBudget};
use rust_rocksdb::{LiveFile, Options};

use crate::config::RangeFilters;
use crate::gap_learner::open_tables::OpenTables;
use crate::gap_learner::surroundings::{Surroundings, look};
use crate::live_tables::LiveTables;

mod open_tables;
mod surroundings;

/// How long to sleep when there is no hint, and at most before `stop` is looked at.
const IDLE: Duration = Duration::from_millis(50);
/// How long tables stay open without a hint: an open file keeps its space on the disk after compaction has deleted it.
const OPEN_WHILE_IDLE: Duration = Duration::from_secs(2);

/// Follows the hints of one database.
///
/// ```
/// use lacuna_rocksdb::{GapLearner, GapOptions, RangeFilters};
/// use rust_rocksdb::{DB, Options};
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?.with_learned_gaps(GapOptions::default());
/// let mut options = Options::default();
/// options.create_if_missing(true);
/// lacuna.install(&mut options);
/// let folder = tempfile::tempdir()?;
/// let db = DB::open(&options, folder.path())?;
/// let (learner, stop) = (GapLearner::new(&lacuna, &options)?, AtomicBool::new(false));
/// std::thread::scope(|scope| {
///     scope.spawn(|| learner.run(&db, &stop));
///     // Scans through `lacuna.read` now leave hints, and find gaps.
///     stop.store(true, Ordering::Relaxed);
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GapLearner {
    looks: Looks,
    tables: OpenTables,
}

impl GapLearner {
    /// A learner for a database that was opened with `options`; only their file system is used.
    ///
    /// # Errors
    /// `InvalidInput` if `lacuna` is without [`with_learned_gaps`](RangeFilters::with_learned_gaps).
    pub fn new(lacuna: &RangeFilters, options: &Options) -> Result<Self> {
        let missing =
            || Error::invalid_input("these filters learn no gaps; ask for it by `with_learned_gaps`");
        let gaps = Arc::clone(lacuna.learned_gaps().ok_or_else(missing)?);
        let max_bytes = gaps.options().index_cache_bytes;
        Ok(Self { looks: Looks::new(gaps), tables: OpenTables::new(options.clone(), max_bytes) })
    }

    /// Follows hints as they come, within the budget of reads, until `stop` is set. Without a hint for two seconds it
    /// keeps no table open.
    pub fn run<D: LiveTables>(mut self, db: &D, stop: &AtomicBool) {
        let start = Instant::now();
        let mut budget = ReadBudget::new(self.looks.gaps().options().reads_per_second, start.elapsed());
        let mut idle = Duration::ZERO;
        while !stop.load(Ordering::Relaxed) {
            if let Some(hint) = self.looks.gaps().take_hint() {
                idle = Duration::ZERO;
                let cost = self.follow(&hint, db);
                sleep_unless(stop, budget.spend(cost, start.elapsed()));
            } else {
                thread::sleep(IDLE);
                idle += IDLE;
                if idle > OPEN_WHILE_IDLE {
                    self.tables.close();
                }
            }
        }
    }

    /// Follows all hints that wait, whatever it costs.
    pub fn follow_all<D: LiveTables>(&mut self, db: &D) {
        while let Some(hint) = self.looks.gaps().take_hint() {
            self.follow(&hint, db);
        }
    }

    /// Looks into the tables of a hint and returns what that costs: as many reads as it took, and one at least if the
    /// database had to be asked for its tables.
    fn follow<D: LiveTables>(&mut self, hint: &Hint, db: &D) -> u32 {
        let (lo, hi) = hint.bounds();
        let tags = hint.tags.iter().copied().filter(|&tag| !self.looks.is_settled(tag, hint));
        let tags: Vec<FileTag> = tags.collect();
        let Some(range) = ByteRange::from_bounds(lo, hi).filter(|_| !tags.is_empty()) else { return 0 };
        let before = self.tables.reads();
        match db.live_tables() {
            Ok(files) => {
                self.tables.forget_gone(&files);
                tags.into_iter().for_each(|tag| self.follow_for(tag, hint, range, &files));
            }
            Err(_) => self.looks.gaps().counters().gaps().count_failure(),
        }
        let reads = self.tables.reads() - before;
        self.looks.gaps().counters().gaps().count_reads(reads);
        u32::try_from(reads.max(1)).unwrap_or(u32::MAX)
    }

    fn follow_for(&mut self, tag: FileTag, hint: &Hint, range: ByteRange<'_>, files: &[LiveFile]) {
        let counts = self.looks.gaps().counters().gaps();
        let (table, file) = match self.tables.find(tag, range, files) {
            Ok(Some(found)) => found,
            Ok(None) => return counts.count_unresolved(),
            Err(_) => return counts.count_failure(),
        };
        let (Some(smallest), Some(largest)) = (&file.start_key, &file.end_key) else {
            return counts.count_unresolved();
        };
        match look(table, range) {
            Surroundings::Gap { below, above } => {
                let (below, above) = (below.as_deref(), above.as_deref());
                self.looks.conclude(tag, hint, Some(&Neighbours { below, above, smallest, largest }));
            }
            Surroundings::NoGap => self.looks.conclude(tag, hint, None),
            Surroundings::Failed => counts.count_failure(),
        }
    }
}

/// Sleeps, and looks at `stop` meanwhile.
fn sleep_unless(stop: &AtomicBool, mut left: Duration) {
    while !left.is_zero() && !stop.load(Ordering::Relaxed) {
        let step = left.min(IDLE);
        thread::sleep(step);
        left -= step;
    }
}
