//! Many ranges or keys in one call.
//!
//! **Problem.** An iterator for each prefix costs several microseconds, nearly all of them for the iterator itself.
//!
//! **Idea.** One iterator for all ranges, whose table filter asks each table about all of them at once and then skips
//! it. Only the rows of memtables are left in the iterator, and of the transaction, if it is one. Ranges and rows are both
//! sorted, so they are merged.
//!
//! **Guarantee.** The iterator is RocksDB's own and shows one moment: a row is in a table that was asked, or is met. What
//! hides a row (deletions, newer versions, a snapshot) can only make an answer "maybe" that could be "no". So does a merge
//! that fails without the value below it, which is in a table that was not read.
//!
//! **Cost.** A batch of questions for each table, and a step for each row of the memtables between the first and the last
//! range; long stretches of rows between two ranges are jumped over.

use std::ops::{Bound, RangeBounds};

use lacuna_rocksdb_property::{OwnedBounds, Questions};
use rust_rocksdb::{AsColumnFamilyRef, DBAccess, DBRawIteratorWithThreadMode, Error, ErrorKind, ReadOptions};

use crate::config::RangeFilters;
use crate::read_range::{bounded, facts, total_order};
use crate::readable::Readable;
use crate::refusal::{check, foreign_comparator};
use crate::scan::GuardedScan;

/// Steps over rows before the iterator jumps. A jump goes past the tables of every level again.
const MAX_STEPS: usize = 256;

/// What is known of a range without reading a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Empty,
    Maybe,
    Row,
}

