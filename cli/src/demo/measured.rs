//! One store: written, warmed up, asked, and what that cost.

use std::time::{Duration, Instant};

use lacuna_base::hash::hash_bytes;
use lacuna_slatedb::measure::{MeasuredDb, Reads};
use slatedb::Db;
use slatedb::config::ScanOptions;

use super::questions::{Question, Questions};
use super::source::Source;
use super::store_failure;
use crate::errors::Result;

/// The block cache is this part of the rows.
const CACHE_PART: u64 = 10;

/// The settings of every store.
pub(super) struct Plan<'a> {
    pub(super) source: &'a Source,
    pub(super) questions: &'a Questions,
    pub(super) ssts: usize,
}

/// Reads of a store, times of its scans, and a digest of its answers.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) empty: Scans,
    pub(super) full: Scans,
    /// Bytes of all filters, and rows they were built from; none where they are not ours.
    pub(super) filter_bytes: Option<u64>,
    /// A digest of every row returned.
    pub(super) answers: u64,
}

/// A run of scans.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scans {
    pub(super) count: usize,
    pub(super) reads: Reads,
    pub(super) median: Duration,
    pub(super) p99: Duration,
}

impl Plan<'_> {
    /// Writes the rows to `measured`, opens it warm and asks everything: the empty questions once before they count.
    pub(super) async fn run(&self, name: &'static str, measured: MeasuredDb) -> Result<Measured> {
        let rows = self.source.rows.iter().map(|(key, value)| (key, value));
        measured.write_rows_interleaved(rows, self.ssts).await.map_err(store_failure)?;
        let db = measured.open_warm(self.source.bytes() / CACHE_PART).await.map_err(store_failure)?;
        let mut answers = 0;
        scan_all(&measured, &db, &self.questions.empty, &mut answers).await?;
        let empty = scan_all(&measured, &db, &self.questions.empty, &mut answers).await?;
        let full = scan_all(&measured, &db, &self.questions.full, &mut answers).await?;
        let filter_bytes = measured.lacuna().map(|lacuna| lacuna.stats().built_bytes);
        db.close().await.map_err(store_failure)?;
        Ok(Measured { name, empty, full, filter_bytes, answers })
    }
}

async fn scan_all(
    measured: &MeasuredDb,
    db: &Db,
    questions: &[Question],
    answers: &mut u64,
) -> Result<Scans> {
    let before = measured.store().reads();
    let mut times = Vec::with_capacity(questions.len());
    for question in questions {
        let start = Instant::now();
        *answers = scan(db, question, *answers).await.map_err(store_failure)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at =
        |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied();
    Ok(Scans {
        count: questions.len(),
        reads: measured.store().reads() - before,
        median: at(50).unwrap_or_default(),
        p99: at(99).unwrap_or_default(),
    })
}

/// Scans one range to its end and folds its rows into `answers`.
async fn scan(db: &Db, (lo, hi): &Question, mut answers: u64) -> std::result::Result<u64, slatedb::Error> {
    let options = ScanOptions { cache_blocks: true, ..ScanOptions::default() };
    let mut rows = db.scan_with_options(lo.clone()..hi.clone(), &options).await?;
    while let Some(row) = rows.next().await? {
        answers = hash_bytes(&row.value, hash_bytes(&row.key, answers));
    }
    Ok(answers)
}
