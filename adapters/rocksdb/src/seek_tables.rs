//! The next key of a wide or open range, with a read of few tables: SuRF's Seek over RocksDB.
//!
//! **Problem.** `table_filter` helps where a range is closed and short. "The first key at or above `from`" has no upper end
//! that a filter could deny, so an iterator reads a block of every level.
//!
//! **Idea.** Tables are asked one by one, beside RocksDB, where their next key may begin; [`SeekPlanner`] says which comes
//! first and which next. With candidates 12, 40 and 70 the range `[from, 40)` is read as any other: tables are denied it
//! but the one with 12. Only if nothing is found there (its key is behind 40, or deleted) does the next stretch follow.
//!
//! **Guarantee.** What is returned is what RocksDB's own iterator returns: every stretch is read through
//! [`LacunaRocksDb::read`] from the database, snapshot or transaction, with its memtables, versions and deletions, and the
//! stretches follow each other without a hole. What is known of the tables only says where to cut. If that is old, because
//! tables have come and gone, or says nothing, because filters are of another family, more is read and nothing is lost.
//! After [`MOST_STRETCHES`] the rest is read in one.
//!
//! **Cost.** An iterator for each stretch, usually one. A copy of each SuRF, and of the bounds of all tables.
//!
//! Zhang and others, "SuRF", SIGMOD 2018, section 5 (Seek). Ours: stretches instead of cursors over single files, since
//! only RocksDB knows what hides an entry. See `docs/design/rocksdb-seek.md`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Bound, RangeBounds};

use lacuna_core::ByteRange;
use lacuna_guard::{SeekPlanner, SeekStep};
use lacuna_rocksdb_property::{Direction, PROPERTY_NAME, SeekRun, SeekTable};
use rust_rocksdb::{Error, LiveFile, Options};

use crate::config::LacunaRocksDb;
use crate::live_tables::{LiveTables, path};
use crate::raw_table::RawTable;
use crate::readable::Readable;

/// Stretches of a range that are read one by one before the rest is read in one.
const MOST_STRETCHES: usize = 4;

/// A key and its value.
pub type OwnedRow = (Vec<u8>, Vec<u8>);

type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// What is known of a database's tables, to plan seeks with.
///
/// ```
/// use lacuna_rocksdb::{LacunaRocksDb, SeekTables};
/// use rust_rocksdb::{DB, Options};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lacuna = LacunaRocksDb::parse("surf@20 codec=fixed_be:8")?;
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
/// let (key, _) = tables.first(&db.snapshot(), 4_001u64.to_be_bytes()..)?.expect("keys follow");
/// assert_eq!(key, 5_000u64.to_be_bytes());
/// # Ok(())
/// # }
/// ```
pub struct SeekTables {
    lacuna: LacunaRocksDb,
    options: Options,
    family: String,
    runs: Vec<SeekRun>,
}

impl SeekTables {
    /// Reads the bounds and properties of the tables of a database that was opened with `options`, in its default column
    /// family.
    ///
    /// # Errors
    /// What RocksDB says when it is asked for its tables.
    pub fn load<D: LiveTables>(lacuna: &LacunaRocksDb, options: &Options, db: &D) -> Result<Self, Error> {
        let mut tables = Self {
            lacuna: lacuna.clone(),
            options: options.clone(),
            family: "default".to_owned(),
            runs: Vec::new(),
        };
        tables.refresh(db)?;
        Ok(tables)
    }

    /// Reads them again: worth it once flushes and compactions have replaced many, and never needed for a right answer.
    ///
    /// # Errors
    /// As [`load`](Self::load); what was known is then kept.
    pub fn refresh<D: LiveTables>(&mut self, db: &D) -> Result<(), Error> {
        let files = db.live_tables()?;
        let mut levels: BTreeMap<i32, Vec<SeekTable>> = BTreeMap::new();
        for file in files.iter().filter(|file| file.column_family_name == self.family) {
            levels.entry(file.level).or_default().push(self.open(file));
        }
        let level_0 =
            levels.remove(&0).unwrap_or_default().into_iter().map(|table| SeekRun::new(vec![table]));
        self.runs = level_0.chain(levels.into_values().map(SeekRun::new)).collect();
        Ok(())
    }

    fn open(&self, file: &LiveFile) -> SeekTable {
        let table = RawTable::open(&self.options, &path(file));
        let property = table.as_ref().and_then(|table| table.property(PROPERTY_NAME));
        let ends = (file.start_key.clone().unwrap_or_default(), file.end_key.clone().unwrap_or_default());
        SeekTable::new(ends.0, ends.1, property, self.lacuna.spec().codec())
    }