impl RangeFilters {
    /// For each range, whether it may have a row in a database, snapshot or transaction; `false` proves that it has none.
    /// Reads no block of any table that has a filter. Answers are in the order of the ranges, which may overlap.
    ///
    /// A merge operator is called for operands in memtables without the value below them, which is in a table. One that returns
    /// `None` then makes the answer "maybe"; one that panics ends the process, as RocksDB calls it from C.
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    ///
    /// ```
    /// use lacuna_rocksdb::{RangeFilters, prefix_range};
    /// use rust_rocksdb::{DB, Options};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lacuna = RangeFilters::parse("surf@30")?;
    /// let mut options = Options::default();
    /// options.create_if_missing(true);
    /// lacuna.install(&mut options);
    /// let folder = tempfile::tempdir()?;
    /// let db = DB::open(&options, folder.path())?;
    /// ["user/7/mail", "user/9/mail"].into_iter().try_for_each(|key| db.put(key, b""))?;
    /// db.flush()?;
    /// db.put("user/3/mail", b"")?;
    ///
    /// let users = ["user/3/", "user/5/", "user/7/"].map(|prefix| prefix_range(prefix.as_bytes()));
    /// assert_eq!(lacuna.may_contain_ranges(&db, users.clone())?, [true, false, true]);
    /// assert_eq!(lacuna.contains_ranges(&db, users)?, [true, false, true]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn may_contain_ranges<R: Readable, K: AsRef<[u8]>>(
        &self,
        db: &R,
        ranges: impl IntoIterator<Item = impl RangeBounds<K>>,
    ) -> Result<Vec<bool>, Error> {
        let known = self.ask_many(&owned(ranges), db.foreign_comparator(), |options| db.raw(options))?;
        Ok(known.into_iter().map(|known| known != Known::Empty).collect())
    }

    /// As [`may_contain_ranges`](Self::may_contain_ranges), in one column family.
    ///
    /// # Errors
    /// As [`may_contain_ranges`](Self::may_contain_ranges).
    pub fn may_contain_ranges_cf<R: Readable, K: AsRef<[u8]>>(
        &self,
        db: &R,
        column_family: &impl AsColumnFamilyRef,
        ranges: impl IntoIterator<Item = impl RangeBounds<K>>,
    ) -> Result<Vec<bool>, Error> {
        let foreign = foreign_comparator(column_family);
        let known = self.ask_many(&owned(ranges), foreign, |options| db.raw_cf(column_family, options))?;
        Ok(known.into_iter().map(|known| known != Known::Empty).collect())
    }

    /// For each range, whether it has a row. Reads the tables that may hold one, for those ranges alone. Each answer is
    /// true of a moment during the call; of a snapshot, all are true of the same.
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    pub fn contains_ranges<R: Readable, K: AsRef<[u8]>>(
        &self,
        db: &R,
        ranges: impl IntoIterator<Item = impl RangeBounds<K>>,
    ) -> Result<Vec<bool>, Error> {
        self.look_into_many(&owned(ranges), db.foreign_comparator(), |options| db.raw(options))
    }

    /// As [`contains_ranges`](Self::contains_ranges), in one column family.
    ///
    /// # Errors
    /// As [`contains_ranges`](Self::contains_ranges).
    pub fn contains_ranges_cf<R: Readable, K: AsRef<[u8]>>(
        &self,
        db: &R,
        column_family: &impl AsColumnFamilyRef,
        ranges: impl IntoIterator<Item = impl RangeBounds<K>>,
    ) -> Result<Vec<bool>, Error> {
        let foreign = foreign_comparator(column_family);
        self.look_into_many(&owned(ranges), foreign, |options| db.raw_cf(column_family, options))
    }

    /// The value of a key; tables whose filter denies the key are not read. RocksDB's own `get` does not ask, so it needs
    /// RocksDB's Bloom filter, and this does not.
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    pub fn get<R: Readable>(&self, db: &R, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>, Error> {
        let key = key.as_ref();
        value_of(self.read::<&[u8]>(key..=key).scan(db))
    }

    /// As [`get`](Self::get), in one column family.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_cf<R: Readable>(
        &self,
        db: &R,
        column_family: &impl AsColumnFamilyRef,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let key = key.as_ref();
        value_of(self.read::<&[u8]>(key..=key).scan_cf(db, column_family))
    }

    /// The values of many keys, in their order. Filters are asked in one batch for each table, and only keys that may be
    /// there are read. Each is true of a moment during the call; of a snapshot, all are true of the same.
    ///
    /// # Errors
    /// A failed read of RocksDB. `InvalidArgument` if the comparator of the column family is not RocksDB's bytewise one.
    pub fn multi_get<R: Readable, K: AsRef<[u8]>>(
        &self,
        db: &R,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        self.values_of(&points(keys), db.foreign_comparator(), |options| db.raw(options))
    }

    /// As [`multi_get`](Self::multi_get), in one column family.
    ///
    /// # Errors
    /// As [`multi_get`](Self::multi_get).
    pub fn multi_get_cf<R: Readable, K: AsRef<[u8]>>(
        &self,
        db: &R,
        column_family: &impl AsColumnFamilyRef,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let foreign = foreign_comparator(column_family);
        self.values_of(&points(keys), foreign, |options| db.raw_cf(column_family, options))
    }

    fn values_of<'a, D: DBAccess + 'a>(
        &self,
        points: &[OwnedBounds],
        foreign_comparator: Option<String>,
        iterate: impl Fn(ReadOptions) -> DBRawIteratorWithThreadMode<'a, D>,
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let known = self.ask_many(points, foreign_comparator, &iterate)?;
        let value = |(known, point): (Known, &OwnedBounds)| match known {
            Known::Empty => Ok(None),
            _ => value_of(self.scan_of(point, &iterate)),
        };
        known.into_iter().zip(points).map(value).collect()
    }

    /// The rows of one range.
    fn scan_of<'a, D: DBAccess + 'a>(
        &self,
        range: &OwnedBounds,
        iterate: impl Fn(ReadOptions) -> DBRawIteratorWithThreadMode<'a, D>,
    ) -> GuardedScan<'a, D> {
        let (options, outcome) = self.read::<Vec<u8>>(range.clone()).into_parts();
        GuardedScan::new(iterate(options), outcome.into_question(), None)
    }

    fn look_into_many<'a, D: DBAccess + 'a>(
        &self,
        ranges: &[OwnedBounds],
        foreign_comparator: Option<String>,
        iterate: impl Fn(ReadOptions) -> DBRawIteratorWithThreadMode<'a, D>,
    ) -> Result<Vec<bool>, Error> {
        let known = self.ask_many(ranges, foreign_comparator, &iterate)?;
        let look = |(known, range): (Known, &OwnedBounds)| match known {
            Known::Empty => Ok(false),
            Known::Row => Ok(true),
            Known::Maybe => self.scan_of(range, &iterate).is_empty().map(|is_empty| !is_empty),
        };
        known.into_iter().zip(ranges).map(look).collect()
    }

    /// What is known of each range without reading a table.
    fn ask_many<'a, D: DBAccess + 'a>(
        &self,
        ranges: &[OwnedBounds],
        foreign_comparator: Option<String>,
        iterate: impl Fn(ReadOptions) -> DBRawIteratorWithThreadMode<'a, D>,
    ) -> Result<Vec<Known>, Error> {
        check(foreign_comparator.as_deref())?;
        let questions = Questions::new(self.guard(), ranges.iter().cloned());
        let mut known = vec![Known::Empty; ranges.len()];
        if ranges.is_empty() {
            return Ok(known);
        }
        let mut rows = iterate(only_asking(&questions));
        if questions.is_empty() {
            // All are inverted, if keys are ordered by their bytes: tables may say that they are not.
            rows.seek_to_first();
        }
        let of_rows = (0..questions.len()).map(|place| known_of_rows(&mut rows, &questions, place));
        let of_rows = of_rows.collect::<Result<Vec<Known>, Error>>()?;
        check(questions.foreign_comparator())?;
        for (place, of_rows) in of_rows.into_iter().enumerate() {
            let of_all = match of_rows {
                Known::Empty if questions.has_passed(place) => Known::Maybe,
                of_rows => of_rows,
            };
            if of_all == Known::Empty {
                questions.note_empty(place);
            }
            known[questions.given(place)] = of_all;
        }
        Ok(known)
    }
}

