//! What happened to filters and queries, in plain atomics.
//!
//! A query costs one relaxed addition. A snapshot is not one instant: its numbers may be a few queries apart.

use std::array;
use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lacuna_core::Error;

/// Levels counted one by one; deeper ones are counted with the last.
pub const LEVELS: usize = 8;
/// One more place for files whose level the adapter does not know.
const PLACES: usize = LEVELS + 1;

/// Queries of one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Answered "no": the file was not read.
    pub skipped: u64,
    /// Answered "maybe".
    pub passed: u64,
    /// Known to have been answered "maybe" in vain; part of `passed`, and at most what the adapter could learn.
    pub false_positives: u64,
}

impl Asked {
    /// All queries.
    pub fn asked(&self) -> u64 {
        self.skipped + self.passed
    }
}

#[derive(Debug, Default)]
struct AskedAtomics {
    skipped: AtomicU64,
    passed: AtomicU64,
    false_positives: AtomicU64,
}

/// Counts of one guarded database, shared by its builders, filters and scans.
///
/// ```
/// use lacuna_guard::Counters;
///
/// let counters = Counters::new();
/// counters.count_query(Some(0), false);
/// counters.count_query(None, true);
/// let snapshot = counters.snapshot();
/// assert_eq!((snapshot.asked(), snapshot.skipped(), snapshot.level(Some(0)).skipped), (2, 1, 1));
/// ```
#[derive(Debug, Default)]
pub struct Counters {
    levels: [AskedAtomics; PLACES],
    built: AtomicU64,
    coarsened: AtomicU64,
    not_stored: AtomicU64,
    build_failures: AtomicU64,
    opened: AtomicU64,
    unfiltered: AtomicU64,
    open_failures: AtomicU64,
    empty_scans: AtomicU64,
    last_problem: Mutex<Option<String>>,
}

fn place(level: Option<usize>) -> usize {
    level.map_or(LEVELS, |level| level.min(LEVELS - 1))
}

impl Counters {
    /// All zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one answer of a filter; `level` is `None` where the adapter does not know it.
    #[inline]
    pub fn count_query(&self, level: Option<usize>, may_contain: bool) {
        let level = &self.levels[place(level)];
        let counter = if may_contain { &level.passed } else { &level.skipped };
        counter.fetch_add(1, Relaxed);
    }

    /// Counts `count` earlier answers "maybe" that turned out to be in vain.
    pub fn count_false_positives(&self, level: Option<usize>, count: u64) {
        self.levels[place(level)].false_positives.fetch_add(count, Relaxed);
    }

    /// Counts a scan of the whole database that returned no row.
    pub fn count_empty_scan(&self) {
        self.empty_scans.fetch_add(1, Relaxed);
    }

    /// Counts a stored filter; `coarsened` if it is not the one asked for.
    pub(crate) fn count_built(&self, coarsened: bool) {
        self.built.fetch_add(1, Relaxed);
        self.coarsened.fetch_add(u64::from(coarsened), Relaxed);
    }

    /// Counts a file without a filter because none fits the budget.
    pub(crate) fn count_not_stored(&self, problem: &Error) {
        self.not_stored.fetch_add(1, Relaxed);
        self.note(problem.to_string());
    }

    /// Counts a file without a filter because of an error.
    pub(crate) fn count_build_failure(&self, problem: &Error) {
        self.build_failures.fetch_add(1, Relaxed);
        self.note(problem.to_string());
    }

