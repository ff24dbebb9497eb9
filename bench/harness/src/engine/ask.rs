//! A run of questions against one database.

use std::time::{Duration, Instant};

use lacuna_base::{ByteColumn, Error, Result};
use lacuna_workload::Rng;

use super::{Counts, Database, Direction, Question};
use crate::harness::Stopwatch;

/// Stream of the keys that warm a database.
const WARMING: u64 = 212;

/// How questions are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Whether they are single keys, to be looked up and not sought.
    pub points: bool,
    /// Which way seeks go.
    pub direction: Direction,
    /// Rows after which a seek ends.
    pub max_rows: u64,
}

impl Manner {
    /// Closed seeks: the smallest key of the range, if there is one.
    pub const CLOSED_SEEK: Self = Self { points: false, direction: Direction::Forward, max_rows: 1 };
    /// Lookups of single keys.
    pub const POINTS: Self = Self { points: true, ..Self::CLOSED_SEEK };
}

/// The result of a run of questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Questions.
    pub questions: u64,
    /// Rows found.
    pub rows: u64,
    /// Time without waiting for a processor.
    pub elapsed: Duration,
    /// Time by the clock on the wall, which is also the engine's.
    pub wall: Duration,
    /// The reads.
    pub counts: Counts,
}

impl Asked {
    /// `value` for each question.
    pub(crate) fn per_question(&self, value: u64) -> f64 {
        value as f64 / (self.questions.max(1)) as f64
    }

    /// Nanoseconds for each question.
    pub(crate) fn ns(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / (self.questions.max(1)) as f64
    }
}

/// Puts all `questions` to a database.
///
/// # Errors
/// As [`Database::seek`]; `Corrupt` if a row is missing, or there is one where none was written.
pub fn ask(database: &dyn Database, questions: &[Question], manner: Manner) -> Result<Asked> {
    let (asked, found) = ask_each(database, questions, manner)?;
    if questions.iter().zip(&found).any(|(question, &rows)| question.is_empty != (rows == 0)) {
        return Err(Error::corrupt("the database does not answer what was written into it; this is a bug"));
    }
    Ok(asked)
}

/// Puts all `questions` to a database, and gives the rows of each.
pub(super) fn ask_each(
    database: &dyn Database,
    questions: &[Question],
    manner: Manner,
) -> Result<(Asked, Vec<u64>)> {
    let mut found = Vec::with_capacity(questions.len());
    let before = database.counts();
    let (start, wall) = (Stopwatch::start(), Instant::now());
    for question in questions {
        found.push(match manner.points {
            true => u64::from(database.has(&question.lo)?),
            false => database.seek(question, manner.direction, manner.max_rows)?,
        });
    }
    let (wall, elapsed) = (wall.elapsed(), start.elapsed());
    let counts = database.counts() - before;
    let asked = Asked { questions: questions.len() as u64, rows: found.iter().sum(), elapsed, wall, counts };
    Ok((asked, found))
}

/// Looks up `count` keys at random, so that caches hold what a running database has there.
///
/// # Errors
/// As [`Database::has`]; `Corrupt` if a key is not found.
pub fn warm(database: &dyn Database, keys: &ByteColumn, count: usize, seed: u64) -> Result<()> {
    let mut rng = Rng::with_stream(seed, WARMING);
    for _ in 0..if keys.is_empty() { 0 } else { count } {
        if !database.has(keys.get(rng.index(keys.len())))? {
            return Err(Error::corrupt("a key that was written is not found; this is a bug"));
        }
    }
    Ok(())
}