/// Options of an iterator that asks every table between its bounds and reads none. It must see all rows of the
/// memtables in order, whatever their prefix.
fn only_asking(questions: &Questions) -> ReadOptions {
    let mut options = bounded(total_order(), questions.rocksdb_bounds());
    let questions = questions.clone();
    options.set_table_filter(move |table| {
        questions.ask(facts(table));
        false
    });
    options
}

/// What the rows outside of tables say of the range at this place. Tables below the row that this goes to have then all been
/// asked; if there is no row, all tables have.
fn known_of_rows<D: DBAccess>(
    rows: &mut DBRawIteratorWithThreadMode<'_, D>,
    questions: &Questions,
    place: usize,
) -> Result<Known, Error> {
    let lower = questions.lower(place).unwrap_or_default();
    go_to(rows, lower, place == 0);
    if rows.status().is_err() {
        // Perhaps of a row before this range.
        rows.seek(lower);
    }
    match rows.status() {
        Ok(()) if rows.key().is_some_and(|key| questions.contains(place, key)) => Ok(Known::Row),
        Ok(()) => Ok(Known::Empty),
        // No block was read: a merge had no value to begin with, since that is in a table.
        Err(problem) if problem.kind() == ErrorKind::Corruption => Ok(Known::Maybe),
        Err(problem) => Err(problem),
    }
}

/// Goes on to the first row at `lower` or above.
fn go_to<D: DBAccess>(rows: &mut DBRawIteratorWithThreadMode<'_, D>, lower: &[u8], is_first: bool) {
    if is_first {
        return rows.seek(lower);
    }
    for _ in 0..MAX_STEPS {
        if rows.key().is_none_or(|key| key >= lower) {
            return;
        }
        rows.next();
    }
    if rows.key().is_some_and(|key| key < lower) {
        rows.seek(lower);
    }
}

fn value_of<D: DBAccess>(mut rows: GuardedScan<'_, D>) -> Result<Option<Vec<u8>>, Error> {
    rows.next_row().map(|row| row.map(|(_, value)| value.to_vec()))
}

/// Each key as the range that holds it alone.
fn points<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Vec<OwnedBounds> {
    let point = |key: &[u8]| (Bound::Included(key.to_vec()), Bound::Included(key.to_vec()));
    keys.into_iter().map(|key| point(key.as_ref())).collect()
}

fn owned<K: AsRef<[u8]>>(ranges: impl IntoIterator<Item = impl RangeBounds<K>>) -> Vec<OwnedBounds> {
    let copy = |bound: Bound<&K>| bound.map(|key| key.as_ref().to_vec());
    ranges.into_iter().map(|range| (copy(range.start_bound()), copy(range.end_bound()))).collect()
}
