//! Figures 4 and 5: memory that buffered writes pin.

use std::time::Duration;

use crate::paper::{Axis, Finding, Line, Plot, Session, Summary};
use lacuna_base::Result;

use super::stage::{BACK, Runs, SHARES, by_share, length, line, notes, panel, setup, summary};
use crate::cache_bench::row::Row;
use crate::cache_bench::setup::{Setup, StoreKind};

const KIBIBYTE: f64 = 1024.0;
const NO_NUMBERS: &str =
    "The report draws this without numbers, and its amounts are those of 10 million records.";

/// How long a point of figure 5 is, unless a time or a number of operations is asked for: checkpoints of the store come and go.
const OVER_TIME: Duration = Duration::from_secs(30);

/// Figure 4.
pub(super) fn by_share_of_scans(session: &mut Session<'_>) -> Result<Finding> {
    let rows = by_share(session, &SHARES, |session, share| Setup {
        has_warm_start: true,
        ..setup(session, BACK, StoreKind::PostgresAsync, share)
    })?;
    let buffered = |row: &Row| most(row.pinned.iter().map(|(_, bytes)| *bytes));
    // Both are counted at the same moments.
    let both =
        |row: &Row| most(row.pinned.iter().zip(&row.entry_log).map(|((_, pinned), (_, log))| pinned + log));
    let values =
        |of: fn(&Row) -> f64| -> Vec<Summary> { rows.iter().map(|runs| summary(runs, of)).collect() };
    let lines = vec![
        line("buffered writes", &SHARES, &values(buffered)),
        line("buffered writes and log records", &SHARES, &values(both)),
    ];
    let plots = vec![panel("write-back", Axis::linear("most pinned memory of a run, KiB"), lines)];
    let mut notes = notes(session, &rows);
    notes.push(
        "The log records are those of the cached results (`with_warm_start`). The table was warm, so that they are about all \
         scans there are, whatever the share of scans."
            .to_owned(),
    );
    notes.push(NO_NUMBERS.to_owned());
    Ok(Finding { plots, notes, ..Finding::default() })
}

/// The most of these bytes, in KiB.
fn most(bytes: impl Iterator<Item = u64>) -> f64 {
    bytes.max().unwrap_or(0) as f64 / KIBIBYTE
}

/// Figure 5.
pub(super) fn over_time(session: &mut Session<'_>) -> Result<Finding> {
    let shares = [90, 95, 99];
    let rows = by_share(session, &shares, |session, share| Setup {
        length: length(session, OVER_TIME),
        ..setup(session, BACK, StoreKind::PostgresAsync, share)
    })?;
    let lines = shares
        .iter()
        .zip(&rows)
        .map(|(share, runs)| Line::of_runs(format!("{share} % scans"), samples(runs)));
    let plot = Plot {
        title: "buffered writes".to_owned(),
        x: Axis::linear("seconds"),
        y: Axis::linear("pinned memory, KiB"),
        lines: lines.collect(),
    };
    let mut notes = notes(session, &rows);
    notes.push(NO_NUMBERS.to_owned());
    Ok(Finding { plots: vec![plot], notes, ..Finding::default() })
}

/// What was pinned after each part of the runs, by the seconds from their start.
fn samples(runs: &Runs) -> Vec<(f64, Summary)> {
    let count = runs.iter().map(|row| row.pinned.len()).min().unwrap_or(0);
    let sample = |place: usize| {
        let seconds = summary(runs, |row| row.pinned[place].0).median;
        (seconds, summary(runs, |row| row.pinned[place].1 as f64 / KIBIBYTE))
    };
    (0..count).map(sample).collect()
}
