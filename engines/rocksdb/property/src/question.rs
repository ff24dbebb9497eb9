//! One range, asked of one table after the other.
//!
//! RocksDB calls `ReadOptions::table_filter` for each table that an iterator is about to enter: for all tables of level
//! 0 when the iterator is made, for the others when a level's own iterator reaches them. Our "no" makes RocksDB put an
//! empty iterator in the table's place; its range deletions still count.

use std::fmt;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use lacuna_base::ErrorKind;
use lacuna_guard::FileTag;

use crate::bounds::{RocksBounds, rocksdb_bounds};
use crate::identity::TableIdentity;
use crate::passed::Passed;
use crate::scanned::Reason;
use crate::table_filter::{TableFilter, ask_table};
use crate::table_guard::TableGuard;

/// Tables below the range that a backward scan walks over before it is shown one. RocksDB stops at the first key below
/// the lower bound, but looks for that key through every skipped table of the level; about half a microsecond each.
const MAX_WALKED: u32 = 8;

/// Beyond nearly all strings: gaps of strings are asked up to here whether a table lies below a range. If a
/// table holds a string above it, the only cost is a longer walk.
const FAR: [u8; 64] = [0xFF; 64];

/// Which way a scan goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the smallest key up.
    #[default]
    Forward,
    /// From the largest key down.
    Reverse,
}

/// The facts that RocksDB gives about a table.
#[derive(Debug, Clone, Copy)]
pub struct TableFacts<'a> {
    /// Name of the comparator that orders its keys.
    pub comparator: &'a [u8],
    /// Its property called [`PROPERTY_NAME`](crate::PROPERTY_NAME), if it has one.
    pub property: Option<&'a [u8]>,
    /// The table's identity; without it, nothing is learned about the table.
    pub identity: Option<TableIdentity<'a>>,
}

impl TableFacts<'_> {
    /// The one comparator whose order is ours. With user-defined timestamps it has another name.
    pub const BYTEWISE: &'static [u8] = b"leveldb.BytewiseComparator";
}

/// Whether a comparator of this name orders keys by their bytes, timestamps aside: RocksDB's bytewise one, and the same with
/// user-defined timestamps, whose tables have no filter but are read in the same order.
pub fn is_ordered_bytewise(comparator: &[u8]) -> bool {
    comparator.strip_prefix(TableFacts::BYTEWISE).is_some_and(|rest| rest.is_empty() || rest == b".u64ts")
}

/// Notes the name of a comparator that does not order keys by their bytes. Tables that are not block-based name none.
pub(crate) fn note_comparator(comparator: &[u8], foreign: &OnceLock<String>) {
    if !comparator.is_empty() && !is_ordered_bytewise(comparator) {
        foreign.get_or_init(|| String::from_utf8_lossy(comparator).into_owned());
    }
}

/// A range that one iterator scans, with what the tables answered. A clone shares the answers.
///
/// The iterator must carry the same bounds for its whole life: a table skipped for this range holds others' keys.
///
/// ```
/// use lacuna_rocksdb_property::{Direction, Question, TableFacts, TableGuard};
/// use std::ops::Bound::{Excluded, Included};
///
/// let guard = TableGuard::parse("bloom@10")?;
/// let question = Question::new(&guard, (Included(b"a"), Excluded(b"b")), Direction::Forward);
/// let old = TableFacts { comparator: TableFacts::BYTEWISE, property: None, identity: None };
/// assert!(question.may_contain(old), "a table without a filter is read");
/// question.note_empty();
/// let stats = guard.stats();
/// assert_eq!((stats.scanned.missing, stats.filters.empty_scans), (1, 1));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Clone)]
pub struct Question {
    guard: TableGuard,
    asked: Arc<Asked>,
}

struct Asked {
    bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    direction: Direction,
    /// Tables below the range skipped since the last table that was not.
    walked: AtomicU32,
    /// Answers "maybe" that neither filter nor gap could deny.
    passed: Passed,
    foreign_comparator: OnceLock<String>,
}

/// What denied that a table holds a key of the range.
enum Denial {
    Filter,
    Gap,
}

impl Question {
    /// Copies the bounds once.
    pub fn new(guard: &TableGuard, bounds: (Bound<&[u8]>, Bound<&[u8]>), direction: Direction) -> Self {
        let asked = Asked {
            bounds: (bounds.0.map(<[u8]>::to_vec), bounds.1.map(<[u8]>::to_vec)),
            direction,
            walked: AtomicU32::new(0),
            passed: Passed::new(guard.learned_gaps().is_some()),
            foreign_comparator: OnceLock::new(),
        };
        Self { guard: guard.clone(), asked: Arc::new(asked) }
    }

