//! Figures 4 and 5: memory that buffered writes pin.

use std::rc::Rc;

use crate::paper::{Axis, Finding, Line, Plot, Session};
use lacuna_base::Result;

use super::stage::{BACK, SHARES, by_share, line, notes, panel, setup};
use crate::cache_bench::row::Row;
use crate::cache_bench::setup::StoreKind;

const KIBIBYTE: f64 = 1024.0;
const NO_NUMBERS: &str =
    "The report draws this without numbers, and its amounts are those of 10 million records.";

fn rows(session: &mut Session<'_>, shares: &[u64]) -> Result<Vec<Rc<Row>>> {
    by_share(session, shares, |session, share| setup(session, BACK, StoreKind::PostgresAsync, share))
}

/// Figure 4.
pub(super) fn by_share_of_scans(session: &mut Session<'_>) -> Result<Finding> {
    let rows = rows(session, &SHARES)?;
    let max = |row: &Rc<Row>| row.pinned.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0) as f64 / KIBIBYTE;
    let values: Vec<f64> = rows.iter().map(max).collect();
    let lines = vec![line("write-back", &SHARES, &values)];
    let plots = vec![panel("buffered writes", Axis::linear("most pinned memory of a run, KiB"), lines)];
    let mut notes = notes(session, &rows);
    notes.push("The cache of one process keeps no log records of its indexes: it begins cold.".to_owned());
    notes.push(NO_NUMBERS.to_owned());
    Ok(Finding { plots, notes, ..Finding::default() })
}

/// Figure 5.
pub(super) fn over_time(session: &mut Session<'_>) -> Result<Finding> {
    let shares = [90, 95, 99];
    let rows = rows(session, &shares)?;
    let points = |row: &Rc<Row>| -> Vec<(f64, f64)> {
        row.pinned.iter().map(|(seconds, bytes)| (*seconds, *bytes as f64 / KIBIBYTE)).collect()
    };
    let lines =
        shares.iter().zip(&rows).map(|(share, row)| Line::ours(format!("{share} % scans"), points(row)));
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
