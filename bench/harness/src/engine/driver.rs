//! Databases with different filters, asked in turn.

use lacuna_base::{Error, Result};

use super::{
    Asked, Database, DatabasePlan, Engine, EngineRow, EngineSetting, FilterChoice, ask, false_positive_rate,
    warm,
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
    /// As [`ask`]; `Corrupt` if databases differ in their rows.
    pub fn ask(&self, setting: &EngineSetting, progress: &mut dyn FnMut(&str)) -> Result<Vec<EngineRow>> {
        let asked = &setting.questions.asked;
        let mut rounds = vec![Vec::new(); self.databases.len()];
        for (round, questions) in asked.chunks(asked.len().div_ceil(ROUNDS).max(1)).enumerate() {
            // The clocks of the last round slow it down a little, which does not change the median.
            let is_last = round + 1 == ROUNDS;
            for ((filter, database), rounds) in self.databases.iter().zip(&mut rounds) {
                progress(&format!("asking the database with {}", filter.name()));
                database.set_clocks(is_last);
                rounds.push(ask(&**database, questions, setting.manner)?);
                database.set_clocks(false);
            }
        }
        let rated = &asked[..asked.len().min(RATED)];
        let row = |((filter, database), rounds): (&(FilterChoice, Box<dyn Database>), &Vec<Asked>)| {
            let rate = false_positive_rate(&**database, rated)?;
            Ok(EngineRow::new(self.engine, filter, setting, rounds, database.shape()?, rate))
        };
        let rows: Vec<EngineRow> = self.databases.iter().zip(&rounds).map(row).collect::<Result<_>>()?;
        same_rows(&rows)?;
        Ok(rows)
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
    warm(&*database, keys, keys.len() / KEYS_A_WARMING_GET, setting.seed)?;
    Ok(database)
}

fn same_rows(rows: &[EngineRow]) -> Result<()> {
    match rows.iter().find(|row| row.rows != rows[0].rows) {
        None => Ok(()),
        Some(row) => Err(Error::corrupt(format!(
            "with {} there are {} rows, with {} there are {}; this is a bug",
            rows[0].filter, rows[0].rows, row.filter, row.rows
        ))),
    }
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
