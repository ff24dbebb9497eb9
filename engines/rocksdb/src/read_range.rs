//! Read options that carry a range, its bounds and its filter together.

use std::fmt;

use lacuna_rocksdb_property::{PROPERTY_NAME, Question, RocksBounds, TableFacts, TableIdentity};
use rust_rocksdb::{AsColumnFamilyRef, IterateBounds, ReadOptions, TableProperties};

use crate::readable::Readable;
use crate::refusal::foreign_comparator;
use crate::scan::GuardedScan;

/// A read of one range, made by [`RangeFilters::read`](crate::RangeFilters::read).
///
/// Bounds and filter are set together or not at all: a table skipped for one range may hold the keys of another, so an
/// iterator that leaves its range would lose rows.
#[must_use = "a range that is not scanned reads nothing"]
pub struct ReadRange {
    question: Question,
    options: Option<ReadOptions>,
}

impl ReadRange {
    pub(crate) fn new(question: Question) -> Self {
        Self { question, options: None }
    }

    /// Sets every other option of the read: snapshot, tailing, read-ahead and so on. Bounds and table filter in them
    /// are replaced.
    ///
    /// Without options of your own the read is in total order (`total_order_seek`): RocksDB's filters over prefixes are not
    /// asked. With them, what they say holds: with a prefix extractor, a range over several prefixes needs
    /// `set_total_order_seek(true)`, or RocksDB leaves rows out.
    pub fn with_options(mut self, options: ReadOptions) -> Self {
        self.options = Some(options);
        self
    }

    /// Scans the range of a database, snapshot or transaction, in the direction it was made for.
    pub fn scan<R: Readable>(self, readable: &R) -> GuardedScan<'_, R::Access> {
        let (options, outcome) = self.into_parts();
        GuardedScan::new(readable.raw(options), outcome.question, readable.foreign_comparator())
    }

    /// Scans the range of one column family, which must be the one whose options the filters were installed in; tables
    /// of another codec are read and counted. One whose order is not that of bytes is refused by the scan's first row.
    pub fn scan_cf<'a, R: Readable>(
        self,
        readable: &'a R,
        column_family: &impl AsColumnFamilyRef,
    ) -> GuardedScan<'a, R::Access> {
        let (options, outcome) = self.into_parts();
        let foreign = foreign_comparator(column_family);
        GuardedScan::new(readable.raw_cf(column_family, options), outcome.question, foreign)
    }

    /// The options for an iterator of RocksDB's own, and the place to say how it ended.
    ///
    /// The iterator may seek as it likes: RocksDB itself keeps it between the bounds. Setting other bounds in these
    /// options, or another table filter, would lose rows. So would a column family whose comparator is not RocksDB's bytewise
    /// one, which cannot be refused here as [`scan`](Self::scan) does: the bounds are those of the order of bytes.
    pub fn into_parts(self) -> (ReadOptions, Outcome) {
        let Self { question, options } = self;
        let mut options = bounded(options.unwrap_or_else(total_order), question.rocksdb_bounds());
        let outcome = Outcome { question: question.clone() };
        options.set_table_filter(move |table| question.may_contain(facts(table)));
        (options, outcome)
    }

    /// The options for an iterator of RocksDB's own, see [`into_parts`](Self::into_parts).
    pub fn into_options(self) -> ReadOptions {
        self.into_parts().0
    }
}

impl fmt::Debug for ReadRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadRange").field("question", &self.question).finish_non_exhaustive()
    }
}

/// Takes the outcome of a read that RocksDB's own iterator made.
#[derive(Debug)]
pub struct Outcome {
    question: Question,
}

impl Outcome {
    /// Notes that an iterator over the whole range returned no row; later filters are designed for such ranges.
    pub fn note_empty(self) {
        self.question.note_empty();
    }

    pub(crate) fn question(&self) -> &Question {
        &self.question
    }

    pub(crate) fn into_question(self) -> Question {
        self.question
    }
}

/// Options that see all rows in order, whatever their prefix.
pub(crate) fn total_order() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_total_order_seek(true);
    options
}

/// The options with these bounds.
pub(crate) fn bounded(mut options: ReadOptions, (lower, upper): RocksBounds) -> ReadOptions {
    options.set_iterate_range(Bounds { lower, upper });
    options
}

struct Bounds {
    lower: Option<Vec<u8>>,
    upper: Option<Vec<u8>>,
}

impl IterateBounds for Bounds {
    fn into_bounds(self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        (self.lower, self.upper)
    }
}

/// The facts of a table that the filter needs. Properties are few and sorted by name.
pub(crate) fn facts<'a>(table: &TableProperties<'a>) -> TableFacts<'a> {
    let property = table.user_collected_properties().find(|(name, _)| *name == PROPERTY_NAME.as_bytes());
    TableFacts {
        comparator: table.comparator_name(),
        property: property.map(|(_, bytes)| bytes),
        identity: Some(TableIdentity { session: table.db_session_id(), number: table.orig_file_number() }),
    }
}
