//! Databases with different filters, asked in turn.

use lacuna_base::{Error, Result};

use lacuna_workload::count_bytes;

use super::ask::ask_each;
use super::{
    Asked, Database, DatabasePlan, Engine, EngineRow, EngineSetting, FilterChoice, Question,
    false_positive_rate, warm,
};

/// Rounds in which the databases take turns; each asks a part of the questions.
const ROUNDS: usize = 3;
/// One key in this many is looked up to warm the caches.
const KEYS_A_WARMING_GET: usize = 10;
/// Questions that the rate is counted over, at most.
const RATED: usize = 10_000;

/// Writes a database for each filter, asks them all, and gives a row each, in order.
///
/// # Errors
/// As [`Contest::write`] and [`Contest::ask`].
pub fn compare(
    engine: &dyn Engine,
    filters: &[FilterChoice],
    setting: &EngineSetting,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<EngineRow>> {
    Contest::write(engine, filters, setting, progress)?.ask(setting, progress)
}

/// Databases that differ in their filters alone.
pub struct Contest {
    engine: &'static str,
    databases: Vec<(FilterChoice, Box<dyn Database>)>,
}

impl Contest {
    /// Writes and warms a database for each filter.
    ///
    /// # Errors
    /// As [`Engine::create`] and [`warm`].
    pub fn write(
        engine: &dyn Engine,
        filters: &[FilterChoice],
        setting: &EngineSetting,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self> {
        let write = |filter: &FilterChoice| {
            progress(&format!("writing a database with {}", filter.name()));
            Ok((filter.clone(), write(engine, filter, setting)?))
        };
        Ok(Self { engine: engine.name(), databases: filters.iter().map(write).collect::<Result<_>>()? })
    }

    /// Puts the questions of `setting`, whose keys must be those that were written, and gives a row each.
    ///
    /// # Errors
    /// As [`Database::seek`]; `Corrupt` if a database has not as many rows in a range as were written there.
    pub fn ask(&self, setting: &EngineSetting, progress: &mut dyn FnMut(&str)) -> Result<Vec<EngineRow>> {
        let asked = &setting.questions.asked;
        let mut rounds = vec![Vec::new(); self.databases.len()];
        let chunks = asked.chunks(asked.len().div_ceil(ROUNDS).max(1));
        let last = chunks.len().saturating_sub(1);
        for (round, questions) in chunks.enumerate() {
            let written = written(setting, questions);
            // The clocks of the last round slow it down a little, which does not change the median.
            let is_last = round == last;
            for ((filter, database), rounds) in self.databases.iter().zip(&mut rounds) {
                progress(&format!("asking the database with {}", filter.name()));
                database.set_clocks(is_last);
                let (asked, found) = ask_each(&**database, questions, setting.manner)?;
                database.set_clocks(false);
                check_rows(filter, questions, &found, &written)?;
                rounds.push(asked);
            }
        }
        let rated = &asked[..asked.len().min(RATED)];
        let row = |((filter, database), rounds): (&(FilterChoice, Box<dyn Database>), &Vec<Asked>)| {
            let rate = false_positive_rate(&**database, rated)?;
            Ok(EngineRow::new(self.engine, filter, setting, rounds, database.shape()?, rate))
        };
        self.databases.iter().zip(&rounds).map(row).collect()
    }
}

fn write(engine: &dyn Engine, filter: &FilterChoice, setting: &EngineSetting) -> Result<Box<dyn Database>> {
    let keys = &setting.questions.keys;
    let plan = DatabasePlan {
        keys,
        codec: &setting.codec,
        filter,
        sample: &setting.sample,
        value_bytes: setting.value_bytes,
        levels: setting.levels,
        size_ratio: setting.size_ratio,
        cache_bytes: setting.cache_bytes,
        seed: setting.seed,
    };
    let database = engine.create(&plan).map_err(|error| error.with_context(filter.name().to_owned()))?;
    warm(&*database, keys, keys.len() / KEYS_A_WARMING_GET, setting.seed)
        .map_err(|error| error.with_context(filter.name().to_owned()))?;
    Ok(database)
}

/// How many rows each of `questions` has to find.
fn written(setting: &EngineSetting, questions: &[Question]) -> Vec<u64> {
    let rows = |question: &Question| {
        let count = count_bytes(setting.keys(), &question.lo, &question.hi) as u64;
        count.min(if setting.manner.points { 1 } else { setting.manner.max_rows })
    };
    questions.iter().map(rows).collect()
}

/// # Errors
/// `Corrupt`, with the filter and the range, if one has other rows than were written.
fn check_rows(filter: &FilterChoice, questions: &[Question], found: &[u64], written: &[u64]) -> Result<()> {
    let mut rows = questions.iter().zip(found.iter().zip(written));
    match rows.find(|(_, (found, written))| found != written) {
        None => Ok(()),
        Some((Question { lo, hi, .. }, (found, written))) => Err(Error::corrupt(format!(
            "{}: rows from {} to {}: {found} found, {written} written; this is a bug",
            filter.name(),
            hexadecimal(lo),
            hexadecimal(hi)
        ))),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sum of all rounds.
pub(super) fn total(rounds: &[Asked]) -> Asked {
    rounds.iter().fold(Asked::default(), |mut sum, round| {
        sum.questions += round.questions;
        sum.rows += round.rows;
        sum.elapsed += round.elapsed;
        sum.counts.data_blocks += round.counts.data_blocks;
        sum.counts.skipped += round.counts.skipped;
        sum
    })
}

#[cfg(test)]
mod tests {
    use lacuna_base::{ByteColumn, ErrorKind};
    use lacuna_workload::{Keys, Queries, Workload};

    use super::*;
    use crate::engine::{Counts, Direction, Shape};

    /// An engine whose filter hides all rows of a range but `shown`.
    struct Hiding {
        shown: u64,
    }

    struct Rows {
        keys: ByteColumn,
        shown: u64,
    }

    impl Engine for Hiding {
        fn name(&self) -> &'static str {
            "hiding"
        }

        fn create(&self, plan: &DatabasePlan<'_>) -> Result<Box<dyn Database>> {
            Ok(Box::new(Rows { keys: plan.keys.clone(), shown: self.shown }))
        }
    }

    impl Database for Rows {
        fn seek(&self, question: &Question, _: Direction, max_rows: u64) -> Result<u64> {
            let count = count_bytes(&self.keys, &question.lo, &question.hi) as u64;
            Ok(count.min(max_rows).min(self.shown))
        }

        fn has(&self, key: &[u8]) -> Result<bool> {
            Ok(count_bytes(&self.keys, key, key) == 1)
        }

        fn counts(&self) -> Counts {
            Counts::default()
        }

        fn shape(&self) -> Result<Shape> {
            Ok(Shape::default())
        }
    }

    #[test]
    fn a_row_hidden_beside_others_is_noticed() {
        let workload = Workload {
            inserted: Keys::U64((0..100).map(|key| key * 10).collect()),
            held_out: Keys::U64(Vec::new()),
            queries: Queries::U64(vec![(1, 9), (20, 25), (15, 30)]),
        };
        let setting = EngineSetting::brought("keys", "queries", &workload, 1).unwrap();
        let compare =
            |shown, filters: &[FilterChoice]| compare(&Hiding { shown }, filters, &setting, &mut |_| {});
        let grafite = FilterChoice::lacuna("grafite", 14.0);
        let both = [FilterChoice::None, grafite.clone()];
        assert_eq!(compare(2, &both).unwrap().iter().map(|row| row.rows).collect::<Vec<_>>(), [3, 3]);
        let error = compare(1, &[grafite]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let said = "grafite: rows from 000000000000000f to 000000000000001e: 1 found, 2 written";
        assert!(error.to_string().contains(said), "{error}");
    }
}
