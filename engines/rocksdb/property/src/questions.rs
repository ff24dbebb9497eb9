//! Many ranges, asked of one table after the other in a batch for each.
//!
//! Where [`Question`](crate::Question) lets RocksDB read the tables that may hold its range, the questions here only ask:
//! every table is skipped, and what is left of the iterator are the rows of the memtables. A range has no row if no table
//! may hold one and the iterator, which comes past all tables up to its place, shows none.
//!
//! Ranges are kept by their lower ends. Of each table the filter is first asked, by bisection, where its keys begin and
//! end; only the ranges between are asked one by one, so a level of many tables asks about each range once or twice.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use lacuna_base::ErrorKind;

use crate::bounds::{RocksBounds, rocksdb_bounds};
use crate::passed::Passed;
use crate::question::{TableFacts, note_comparator};
use crate::scanned::Reason;
use crate::table_filter::{TableFilter, ask_table};
use crate::table_guard::TableGuard;

/// Bounds of a range, owned.
pub type OwnedBounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// Ranges asked at one time, so that the cache misses of a filter overlap and the answers stay in the first cache.
const BATCH: usize = 256;

/// Ranges that tables are asked about, with what they answered. A clone shares the answers.
///
/// ```
/// use lacuna_rocksdb_property::{Collector, Questions, TableFacts, TableGuard};
/// use std::ops::Bound::Included;
///
/// let guard = TableGuard::parse("grafite@20 codec=fixed_be:8")?;
/// let mut collector = Collector::new(&guard, Some(1));
/// (1..1_000u64).for_each(|number| collector.add(Collector::PUT, &(number << 20).to_be_bytes()));
/// let property = collector.finish().expect("built within the budget");
///
/// let around = |number: u64| {
///     (Included((number - 5).to_be_bytes().to_vec()), Included((number + 5).to_be_bytes().to_vec()))
/// };
/// let questions = Questions::new(&guard, [around(70 << 20), around(70_000_000)]);
/// questions.ask(TableFacts { comparator: TableFacts::BYTEWISE, property: Some(&property), identity: None });
/// let passed: Vec<bool> = (0..2).map(|place| questions.has_passed(place)).collect();
/// assert_eq!(passed, [false, true], "in the order of keys: 70,000,000 is below 70 << 20");
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Clone)]
pub struct Questions {
    guard: TableGuard,
    asked: Arc<Asked>,
}

struct Asked {
    /// By their lower ends.
    ranges: Vec<Asking>,
    /// Whether a table may hold a key of the range at this place.
    passed: Vec<AtomicBool>,
    foreign_comparator: OnceLock<String>,
}

struct Asking {
    bounds: OwnedBounds,
    rocksdb: RocksBounds,
    /// Place of the range, among those up to here, that ends last.
    furthest: usize,
    /// Place of the range in the order it was given.
    given: usize,
}