    pub(crate) fn count_opened(&self) {
        self.opened.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_unfiltered(&self) {
        self.unfiltered.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_open_failure(&self, problem: &Error) {
        self.open_failures.fetch_add(1, Relaxed);
        self.note(problem.to_string());
    }

    fn note(&self, problem: String) {
        *self.last_problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
    }

    /// All counts as they stand.
    pub fn snapshot(&self) -> CountersSnapshot {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        CountersSnapshot {
            levels: array::from_fn(|place| Asked {
                skipped: get(&self.levels[place].skipped),
                passed: get(&self.levels[place].passed),
                false_positives: get(&self.levels[place].false_positives),
            }),
            built: get(&self.built),
            coarsened: get(&self.coarsened),
            not_stored: get(&self.not_stored),
            build_failures: get(&self.build_failures),
            opened: get(&self.opened),
            unfiltered: get(&self.unfiltered),
            open_failures: get(&self.open_failures),
            empty_scans: get(&self.empty_scans),
            last_problem: self.last_problem.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// [`Counters`] as they stood at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountersSnapshot {
    levels: [Asked; PLACES],
    /// Filters built and handed to the engine.
    pub built: u64,
    /// Those of them that needed another budget or family than asked for.
    pub coarsened: u64,
    /// Files without a filter because nothing fits the budget and its cap.
    pub not_stored: u64,
    /// Files without a filter because of keys out of order, keys the codec does not take, or another error.
    pub build_failures: u64,
    /// Filters opened.
    pub opened: u64,
    /// Files met whose writer stored no filter on purpose; they are always read.
    pub unfiltered: u64,
    /// Bytes met that did not open as a filter for this codec; their files are always read.
    pub open_failures: u64,
    /// Scans of the whole database that returned no row.
    pub empty_scans: u64,
    /// What the last failure said.
    pub last_problem: Option<String>,
}

impl CountersSnapshot {
    /// Counts of one level; `None` for files whose level is not known.
    pub fn level(&self, level: Option<usize>) -> Asked {
        self.levels[place(level)]
    }

    /// Counts of all levels together.
    pub fn total(&self) -> Asked {
        self.levels.iter().fold(Asked::default(), |sum, level| Asked {
            skipped: sum.skipped + level.skipped,
            passed: sum.passed + level.passed,
            false_positives: sum.false_positives + level.false_positives,
        })
    }

    /// Questions put to filters.
    pub fn asked(&self) -> u64 {
        self.total().asked()
    }

    /// Questions answered "no": file reads that did not happen.
    pub fn skipped(&self) -> u64 {
        self.total().skipped
    }

    /// Questions answered "maybe".
    pub fn passed(&self) -> u64 {
        self.total().passed
    }
}

fn write_asked(f: &mut fmt::Formatter<'_>, name: &str, asked: &Asked) -> fmt::Result {
    let Asked { skipped, passed, false_positives } = asked;
    write!(f, "{name}: asked {}, skipped {skipped}, passed {passed}", asked.asked())?;
    if *false_positives > 0 { write!(f, " (in vain at least {false_positives})") } else { Ok(()) }
}

impl fmt::Display for CountersSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_asked(f, "queries", &self.total())?;
        for (level, asked) in self.levels[..LEVELS].iter().enumerate().filter(|(_, asked)| asked.asked() > 0)
        {
            f.write_str("\n  ")?;
            write_asked(f, &format!("level {level}"), asked)?;
        }
        let Self { built, coarsened, not_stored, build_failures, .. } = self;
        write!(
            f,
            "\nbuilt: {built} ({coarsened} coarsened), none fits {not_stored}, failed {build_failures}"
        )?;
        let Self { opened, unfiltered, open_failures, empty_scans, .. } = self;
        write!(f, "\nopened: {opened}, without filter {unfiltered}, failed {open_failures}")?;
        write!(f, "\nscans without a row: {empty_scans}")?;
        match &self.last_problem {
            Some(problem) => write!(f, "\nlast problem: {problem}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_unknown_levels_have_a_place() {
        let counters = Counters::new();
        counters.count_query(Some(7), true);
        counters.count_query(Some(700), true);
        counters.count_query(None, true);
        counters.count_false_positives(Some(9), 1);
        let snapshot = counters.snapshot();
        assert_eq!(snapshot.level(Some(7)), Asked { skipped: 0, passed: 2, false_positives: 1 });
        assert_eq!(snapshot.level(None).passed, 1);
        assert_eq!(snapshot.total().asked(), 3);
    }

    #[test]
    fn every_number_is_shown() {
        let counters = Counters::new();
        counters.count_query(Some(2), false);
        counters.count_built(true);
        counters.count_open_failure(&Error::corrupt("cut short"));
        let shown = counters.snapshot().to_string();
        for part in
            ["level 2: asked 1, skipped 1", "built: 1 (1 coarsened)", "failed 1", "last problem: cut short"]
        {
            assert!(shown.contains(part), "`{part}` in:\n{shown}");
        }
    }
}