    /// The first row of the range. Give a snapshot or a transaction with one if others write meanwhile: a range that is
    /// read in several stretches is else not read at one moment.
    ///
    /// # Errors
    /// What RocksDB could not read.
    pub fn first<R: Readable, K: AsRef<[u8]>>(
        &self,
        readable: &R,
        range: impl RangeBounds<K>,
    ) -> Result<Option<OwnedRow>, Error> {
        self.seek(readable, owned(&range), Direction::Forward)
    }

    /// The last row of the range; as [`first`](Self::first).
    ///
    /// # Errors
    /// What RocksDB could not read.
    pub fn last<R: Readable, K: AsRef<[u8]>>(
        &self,
        readable: &R,
        range: impl RangeBounds<K>,
    ) -> Result<Option<OwnedRow>, Error> {
        self.seek(readable, owned(&range), Direction::Reverse)
    }

    /// Tables whose filters name next keys, and all tables.
    pub fn seekable(&self) -> (usize, usize) {
        let tables = || self.runs.iter().flat_map(SeekRun::tables);
        (tables().filter(|table| table.is_seekable()).count(), tables().count())
    }

    /// Bytes of memory that the copies of filters and bounds take.
    pub fn memory_bytes(&self) -> usize {
        self.runs.iter().flat_map(SeekRun::tables).map(SeekTable::memory_bytes).sum()
    }

    fn seek<R: Readable>(
        &self,
        readable: &R,
        mut left: Bounds,
        direction: Direction,
    ) -> Result<Option<OwnedRow>, Error> {
        let whole = left.clone();
        for stretch in 0..=MOST_STRETCHES {
            let cut = if stretch < MOST_STRETCHES { self.cut(&left, direction) } else { None };
            let Some(cut) = cut else { break };
            let (now, later) = split(left, cut, direction);
            if let Some(row) = self.read_one(readable, now, direction)? {
                return Ok(Some(row));
            }
            left = later;
        }
        let found = self.read_one(readable, left, direction)?;
        if found.is_none() {
            self.lacuna.read::<Vec<u8>>(whole).into_parts().1.note_empty();
        }
        Ok(found)
    }

    /// The second place at which a table's next key may be: up to there, only tables with the first are read. `None` if
    /// all tables are to be read at once, or none.
    fn cut(&self, left: &Bounds, direction: Direction) -> Option<Bound<Vec<u8>>> {
        let (lo, hi) = (left.0.as_ref().map(Vec::as_slice), left.1.as_ref().map(Vec::as_slice));
        let range = ByteRange::from_bounds(lo, hi)?;
        let mut planner = match direction {
            Direction::Forward => SeekPlanner::<[u8]>::forward(range),
            Direction::Reverse => SeekPlanner::<[u8]>::backward(range),
        };
        self.runs.iter().enumerate().for_each(|(number, run)| planner.add_seekable(number, run));
        let first = next_place(&planner)?;
        loop {
            planner.report(None);
            let place = next_place(&planner)?;
            if place != first {
                return Some(place);
            }
        }
    }

    fn read_one<R: Readable>(
        &self,
        readable: &R,
        bounds: Bounds,
        direction: Direction,
    ) -> Result<Option<OwnedRow>, Error> {
        let read = match direction {
            Direction::Forward => self.lacuna.read::<Vec<u8>>(bounds),
            Direction::Reverse => self.lacuna.read_reverse::<Vec<u8>>(bounds),
        };
        // A stretch is not what the user asked for, and is not noted.
        let mut rows = readable.raw(read.into_options());
        match direction {
            Direction::Forward => rows.seek_to_first(),
            Direction::Reverse => rows.seek_to_last(),
        }
        let row = rows.item().map(|(key, value)| (key.to_vec(), value.to_vec()));
        rows.status().map(|()| row)
    }
}

/// Where the file whose turn it is may hold a key.
fn next_place(planner: &SeekPlanner<'_, [u8]>) -> Option<Bound<Vec<u8>>> {
    match planner.step() {
        SeekStep::Open { at, .. } => Some(at.map(<[u8]>::to_vec)),
        SeekStep::Key { key, .. } => Some(Bound::Included(key.to_vec())),
        SeekStep::Done => None,
    }
}

/// The part of a range before a place, in the direction of the seek, and the part from there on.
fn split(left: Bounds, place: Bound<Vec<u8>>, direction: Direction) -> (Bounds, Bounds) {
    let before = match place.clone() {
        Bound::Included(key) => Bound::Excluded(key),
        Bound::Excluded(key) => Bound::Included(key),
        Bound::Unbounded => Bound::Unbounded,
    };
    match direction {
        Direction::Forward => ((left.0, before), (place, left.1)),
        Direction::Reverse => ((before, left.1), (left.0, place)),
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
