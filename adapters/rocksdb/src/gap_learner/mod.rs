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
//! whose handle cannot name its files (`TransactionDB`), learn nothing. See `docs/design/rocksdb-gaps.md`.
//!
//! [`TableIdentity`]: lacuna_rocksdb_property::TableIdentity

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lacuna_core::{ByteRange, Error, Result};
use lacuna_guard::{FileTag, Hint, LearnedGaps, Neighbours, ReadBudget, Refuted};
use rust_rocksdb::{LiveFile, Options};

use crate::config::LacunaRocksDb;
use crate::gap_learner::open_tables::OpenTables;
use crate::gap_learner::surroundings::{Surroundings, look};
use crate::live_tables::LiveTables;

mod open_tables;
mod surroundings;

/// How long to sleep when there is no hint, and at most before `stop` is looked at.
const IDLE: Duration = Duration::from_millis(50);

/// Follows the hints of one database.
///
/// ```
/// use lacuna_rocksdb::{GapLearner, GapOptions, LacunaRocksDb};
/// use rust_rocksdb::{DB, Options};
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lacuna = LacunaRocksDb::parse("grafite@14 codec=fixed_be:8")?.with_learned_gaps(GapOptions::default());
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
    gaps: Arc<LearnedGaps>,
    tables: OpenTables,
    refuted: Refuted,
}

impl GapLearner {
    /// A learner for a database that was opened with `options`, of which only the file system is used.
    ///
    /// # Errors
    /// `InvalidInput` if `lacuna` is without [`with_learned_gaps`](LacunaRocksDb::with_learned_gaps).
    pub fn new(lacuna: &LacunaRocksDb, options: &Options) -> Result<Self> {
        let missing =
            || Error::invalid_input("these filters learn no gaps; ask for it by `with_learned_gaps`");
        let gaps = Arc::clone(lacuna.learned_gaps().ok_or_else(missing)?);
        let most_bytes = gaps.options().index_cache_bytes;
        Ok(Self { gaps, tables: OpenTables::new(options.clone(), most_bytes), refuted: Refuted::new() })
    }

    /// Follows hints as they come, within the budget of reads, until `stop` is set.
    pub fn run<D: LiveTables>(mut self, db: &D, stop: &AtomicBool) {
        let start = Instant::now();
        let mut budget = ReadBudget::new(self.gaps.options().reads_per_second, start.elapsed());
        while !stop.load(Ordering::Relaxed) {
            let Some(hint) = self.gaps.take_hint() else {
                thread::sleep(IDLE);
                continue;
            };
            let reads = self.follow(&hint, db);
            sleep_unless(stop, budget.spend(reads, start.elapsed()));
        }
    }

    /// Follows all hints that wait, whatever it costs.
    pub fn follow_all<D: LiveTables>(&mut self, db: &D) {
        while let Some(hint) = self.gaps.take_hint() {
            self.follow(&hint, db);
        }
    }

    /// Looks into the tables of a hint and returns how many blocks that took.
    fn follow<D: LiveTables>(&mut self, hint: &Hint, db: &D) -> u32 {
        let before = self.tables.reads();
        let (lo, hi) = hint.bounds();
        match (ByteRange::from_bounds(lo, hi), db.live_tables()) {
            (Some(range), Ok(files)) => {
                for &tag in &hint.tags {
                    self.follow_for(tag, hint, range, &files);
                }
            }
            (Some(_), Err(_)) => self.gaps.counters().gaps().count_failure(),
            (None, _) => {}
        }
        let reads = self.tables.reads() - before;
        self.gaps.counters().gaps().count_reads(reads);
        u32::try_from(reads).unwrap_or(u32::MAX)
    }

    fn follow_for(&mut self, tag: FileTag, hint: &Hint, range: ByteRange<'_>, files: &[LiveFile]) {
        let (lo, hi) = hint.bounds();
        let [number, _] = tag.halves();
        if self.gaps.is_known_empty(tag, lo, hi) || self.refuted.holds(number, hint) {
            return;
        }
        let counts = self.gaps.counters().gaps();
        let Some((table, file)) = self.tables.find(tag, range, files) else {
            return counts.count_unresolved();
        };
        match look(table, range) {
            Surroundings::Gap { below, above } => {
                counts.count_confirmation(true);
                self.gaps.open_file(tag).learn(&Neighbours {
                    below: below.as_deref(),
                    above: above.as_deref(),
                    smallest: file.start_key.as_deref().unwrap_or_default(),
                    largest: file.end_key.as_deref().unwrap_or_default(),
                });
            }
            Surroundings::NoGap => {
                counts.count_confirmation(false);
                self.refuted.note(number, hint);
            }
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