    /// Whether RocksDB has to read the table; `false` proves that it holds no entry of the range, of whatever type.
    /// Allocates nothing and never panics; takes no lock, unless filters are in partitions: then one to find each partition,
    /// and the time to read those that are not in memory.
    pub fn may_contain(&self, table: TableFacts<'_>) -> bool {
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(table)));
        answer.unwrap_or_else(|_| {
            self.guard.count_panic("a question to a filter panicked; please report this");
            self.scan(Reason::Corrupt)
        })
    }

    fn answer(&self, table: TableFacts<'_>) -> bool {
        if table.comparator != TableFacts::BYTEWISE {
            note_comparator(table.comparator, &self.asked.foreign_comparator);
            return self.scan(Reason::Comparator);
        }
        let Some(bytes) = table.property else { return self.scan(Reason::Missing) };
        let asked = ask_table(bytes, &self.guard, |level, filter| self.ask(level, filter, table.identity));
        match asked {
            Ok(answer) => answer,
            Err(problem) if problem.kind() == ErrorKind::Unsupported => self.scan(Reason::Unsupported),
            Err(_) => self.scan(Reason::Corrupt),
        }
    }

    fn scan(&self, reason: Reason) -> bool {
        self.guard.count_scanned(reason);
        self.asked.walked.store(0, Relaxed);
        true
    }

    /// The answer of an opened filter and, after its "maybe", of what was learned about the table.
    fn ask(
        &self,
        level: Option<usize>,
        filter: &TableFilter<'_>,
        identity: Option<TableIdentity<'_>>,
    ) -> bool {
        match self.denial(filter, identity) {
            None => self.asked.passed.note(level, self.tag(identity)),
            Some(_) if self.ends_the_walk(filter, identity) => {}
            Some(Denial::Filter) => {
                self.guard.count_answer(level, false);
                return false;
            }
            Some(Denial::Gap) => {
                self.guard.count_gap_skip(level);
                return false;
            }
        }
        self.asked.walked.store(0, Relaxed);
        self.guard.count_answer(level, true);
        true
    }

    /// Whether the filter or a learned gap denies that the table holds a key of the range.
    fn denial(&self, filter: &TableFilter<'_>, identity: Option<TableIdentity<'_>>) -> Option<Denial> {
        let (lo, hi) = self.bounds();
        if !filter.may_contain_bounds(lo, hi) {
            return Some(Denial::Filter);
        }
        self.guard.is_known_empty(self.tag(identity), lo, hi).then_some(Denial::Gap)
    }

    /// The tag of a table, if gaps are learned.
    fn tag(&self, identity: Option<TableIdentity<'_>>) -> Option<FileTag> {
        identity.filter(|_| self.guard.learned_gaps().is_some()).and_then(|identity| identity.tag())
    }

    /// Whether a backward scan has walked over enough tables below its range to be shown one, so that RocksDB meets a
    /// key below the lower bound and stops. Where the codec does not keep the order of keys, nothing says which tables are below: any
    /// may be.
    fn ends_the_walk(&self, filter: &TableFilter<'_>, identity: Option<TableIdentity<'_>>) -> bool {
        let (lo, _) = self.bounds();
        let is_below = || {
            !self.guard.codec().keeps_order()
                || !filter.may_contain_bounds(lo, Bound::Unbounded)
                || self.guard.is_known_empty(self.tag(identity), lo, Bound::Included(&FAR))
        };
        let walks = self.asked.direction == Direction::Reverse && lo != Bound::Unbounded;
        walks && is_below() && self.asked.walked.fetch_add(1, Relaxed) >= MAX_WALKED
    }

    /// Notes that the iterator over the whole range returned no row: the range joins the sample of later builds, if it
    /// is its turn, and every "maybe" counts as a false positive, which is an estimate: deleted keys and keys hidden
    /// by a snapshot are in the table too. Where gaps are learned, it is also a hint where to look for some. Never panics.
    pub fn note_empty(&self) {
        let (lo, hi) = self.bounds();
        self.guard.note_empty_scan(lo, hi, &self.asked.passed);
    }

    /// The bounds of the range.
    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let (lo, hi) = &self.asked.bounds;
        (lo.as_ref().map(Vec::as_slice), hi.as_ref().map(Vec::as_slice))
    }

    /// The comparator of the tables that were met, if it does not order keys by their bytes: the bounds of the question then
    /// mean nothing.
    pub fn foreign_comparator(&self) -> Option<&str> {
        self.asked.foreign_comparator.get().map(String::as_str)
    }

    /// Which way the scan goes.
    pub fn direction(&self) -> Direction {
        self.asked.direction
    }

    /// The bounds as RocksDB takes them: the smallest key inside and the smallest key above, where there is one.
    pub fn rocksdb_bounds(&self) -> RocksBounds {
        rocksdb_bounds(&self.asked.bounds)
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asked { bounds: (lo, hi), direction, .. } = &*self.asked;
        f.debug_struct("Question")
            .field("lo", lo)
            .field("hi", hi)
            .field("direction", direction)
            .finish_non_exhaustive()
    }
}
