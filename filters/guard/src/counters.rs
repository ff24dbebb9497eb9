//! Counts of filters and queries, in plain atomics.
//!
//! A query costs one relaxed addition. A snapshot is not one instant: its numbers may be a few queries apart.

use std::array;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lacuna_base::{Error, ErrorKind};

use crate::counts::{Asked, CountersSnapshot, PLACES, place};
use crate::gap_counts::GapCounters;

#[derive(Debug, Default)]
struct AskedAtomics {
    skipped: AtomicU64,
    skipped_by_gap: AtomicU64,
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
    built_bytes: AtomicU64,
    coarsened: AtomicU64,
    hardly_answering: AtomicU64,
    not_stored: AtomicU64,
    build_failures: AtomicU64,
    opened: AtomicU64,
    unfiltered: AtomicU64,
    open_failures: AtomicU64,
    panics: AtomicU64,
    empty_scans: AtomicU64,
    gaps: GapCounters,
    last_problem: Mutex<Option<String>>,
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

    /// Counts one answer "maybe" of a filter that a learned gap turned into "no".
    #[inline]
    pub fn count_gap_skip(&self, level: Option<usize>) {
        self.levels[place(level)].skipped_by_gap.fetch_add(1, Relaxed);
    }

    /// Counts of hints and learned gaps.
    pub fn gaps(&self) -> &GapCounters {
        &self.gaps
    }

    /// Counts `count` earlier answers "maybe" that turned out to be in vain.
    pub fn count_false_positives(&self, level: Option<usize>, count: u64) {
        self.levels[place(level)].false_positives.fetch_add(count, Relaxed);
    }

    /// Counts a scan of the whole database that returned no row.
    pub fn count_empty_scan(&self) {
        self.empty_scans.fetch_add(1, Relaxed);
    }

    /// Counts a stored filter of `bytes`; `coarsened` if it is not the one asked for.
    pub(crate) fn count_built(&self, bytes: usize, coarsened: bool) {
        self.built.fetch_add(1, Relaxed);
        self.built_bytes.fetch_add(bytes as u64, Relaxed);
        self.coarsened.fetch_add(u64::from(coarsened), Relaxed);
    }

    /// Counts a stored filter that answers "maybe" to most queries that it should deny; `doubt` says so.
    pub(crate) fn count_hardly_answering(&self, doubt: String) {
        self.hardly_answering.fetch_add(1, Relaxed);
        self.note(doubt);
    }

    /// Counts a file without a filter: none fits the budget, or something went wrong.
    pub(crate) fn count_not_built(&self, problem: &Error) {
        let counter = match problem.kind() {
            ErrorKind::BudgetTooSmall { .. } => &self.not_stored,
            _ => &self.build_failures,
        };
        counter.fetch_add(1, Relaxed);
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

    /// Counts a panic at a question to a filter, or when a scan was noted: the file is read, the scan not noted. `problem`
    /// says which.
    pub fn count_panic(&self, problem: &str) {
        self.panics.fetch_add(1, Relaxed);
        self.note(problem.to_owned());
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
                skipped_by_gap: get(&self.levels[place].skipped_by_gap),
                passed: get(&self.levels[place].passed),
                false_positives: get(&self.levels[place].false_positives),
            }),
            built: get(&self.built),
            built_bytes: get(&self.built_bytes),
            coarsened: get(&self.coarsened),
            hardly_answering: get(&self.hardly_answering),
            not_stored: get(&self.not_stored),
            build_failures: get(&self.build_failures),
            opened: get(&self.opened),
            unfiltered: get(&self.unfiltered),
            open_failures: get(&self.open_failures),
            panics: get(&self.panics),
            empty_scans: get(&self.empty_scans),
            gaps: self.gaps.snapshot(),
            last_problem: self.last_problem.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Asked;

    #[test]
    fn deep_and_unknown_levels_have_a_place() {
        let counters = Counters::new();
        counters.count_query(Some(7), true);
        counters.count_query(Some(700), true);
        counters.count_query(None, true);
        counters.count_false_positives(Some(9), 1);
        let snapshot = counters.snapshot();
        assert_eq!(snapshot.level(Some(7)), Asked { passed: 2, false_positives: 1, ..Asked::default() });
        assert_eq!(snapshot.level(None).passed, 1);
        assert_eq!(snapshot.total().asked(), 3);
    }

    #[test]
    fn every_number_is_shown() {
        let counters = Counters::new();
        counters.count_query(Some(2), false);
        counters.count_built(100, true);
        counters.count_panic("too far");
        counters.count_open_failure(&Error::corrupt("cut short"));
        let shown = counters.snapshot().to_string();
        for part in [
            "level 2: asked 1, skipped 1",
            "built: 1 in 100 bytes (1 coarsened)",
            "failed 1, panicked 1",
            "last problem: cut short",
        ] {
            assert!(shown.contains(part), "`{part}` in:\n{shown}");
        }
    }

    #[test]
    fn what_does_not_fit_is_no_failure() {
        let counters = Counters::new();
        counters.count_not_built(&Error::budget_too_small("grafite", 3.0));
        counters.count_not_built(&Error::corrupt("out of order"));
        let snapshot = counters.snapshot();
        assert_eq!((snapshot.not_stored, snapshot.build_failures), (1, 1));
    }
}
