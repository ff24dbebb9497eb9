//! Counts as they stood at one moment, to be read and shown.

use std::fmt;

use lacuna_base::{Error, Result};

use crate::gap_counts::GapCounts;

/// Levels counted one by one; deeper ones are counted with the last.
pub const LEVELS: usize = 8;
/// One more place for files whose level the adapter does not know.
pub(crate) const PLACES: usize = LEVELS + 1;

/// Queries of one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// Answered "no" by the filter: the file was not read.
    pub skipped: u64,
    /// Answered "maybe" by the filter and "no" by a learned gap: the file was not read.
    pub skipped_by_gap: u64,
    /// Answered "maybe": the file was read.
    pub passed: u64,
    /// Known to have been answered "maybe" in vain; part of `passed`, and at most what the adapter could learn.
    pub false_positives: u64,
}

impl Asked {
    /// All queries.
    pub fn asked(&self) -> u64 {
        self.skipped + self.skipped_by_gap + self.passed
    }
}

/// Where `level` is counted.
pub(crate) fn place(level: Option<usize>) -> usize {
    level.map_or(LEVELS, |level| level.min(LEVELS - 1))
}

/// [`Counters`](crate::Counters) as they stood at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountersSnapshot {
    pub(crate) levels: [Asked; PLACES],
    /// Filters built and handed to the engine.
    pub built: u64,
    /// Sealed bytes of those filters together.
    pub built_bytes: u64,
    /// Filters among them that needed another budget or family than asked for.
    pub coarsened: u64,
    /// Filters among them that say "maybe" to more than half of the queries that they should deny: of the sample, or points
    /// and short ranges where there is none.
    pub hardly_answering: u64,
    /// Files without a filter because nothing fits the budget and its cap.
    pub not_stored: u64,
    /// Files without a filter because of keys out of order, keys the codec does not take, or another error.
    pub build_failures: u64,
    /// Filters opened.
    pub opened: u64,
    /// Files met whose writer stored no filter: its spec builds none, or no filter could be built; they are always read.
    pub unfiltered: u64,
    /// Bytes met that did not open as a filter for this codec; their files are always read.
    pub open_failures: u64,
    /// Panics of a codec or of a filter at a question, or when a scan was noted; the files are read.
    pub panics: u64,
    /// Scans of the whole database that returned no row.
    pub empty_scans: u64,
    /// Hints and learned gaps.
    pub gaps: GapCounts,
    /// The message of the last failure, or of the last filter that hardly answers.
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
            skipped_by_gap: sum.skipped_by_gap + level.skipped_by_gap,
            passed: sum.passed + level.passed,
            false_positives: sum.false_positives + level.false_positives,
        })
    }

    /// For tests: that no filter was left out because of its keys, none could not be opened, and none panicked. In
    /// production nothing of it is an error, since the files are read.
    ///
    /// # Errors
    /// `InvalidInput` with the last problem: usually the codec is not that of the keys, or not that of the files.
    ///
    /// ```
    /// use lacuna_guard::Counters;
    ///
    /// Counters::default().snapshot().check()?;
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    pub fn check(&self) -> Result<()> {
        if self.build_failures + self.open_failures + self.panics == 0 {
            return Ok(());
        }
        let why = self.last_problem.as_deref().unwrap_or("no reason was kept");
        Err(Error::invalid_input(format!(
            "{} filters were not built and {} not opened, so their files are always read, and {} questions panicked; the \
             last: {why}. Does the codec fit the keys?",
            self.build_failures, self.open_failures, self.panics
        )))
    }

    /// Questions put to filters.
    pub fn asked(&self) -> u64 {
        self.total().asked()
    }

    /// Questions that filters answered "no": file reads that did not happen.
    pub fn skipped(&self) -> u64 {
        self.total().skipped
    }

    /// Questions that learned gaps answered "no" after the filter's "maybe": more file reads that did not happen.
    pub fn skipped_by_gap(&self) -> u64 {
        self.total().skipped_by_gap
    }

    /// Questions answered "maybe".
    pub fn passed(&self) -> u64 {
        self.total().passed
    }
}

fn write_asked(f: &mut fmt::Formatter<'_>, name: &str, asked: &Asked) -> fmt::Result {
    let Asked { skipped, skipped_by_gap, passed, false_positives } = asked;
    write!(f, "{name}: asked {}, skipped {skipped}", asked.asked())?;
    if *skipped_by_gap > 0 {
        write!(f, ", skipped by a gap {skipped_by_gap}")?;
    }
    write!(f, ", passed {passed}")?;
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
        let Self { built, built_bytes, coarsened, not_stored, build_failures, .. } = self;
        write!(
            f,
            "\nbuilt: {built} in {built_bytes} bytes ({coarsened} coarsened), none fits {not_stored}, \
             failed {build_failures}"
        )?;
        if self.hardly_answering > 0 {
            write!(f, ", hardly answering {}", self.hardly_answering)?;
        }
        let Self { opened, unfiltered, open_failures, empty_scans, .. } = self;
        write!(f, "\nopened: {opened}, without filter {unfiltered}, failed {open_failures}")?;
        if self.panics > 0 {
            write!(f, ", panicked {}", self.panics)?;
        }
        write!(f, "\nscans without a row: {empty_scans}")?;
        if self.gaps != GapCounts::default() {
            write!(f, "\n{}", self.gaps)?;
        }
        match &self.last_problem {
            Some(problem) => write!(f, "\nlast problem: {problem}"),
            None => Ok(()),
        }
    }
}