impl Questions {
    /// Takes ranges in any order; those that are inverted are left out, since no key lies in them.
    pub fn new(guard: &TableGuard, ranges: impl IntoIterator<Item = OwnedBounds>) -> Self {
        let asking = |(given, bounds): (usize, OwnedBounds)| Asking {
            rocksdb: rocksdb_bounds(&bounds),
            bounds,
            furthest: given,
            given,
        };
        let mut ranges: Vec<Asking> = ranges.into_iter().enumerate().map(asking).collect();
        ranges.retain(|range| !range.is_empty());
        ranges.sort_by(|left, right| left.rocksdb.0.cmp(&right.rocksdb.0));
        note_furthest(&mut ranges);
        let passed = ranges.iter().map(|_| AtomicBool::new(false)).collect();
        let asked = Asked { ranges, passed, foreign_comparator: OnceLock::new() };
        Self { guard: guard.clone(), asked: Arc::new(asked) }
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.asked.ranges.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The range at this place in the order of lower ends.
    pub fn bounds(&self, place: usize) -> &OwnedBounds {
        &self.asked.ranges[place].bounds
    }

    /// The smallest key that the range may hold; `None` if that is the smallest of all.
    pub fn lower(&self, place: usize) -> Option<&[u8]> {
        self.asked.ranges[place].rocksdb.0.as_deref()
    }

    /// Place of the range in the order it was given.
    pub fn given(&self, place: usize) -> usize {
        self.asked.ranges[place].given
    }

    /// Whether a table that was asked may hold a key of the range.
    pub fn has_passed(&self, place: usize) -> bool {
        self.asked.passed[place].load(Relaxed)
    }

    /// As [`Question::foreign_comparator`](crate::Question::foreign_comparator).
    pub fn foreign_comparator(&self) -> Option<&str> {
        self.asked.foreign_comparator.get().map(String::as_str)
    }

    /// Bounds as RocksDB takes them, around all ranges.
    pub fn rocksdb_bounds(&self) -> RocksBounds {
        let ranges = &self.asked.ranges;
        let lower = ranges.first().and_then(|range| range.rocksdb.0.clone());
        let upper = ranges.last().and_then(|range| ranges[range.furthest].rocksdb.1.clone());
        (lower, upper)
    }

    /// Notes the ranges of which the table may hold a key: all of them, if it cannot be asked. Ranges that an earlier
    /// table may hold are not asked again. Never panics.
    pub fn ask(&self, table: TableFacts<'_>) {
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(table))).unwrap_or_else(|_| {
            self.guard.count_panic("questions to a filter panicked; please report this");
            Some(Reason::Corrupt)
        });
        if let Some(reason) = answer {
            self.guard.count_scanned(reason);
            self.asked.passed.iter().for_each(|passed| passed.store(true, Relaxed));
        }
    }

    /// Asks the filter, or says why there is none to ask.
    fn answer(&self, table: TableFacts<'_>) -> Option<Reason> {
        if table.comparator != TableFacts::BYTEWISE {
            note_comparator(table.comparator, &self.asked.foreign_comparator);
            return Some(Reason::Comparator);
        }
        if self.is_empty() {
            return None;
        }
        let Some(bytes) = table.property else { return Some(Reason::Missing) };
        let asked = ask_table(bytes, &self.guard, |level, filter| self.ask_filter(level, filter, table));
        match asked {
            Ok(()) => None,
            Err(problem) if problem.kind() == ErrorKind::Unsupported => Some(Reason::Unsupported),
            Err(_) => Some(Reason::Corrupt),
        }
    }

    fn ask_filter(&self, level: Option<usize>, filter: &TableFilter<'_>, table: TableFacts<'_>) {
        let ranges = &self.asked.ranges;
        let start = ranges.partition_point(|range| self.is_below(filter, range));
        let end = start + ranges[start..].partition_point(|range| !is_above(filter, range));
        let open: Vec<usize> = (start..end).filter(|&place| !self.has_passed(place)).collect();
        let tag = table.identity.filter(|_| self.guard.learned_gaps().is_some()).and_then(|of| of.tag());
        for places in open.chunks(BATCH) {
            let bounds = places.iter().map(|&place| borrow(&ranges[place].bounds));
            for (&place, may_contain) in places.iter().zip(filter.may_contain_many(bounds)) {
                let (lo, hi) = borrow(&ranges[place].bounds);
                if may_contain && self.guard.is_known_empty(tag, lo, hi) {
                    self.guard.count_gap_skip(level);
                } else {
                    self.guard.count_answer(level, may_contain);
                    self.asked.passed[place].fetch_or(may_contain, Relaxed);
                }
            }
        }
    }

    /// Whether the table has no key up to the furthest end of the ranges up to this one, so that it holds none of them.
    fn is_below(&self, filter: &TableFilter<'_>, range: &Asking) -> bool {
        let end = self.asked.ranges[range.furthest].rocksdb.1.as_deref();
        !filter.may_contain_bounds(Bound::Unbounded, end.map_or(Bound::Unbounded, Bound::Excluded))
    }

    /// Notes that the range at this place has no row; see [`Question::note_empty`](crate::Question::note_empty). Never panics.
    pub fn note_empty(&self, place: usize) {
        let (lo, hi) = borrow(self.bounds(place));
        self.guard.note_empty_scan(lo, hi, &Passed::new(false));
    }
}

impl Asking {
    fn is_empty(&self) -> bool {
        let (lower, upper) = &self.rocksdb;
        upper.as_deref().is_some_and(|upper| upper <= lower.as_deref().unwrap_or_default())
    }

    /// Whether this range ends after another one.
    fn ends_after(&self, other: &Self) -> bool {
        match (&self.rocksdb.1, &other.rocksdb.1) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(end), Some(other)) => end > other,
        }
    }

    /// Whether a row with this key is in the range.
    fn contains(&self, key: &[u8]) -> bool {
        <(Bound<&[u8]>, Bound<&[u8]>) as RangeBounds<[u8]>>::contains(&borrow(&self.bounds), key)
    }
}

impl Questions {
    /// Whether a key is in the range at this place.
    pub fn contains(&self, place: usize, key: &[u8]) -> bool {
        self.asked.ranges[place].contains(key)
    }
}

/// Whether the table has no key from the lower end of the range on, so that it holds none of it and of all after it.
fn is_above(filter: &TableFilter<'_>, range: &Asking) -> bool {
    let lower = range.rocksdb.0.as_deref().map_or(Bound::Unbounded, Bound::Included);
    !filter.may_contain_bounds(lower, Bound::Unbounded)
}

fn note_furthest(ranges: &mut [Asking]) {
    let mut furthest = 0;
    for place in 0..ranges.len() {
        if place == 0 || ranges[place].ends_after(&ranges[furthest]) {
            furthest = place;
        }
        ranges[place].furthest = furthest;
    }
}

fn borrow((lo, hi): &OwnedBounds) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (lo.as_ref().map(Vec::as_slice), hi.as_ref().map(Vec::as_slice))
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").field("ranges", &self.len()).finish_non_exhaustive()
    }
}
