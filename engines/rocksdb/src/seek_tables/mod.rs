//! The next key of a wide or open range, with a read of few tables: SuRF's Seek over RocksDB.
//!
//! **Problem.** `table_filter` helps where a range is closed and short. "The first key at or above `from`" has no upper end
//! that a filter could deny, so an iterator reads a block of every level.
//!
//! **Idea.** Tables are asked one by one, beside RocksDB, where their next key may begin; a plan says which comes
//! first and which next. With candidates 12, 40 and 70 the range `[from, 40)` is read as any other: every table but the
//! one with 12 is skipped. Only if nothing is found there (its key is after 40, or deleted) `[from, 70)` is read next.
//!
//! **Guarantee.** What is returned is what RocksDB's own iterator returns at one moment: every attempt is one iterator
//! through [`RangeFilters::read`] from the start of the range, over the database, snapshot or transaction with its
//! memtables, versions and deletions. What is known of the tables only says how far to read. If that is old, because
//! tables have come and gone, or says nothing, because filters are of another family, more is read and nothing is lost.
//! After [`MAX_ATTEMPTS`] the whole range is read.
//!
//! **Cost.** An iterator for each attempt, usually one; the blocks of an attempt that found nothing are met again by the
//! next. A copy of each SuRF, and of the bounds of all tables.
//!
//! Zhang and others, "SuRF", SIGMOD 2018, section 5 (Seek). Ours: ranges instead of cursors over single files, since
//! only RocksDB knows what hides an entry. See [`docs/design/rocksdb-seek.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/rocksdb-seek.md).

use std::collections::HashMap;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use lacuna_rocksdb_property::{Direction, SeekRun, SeekTable};
use rust_rocksdb::{AsColumnFamilyRef, DBAccess, DBRawIteratorWithThreadMode, Error, Options, ReadOptions};

use crate::config::RangeFilters;
use crate::live_tables::{FileKey, LiveTables};
use crate::read_range::Outcome;
use crate::readable::Readable;
use crate::refusal::{check, foreign_comparator};
use crate::seek_tables::plan::{Bounds, cut, split};

mod plan;
mod refresh;

/// Parts of a range that are tried before the whole is read.
const MAX_ATTEMPTS: usize = 4;
/// The column family that databases have without naming one.
const DEFAULT_FAMILY: &str = "default";

/// A key and its value.
pub type OwnedRow = (Vec<u8>, Vec<u8>);

/// Bounds and filters of the tables of one column family, to plan seeks with.
///
/// ```
/// use lacuna_rocksdb::{RangeFilters, SeekTables};
/// use rust_rocksdb::{DB, Options};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lacuna = RangeFilters::parse("surf@20 codec=fixed_be:8")?;
/// let mut options = Options::default();
/// options.create_if_missing(true);
/// lacuna.install(&mut options);
/// let folder = tempfile::tempdir()?;
/// let db = DB::open(&options, folder.path())?;
/// for table in 0..3u64 {
///     (0..100).for_each(|row: u64| db.put((row * 3_000 + table * 1_000).to_be_bytes(), b"21.5").expect("room"));
///     db.flush()?;
/// }
/// let tables = SeekTables::load(&lacuna, &options, &db)?;
/// let (key, _) = tables.first(&db, 4_001u64.to_be_bytes()..)?.expect("keys follow");
/// assert_eq!(key, 5_000u64.to_be_bytes());
/// # Ok(())
/// # }
/// ```
pub struct SeekTables {
    lacuna: RangeFilters,
    options: Options,
    family: String,
    runs: Vec<SeekRun>,
    /// The tables of all runs, but those that could not be read when they were met.
    known: HashMap<FileKey, Arc<SeekTable>>,
}

impl SeekTables {
    /// Reads the bounds and properties of the tables of a database that was opened with `options`, in its default column
    /// family.
    ///
    /// # Errors
    /// Errors of RocksDB when it lists its tables.
    pub fn load<D: LiveTables>(lacuna: &RangeFilters, options: &Options, db: &D) -> Result<Self, Error> {
        Self::load_cf(lacuna, options, db, DEFAULT_FAMILY)
    }

    /// As [`load`](Self::load), in the column family with this name, whose options are given; for
    /// [`first_cf`](Self::first_cf) and [`last_cf`](Self::last_cf).
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_cf<D: LiveTables>(
        lacuna: &RangeFilters,
        options: &Options,
        db: &D,
        column_family: &str,
    ) -> Result<Self, Error> {
        let mut tables = Self {
            lacuna: lacuna.clone(),
            options: options.clone(),
            family: column_family.to_owned(),
            runs: Vec::new(),
            known: HashMap::new(),
        };
        tables.refresh(db)?;
        Ok(tables)
    }

