//! Which columns are worth a cache, by the statements of all sessions.
//!
//! Sessions put what they have seen into a bounded list and go on; a task reads it 20 times a second. For each column
//! that a statement bounds it keeps what a cache would hold: the statements that were asked, and their intervals. The
//! same statement again, with the same values, is a hit that would have spared its time; a write takes the results whose
//! interval it touches, and all of them if its own interval is not known.
//!
//! With `WHERE customer = 7` asked three times, a write to customer 8 in between and one to customer 7 before the third,
//! the gain of `customer` is one statement.
//!
//! It is an estimate: rollbacks count as writes, triggers and cascades are not seen, statements that no list had room
//! for are only counted, and a statement that bounds two columns counts for both. Texts and values leave memory with the
//! process; reports name tables, columns and functions only.

mod collector;
mod interval;
mod learned;
mod report;

#[cfg(test)]
mod tests;

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::follow::Seen;

pub(crate) use collector::Collector;
use learned::Learned;

/// Most bytes of statements that wait to be read: some ten thousand of them.
const MAX_WAITING: usize = 8 << 20;

/// What the statements of a proxy's sessions say about columns. One value may serve several proxies.
///
/// ```no_run
/// use std::sync::Arc;
/// use lacuna_proxy::{Options, Suggestions};
///
/// # async fn run() -> Result<(), lacuna_base::Error> {
/// let suggestions = Arc::new(Suggestions::default());
/// let upstream = "postgres://127.0.0.1:5432".parse()?;
/// let proxy = Options::new(upstream).with_suggestions(suggestions.clone()).start().await?;
/// // … clients work …
/// println!("{}", suggestions.report());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Suggestions {
    waiting: Mutex<Waiting>,
    missed: AtomicU64,
    learned: Mutex<Learned>,
}

/// Statements that wait to be read, and their bytes.
#[derive(Debug, Default)]
struct Waiting {
    statements: Vec<Seen>,
    bytes: usize,
}

/// What a column would gain by a cache.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The table, with its schema if statements name it.
    pub table: String,
    /// The column.
    pub column: String,
    /// Statements that bound it.
    pub asked: u64,
    /// Rows that they returned.
    pub rows: u64,
    /// Time that they took, as the proxy saw it.
    pub time: Duration,
    /// Statements that were asked before with the same values.
    pub repeated: u64,
    /// Statements that a cache would have answered: repeated, and no write had touched their interval.
    pub spared: u64,
    /// Time that these took.
    pub spared_time: Duration,
    /// Writes of the table since its first read.
    pub writes: u64,
}

impl Suggestions {
    /// Keeps a statement until it is read; it is only counted if too many wait.
    pub(crate) fn record(&self, seen: Seen) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.bytes += seen.bytes();
        if waiting.bytes < MAX_WAITING {
            waiting.statements.push(seen);
        } else {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reads what waits.
    pub(crate) fn learn(&self) {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.statements.iter().for_each(|seen| learned.learn(seen));
    }

    /// What was learned so far, the largest gain first.
    pub fn all(&self) -> Vec<Suggestion> {
        self.learn();
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).suggestions()
    }

    /// The same as a table of text, with the reasons why other statements gain nothing.
    pub fn report(&self) -> String {
        let suggestions = self.all();
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        report::text(&suggestions, &learned, self.missed.load(Ordering::Relaxed))
    }

    /// Reads on its own until the result is dropped.
    pub(crate) fn start_collecting(self: &Arc<Self>) -> Collector {
        Collector::start(self.clone())
    }
}
