//! The filters of one column family, as a process configures them.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use lacuna_base::{Error, Result};
use lacuna_guard::{GapOptions, LearnedGaps};
use lacuna_rocksdb_property::{Direction, PartitionStore, Question, TableFacts, TableGuard, TableStats};
use rust_rocksdb::{Error as RocksError, Options};

use crate::GuardSpec;
use crate::live_tables::LiveTables;
use crate::raw_table::comparator_name;
use crate::read_range::ReadRange;
use crate::readable::Readable;
use crate::scan::GuardedScan;
use crate::shim;
use crate::table_listener::{add_table_listener, note_tables};

/// Range filters for one column family: a collector for its options, bounded reads that ask, and counts.
///
/// A clone shares counts and recorded queries.
///
/// ```
/// use lacuna_rocksdb::RangeFilters;
/// use rust_rocksdb::{DB, Options};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?;
/// let mut options = Options::default();
/// options.create_if_missing(true);
/// lacuna.install(&mut options);
/// let folder = tempfile::tempdir()?;
/// let db = DB::open(&options, folder.path())?;
/// for second in (0..2_000u64).map(|minute| minute * 60) {
///     db.put(second.to_be_bytes(), b"21.5")?;
/// }
/// db.flush()?;
///
/// let mut rows = lacuna.scan(&db, 7_201u64.to_be_bytes()..7_231u64.to_be_bytes());
/// assert!(rows.next_row()?.is_none());
/// assert_eq!(lacuna.stats().filters.skipped(), 1, "the one table was not read");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RangeFilters {
    guard: TableGuard,
}

impl RangeFilters {
    /// Filters of `spec`.
    pub fn new(spec: GuardSpec) -> Self {
        Self { guard: TableGuard::new(spec) }
    }