    /// The first row of the range, as it is at one moment.
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    pub fn first<R: Readable, K: AsRef<[u8]>>(
        &self,
        readable: &R,
        range: impl RangeBounds<K>,
    ) -> Result<Option<OwnedRow>, Error> {
        let foreign = readable.foreign_comparator();
        self.seek(|options| readable.raw(options), foreign, &owned(&range), Direction::Forward)
    }

    /// The last row of the range, as it is at one moment.
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    pub fn last<R: Readable, K: AsRef<[u8]>>(
        &self,
        readable: &R,
        range: impl RangeBounds<K>,
    ) -> Result<Option<OwnedRow>, Error> {
        let foreign = readable.foreign_comparator();
        self.seek(|options| readable.raw(options), foreign, &owned(&range), Direction::Reverse)
    }

    /// As [`first`](Self::first), in the column family that was named to [`load_cf`](Self::load_cf); in another the
    /// answer is right and the plan is not.
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    pub fn first_cf<R: Readable, K: AsRef<[u8]>>(
        &self,
        readable: &R,
        column_family: &impl AsColumnFamilyRef,
        range: impl RangeBounds<K>,
    ) -> Result<Option<OwnedRow>, Error> {
        let foreign = foreign_comparator(column_family);
        self.seek(
            |options| readable.raw_cf(column_family, options),
            foreign,
            &owned(&range),
            Direction::Forward,
        )
    }

    /// As [`last`](Self::last), in the column family that was named to [`load_cf`](Self::load_cf).
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    pub fn last_cf<R: Readable, K: AsRef<[u8]>>(
        &self,
        readable: &R,
        column_family: &impl AsColumnFamilyRef,
        range: impl RangeBounds<K>,
    ) -> Result<Option<OwnedRow>, Error> {
        let foreign = foreign_comparator(column_family);
        self.seek(
            |options| readable.raw_cf(column_family, options),
            foreign,
            &owned(&range),
            Direction::Reverse,
        )
    }

    /// Tables whose filters name next keys, and all tables.
    pub fn seekable(&self) -> (usize, usize) {
        let tables = || self.runs.iter().flat_map(SeekRun::tables);
        (tables().filter(|table| table.is_seekable()).count(), tables().count())
    }

    /// Bytes of memory that the copies of filters and bounds take.
    pub fn memory_bytes(&self) -> usize {
        self.runs.iter().flat_map(SeekRun::tables).map(|table| table.memory_bytes()).sum()
    }

    fn seek<'a, D: DBAccess + 'a>(
        &self,
        iterate: impl Fn(ReadOptions) -> DBRawIteratorWithThreadMode<'a, D>,
        foreign_comparator: Option<String>,
        range: &Bounds,
        direction: Direction,
    ) -> Result<Option<OwnedRow>, Error> {
        check(foreign_comparator.as_deref())?;
        // Where nothing was found need not be planned again.
        let mut unseen = range.clone();
        for _ in 0..MAX_ATTEMPTS {
            let Some(cut) = cut(&self.runs, &unseen, direction) else { break };
            let (near, behind) = split(range, cut, direction);
            if let (Some(row), _) = self.read(&iterate, near, direction)? {
                return Ok(Some(row));
            }
            unseen = behind;
        }
        let (row, outcome) = self.read(&iterate, range.clone(), direction)?;
        if row.is_none() {
            outcome.note_empty();
        }
        Ok(row)
    }

    /// The first row in this direction, and the place to say that there is none.
    fn read<'a, D: DBAccess + 'a>(
        &self,
        iterate: impl Fn(ReadOptions) -> DBRawIteratorWithThreadMode<'a, D>,
        bounds: Bounds,
        direction: Direction,
    ) -> Result<(Option<OwnedRow>, Outcome), Error> {
        let read = match direction {
            Direction::Forward => self.lacuna.read::<Vec<u8>>(bounds),
            Direction::Reverse => self.lacuna.read_reverse::<Vec<u8>>(bounds),
        };
        let (options, outcome) = read.into_parts();
        let mut rows = iterate(options);
        match direction {
            Direction::Forward => rows.seek_to_first(),
            Direction::Reverse => rows.seek_to_last(),
        }
        check(outcome.question().foreign_comparator())?;
        let row = rows.item().map(|(key, value)| (key.to_vec(), value.to_vec()));
        rows.status().map(|()| (row, outcome))
    }
}

fn owned<K: AsRef<[u8]>>(range: &impl RangeBounds<K>) -> Bounds {
    let copy = |bound: Bound<&K>| bound.map(|key| key.as_ref().to_vec());
    (copy(range.start_bound()), copy(range.end_bound()))
}

impl fmt::Debug for SeekTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeekTables")
            .field("lacuna", &self.lacuna)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}
