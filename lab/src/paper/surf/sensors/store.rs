//! One database of events: written with a filter in every file, warmed, asked.

use std::sync::Arc;

use lacuna_base::{Error, Result};
use lacuna_slatedb::RangeFilters;
use lacuna_slatedb::measure::MeasuredDb;
use slatedb::config::ScanOptions;
use slatedb::object_store::memory::InMemory;
use slatedb::{Db, Error as StoreError};

use super::events::{Events, Key, Question};
use lacuna_bench::harness::Stopwatch;

/// Files that each question meets: the paper's three levels below level 0.
const FILES: usize = 3;
/// Bytes of a value.
const VALUE_BYTES: usize = 1_000;
/// The block cache holds one row in this many: the paper reads 1.5 of 3 blocks without filters.
const CACHE_PART: usize = 2;
/// Runs whose mean is taken.
pub(super) const RUNS: u64 = 3;

/// How much is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Gets of present keys before anything is counted.
    pub(super) warming: usize,
    /// Questions of each kind in each run.
    pub(super) questions: usize,
    pub(super) seed: u64,
}

/// The cost of one kind of question; means over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// Object reads a question.
    pub(super) reads: f64,
    /// Nanoseconds a question, reads from memory included.
    pub(super) ns: f64,
    /// Share of questions without an event.
    pub(super) empty_share: f64,
}

/// The result of a database with one kind of filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// The name in legends.
    pub(super) name: &'static str,
    /// Bits of filter per key.
    pub(super) bits: f64,
    /// Points.
    pub(super) points: Cost,
    /// Ranges, as the lengths that were asked for.
    pub(super) ranges: Vec<Cost>,
}

/// Writes the events, and asks points and ranges of each length, in [`RUNS`] runs over freshly opened databases.
///
/// # Errors
/// As the store's; `Corrupt` if an answer is wrong.
pub(super) fn outcome(
    name: &'static str,
    spec: Option<&str>,
    events: &Events,
    ranges_ns: &[u64],
    plan: Plan,
) -> Result<Outcome> {
    let store = Arc::new(InMemory::new());
    let lacuna = spec.map(|spec| RangeFilters::parse(&format!("{spec} codec=bytes seed={}", plan.seed)));
    let measured = match lacuna.transpose()? {
        Some(lacuna) => MeasuredDb::new(store, "events", Some(lacuna)),
        None => MeasuredDb::without_filters(store, "events"),
    };
    // One thread, so that the stopwatch measures all of the database's work and no other program's.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::unavailable(format!("no threads for the store: {error}")))?;
    runtime.block_on(async {
        let value = vec![0; VALUE_BYTES];
        let rows = events.keys().map(|key| (key, &value));
        measured.write_rows_interleaved(rows, FILES).await.map_err(failed)?;
        let mut outcome =
            Outcome { name, bits: bits(&measured, events), points: Cost::ZERO, ranges: Vec::new() };
        outcome.ranges.resize(ranges_ns.len(), Cost::ZERO);
        for run in 0..RUNS {
            add_run(&measured, events, ranges_ns, Plan { seed: plan.seed + run, ..plan }, &mut outcome)
                .await?;
        }
        Ok(outcome)
    })
}

fn bits(measured: &MeasuredDb, events: &Events) -> f64 {
    let bytes = measured.lacuna().map_or(0, |lacuna| lacuna.stats().built_bytes);
    bytes as f64 * 8.0 / events.len() as f64
}

/// One run over a database opened anew: warm it, then ask everything.
async fn add_run(
    measured: &MeasuredDb,
    events: &Events,
    ranges_ns: &[u64],
    plan: Plan,
    outcome: &mut Outcome,
) -> Result<()> {
    let cache_bytes = events.len() * (VALUE_BYTES + size_of::<Key>()) / CACHE_PART;
    let db = measured.open_warm(cache_bytes as u64).await.map_err(failed)?;
    for key in events.picked(plan.warming, plan.seed) {
        if db.get(key).await.map_err(failed)?.is_none() {
            return Err(Error::corrupt("an event was not found"));
        }
    }
    outcome.points.add(ask(measured, &db, events, &events.questions(plan.questions, 0, plan.seed)).await?);
    for (cost, &range_ns) in outcome.ranges.iter_mut().zip(ranges_ns) {
        let questions = events.questions(plan.questions, range_ns, plan.seed);
        cost.add(ask(measured, &db, events, &questions).await?);
    }
    db.close().await.map_err(failed)
}

/// Asks all `questions` and compares each answer with the events.
async fn ask(measured: &MeasuredDb, db: &Db, events: &Events, questions: &[Question]) -> Result<Cost> {
    let before = measured.store().reads();
    let mut answers = Vec::with_capacity(questions.len());
    let start = Stopwatch::start();
    for &question in questions {
        answers.push(first_in(db, question).await.map_err(failed)?);
    }
    let elapsed = start.elapsed();
    let reads = (measured.store().reads() - before).gets;
    if questions.iter().zip(&answers).any(|(question, answer)| events.first_in(*question) != *answer) {
        return Err(Error::corrupt("the store does not answer what was written into it"));
    }
    let count = questions.len() as f64;
    let empty = answers.iter().filter(|answer| answer.is_none()).count() as f64;
    Ok(Cost {
        reads: reads as f64 / count,
        ns: elapsed.as_nanos() as f64 / count,
        empty_share: empty / count,
    })
}

/// A get, or a closed seek: the earliest event of a range.
async fn first_in(db: &Db, (low, high): Question) -> std::result::Result<Option<Key>, StoreError> {
    let (low, high) = (low.to_be_bytes(), high.to_be_bytes());
    if low == high {
        return Ok(db.get(low).await?.map(|_| low));
    }
    let options = ScanOptions { cache_blocks: true, ..ScanOptions::default() };
    let row = db.scan_with_options(low..=high, &options).await?.next().await?;
    Ok(row.and_then(|row| Key::try_from(&row.key[..]).ok()))
}

impl Cost {
    const ZERO: Self = Self { reads: 0.0, ns: 0.0, empty_share: 0.0 };

    /// Adds one run to the mean.
    fn add(&mut self, run: Self) {
        let part = |whole: f64| whole / RUNS as f64;
        self.reads += part(run.reads);
        self.ns += part(run.ns);
        self.empty_share += part(run.empty_share);
    }
}

fn failed(error: StoreError) -> Error {
    Error::unavailable(format!("the store failed: {error}")).with_source(error)
}