    /// Filters of the spec that `text` names, see [`GuardSpec`]. A text holds no secret: for a family that hashes under one, take
    /// [`new`](Self::new) and [`GuardSpec::with_secret`].
    ///
    /// # Errors
    /// `InvalidInput` that says which word is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let spec = GuardSpec::parse(text)?;
        spec.check()?;
        Ok(Self::new(spec))
    }

    /// Remembers `capacity` empty scans, one in `every`, instead of 20,000 and one in 100. What was remembered before is
    /// forgotten.
    #[must_use]
    pub fn with_sample_queue(mut self, capacity: usize, every: u64) -> Self {
        self.guard = self.guard.with_sample_queue(capacity, every);
        self
    }

    /// Sets the most bytes of one table's filter, instead of 256 MiB. RocksDB keeps the filter on the heap as long as the
    /// table is open; one that would take more gets fewer bits per key, and counts as coarsened.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.guard = self.guard.with_max_bytes(max_bytes);
        self
    }

    /// Also learns which gaps the tables have where filters let scans pass in vain, see
    /// [`GapLearner`](crate::GapLearner). Tables carry nothing more for it; old ones learn too.
    #[must_use]
    pub fn with_learned_gaps(mut self, options: GapOptions) -> Self {
        self.guard = self.guard.with_learned_gaps(options);
        self
    }

    /// The learned gaps; `None` unless [`with_learned_gaps`](Self::with_learned_gaps) asks for them.
    pub fn learned_gaps(&self) -> Option<&Arc<LearnedGaps>> {
        self.guard.learned_gaps()
    }

    /// Keeps the filters of new tables in files of `store`, cut by key range into partitions, of which memory holds those
    /// that are asked, within the store's budget. Without its file a table is read as one without a filter: backups and
    /// checkpoints, which do not copy the files, are right all the same.
    ///
    /// ```
    /// use lacuna_rocksdb::{PartitionStore, RangeFilters};
    /// use rust_rocksdb::{DB, Options};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// // At most 64 MiB of filters in memory, whatever the size of the database.
    /// let store = PartitionStore::open(folder.path().join("filters"), 64 << 20)?;
    /// let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?.with_partitions(&store);
    /// let mut options = Options::default();
    /// options.create_if_missing(true);
    /// lacuna.install(&mut options);
    /// let db = DB::open(&options, folder.path().join("db"))?;
    /// lacuna.remove_unused_partitions(&options, &db)?;
    /// for second in (0..2_000u64).map(|minute| minute * 60) {
    ///     db.put(second.to_be_bytes(), b"21.5")?;
    /// }
    /// db.flush()?;
    /// assert!(lacuna.get(&db, 7_201u64.to_be_bytes())?.is_none());
    /// assert_eq!(lacuna.stats().partitions.loads, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_partitions(mut self, store: &PartitionStore) -> Self {
        self.guard = self.guard.with_partitions(store);
        self
    }

    /// Removes the partition files of a database, just opened with `options`, that no table of it has: those that a crash
    /// has left. From then on files go with their tables, if [`install`](Self::install) or
    /// [`watch_tables`](Self::watch_tables) had the options of the database. Only for the process that writes: another does
    /// not know the newest tables. Returns how many were removed; none, if a table cannot be looked into: the options do not name the
    /// environment of the database, a table is not block-based, or damaged.
    ///
    /// # Errors
    /// Errors of RocksDB when it lists its tables.
    pub fn remove_unused_partitions<D: LiveTables>(
        &self,
        options: &Options,
        db: &D,
    ) -> Result<usize, RocksError> {
        let Some(store) = self.guard.partitions() else { return Ok(0) };
        let are_all_noted = note_tables(store, options, db)?;
        Ok(if are_all_noted { store.remove_unclaimed() } else { 0 })
    }

    /// Lets partition files go with their tables. [`install`](Self::install) does so too; this is for the options of a
    /// database whose filters are installed in those of its column families only.
    pub fn watch_tables(&self, options: &mut Options) {
        self.guard.partitions().into_iter().for_each(|store| add_table_listener(options, store));
    }

    /// Makes every table written with these options carry a filter: by flushes, compactions and ingestion through
    /// `SstFileWriter`. A remote compaction worker needs it in its own options. Filters that were installed before, in these
    /// options or those that they were cloned from, are replaced; what is set on `self` later does not reach the tables.
    ///
    /// # Panics
    /// If a comparator other than RocksDB's bytewise one has been set, or the spec needs a secret and has none, see [`try_install`](Self::try_install).
    pub fn install(&self, options: &mut Options) {
        self.try_install(options).unwrap_or_else(|problem| panic!("{problem}"));
    }

    /// As [`install`](Self::install), without a panic. Set the comparator first, so that it is checked.
    ///
    /// # Errors
    /// `InvalidInput` if the options have a comparator other than RocksDB's bytewise one: a reverse one, one of your own,
    /// or one with user-defined timestamps. Leave column families of such options without filters. Also if no table would get a
    /// filter: the spec hashes under a secret and has none, or its codec makes byte strings.
    ///
    /// ```
    /// use lacuna_rocksdb::RangeFilters;
    /// use rust_rocksdb::Options;
    ///
    /// let mut options = Options::default();
    /// options.set_comparator("backward", Box::new(|left: &[u8], right: &[u8]| right.cmp(left)));
    /// let problem = RangeFilters::parse("grafite@14")?.try_install(&mut options).unwrap_err();
    /// assert!(problem.to_string().contains("`backward`"), "{problem}");
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    pub fn try_install(&self, options: &mut Options) -> Result<()> {
        let foreign = comparator_name(options).filter(|name| name.as_bytes() != TableFacts::BYTEWISE);
        if let Some(name) = foreign {
            return Err(Error::invalid_input(format!(
                "range filters need RocksDB's bytewise comparator, and these options have `{name}`: leave their column \
                 family without filters"
            )));
        }
        self.spec().check()?;
        shim::add_collector(options, &self.guard);
        self.watch_tables(options);
        Ok(())
    }

    /// Makes the collector known to RocksDB by the name that OPTIONS files note, `LacunaRangeFilter`. Options loaded from
    /// such a file then build filters of the noted spec, with counts of their own; none of a spec that needs a secret, which no
    /// text holds. Once per process is enough.
    pub fn register() {
        shim::register();
    }

    /// Scans a range of a database, snapshot or transaction from its smallest key up.
    ///
    /// [`read`](Self::read) takes further options, a column family, or an iterator of RocksDB's own.
    pub fn scan<'a, R: Readable, K: AsRef<[u8]>>(
        &self,
        db: &'a R,
        range: impl RangeBounds<K>,
    ) -> GuardedScan<'a, R::Access> {
        self.read(range).scan(db)
    }

    /// A read of `range` from its smallest key up.
    ///
    /// Any bounds are taken: RocksDB's lower bound is inclusive and its upper exclusive, and an end of another kind is
    /// replaced by its immediate successor. An inverted range reads nothing.
    pub fn read<K: AsRef<[u8]>>(&self, range: impl RangeBounds<K>) -> ReadRange {
        self.ask(range, Direction::Forward)
    }

    /// A read of `range` from its largest key down.
    pub fn read_reverse<K: AsRef<[u8]>>(&self, range: impl RangeBounds<K>) -> ReadRange {
        self.ask(range, Direction::Reverse)
    }

    fn ask<K: AsRef<[u8]>>(&self, range: impl RangeBounds<K>, direction: Direction) -> ReadRange {
        let bounds = (borrow(range.start_bound()), borrow(range.end_bound()));
        ReadRange::new(Question::new(&self.guard, bounds, direction))
    }

    pub(crate) fn guard(&self) -> &TableGuard {
        &self.guard
    }

    /// The spec that is built.
    pub(crate) fn spec(&self) -> &GuardSpec {
        self.guard.spec()
    }

    /// The counts of this process so far.
    pub fn stats(&self) -> TableStats {
        self.guard.stats()
    }

    /// Number of empty scans remembered.
    pub fn sample_len(&self) -> usize {
        self.guard.queries().len()
    }

    /// The remembered scans as bytes, for a process that builds filters but answers no scan.
    pub fn sample_bytes(&self) -> Vec<u8> {
        self.guard.queries().to_bytes()
    }

    /// Remembers the scans in the [`sample_bytes`](Self::sample_bytes) of another process; returns how many.
    ///
    /// # Errors
    /// `Corrupt` or `Unsupported` if the bytes are damaged, newer, or of another codec; build without them then.
    pub fn seed_sample(&self, bytes: &[u8]) -> Result<usize> {
        self.guard.queries().seed_from_bytes(bytes)
    }
}

fn borrow<K: AsRef<[u8]>>(bound: Bound<&K>) -> Bound<&[u8]> {
    bound.map(AsRef::as_ref)
}
