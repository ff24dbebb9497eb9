//! Tables whose columns line up.

use std::fmt;

use crate::{Outcome, Row, Unfit};

/// A table for a terminal: the first column to the left, numbers to the right.
///
/// ```
/// use lacuna_bench::report::Table;
///
/// let mut table = Table::new(["filter", "ns"]);
/// table.push(["grafite", "7"]);
/// assert_eq!(table.to_string(), "filter   ns\ngrafite   7\n");
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self { lines: vec![header.into_iter().map(Into::into).collect()] }
    }

    /// Appends a line.
    ///
    /// # Panics
    /// If it has another number of cells than the header.
    pub fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.lines[0].len(), "one cell for each column");
        self.lines.push(cells);
    }

    fn width(&self, column: usize) -> usize {
        self.lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
    }

    /// Whether everything below the header of `column` starts like a number.
    fn is_numeric(&self, column: usize) -> bool {
        let numeric = |cell: &str| cell == "-" || cell.starts_with(|first: char| first.is_ascii_digit());
        self.lines[1..].iter().all(|line| numeric(&line[column]))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<(usize, bool)> =
            (0..self.lines[0].len()).map(|column| (self.width(column), self.is_numeric(column))).collect();
        for line in &self.lines {
            let mut shown = String::new();
            for (cell, &(width, numeric)) in line.iter().zip(&columns) {
                let cell = if numeric { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
                shown += &cell;
            }
            writeln!(f, "{}", shown.trim_end())?;
        }
        Ok(())
    }
}

/// The columns of [`to_table`].
const HEADER: [&str; 13] = [
    "filter",
    "keys",
    "queries",
    "asked",
    "bits/key",
    "build ns/key",
    "empty",
    "rate",
    "missed",
    "ns/query",
    "spread",
    "batched",
    "floor",
];

/// The rows as an aligned table, and below it what is to be said about some of them.
pub fn to_table(rows: &[Row]) -> String {
    let mut table = Table::new(HEADER);
    rows.iter().for_each(|row| table.push(cells(row)));
    let notes = rows.iter().filter_map(|row| row.note.as_deref().map(|note| (row.spec.as_str(), note)));
    table.to_string() + &noted(notes)
}

/// As [`to_table`], with a row for each filter that does not fit its budget.
pub fn outcomes_to_table(outcomes: &[Outcome]) -> String {
    let mut table = Table::new(HEADER);
    for outcome in outcomes {
        match outcome {
            Outcome::Row(row) => table.push(cells(row)),
            Outcome::Unfit(unfit) => table.push(unfit_cells(unfit)),
        }
    }
    let notes = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Row(row) => row.note.as_deref().map(|note| (row.spec.as_str(), note)),
        Outcome::Unfit(unfit) => Some((unfit.spec.as_str(), unfit.note.as_str())),
    });
    table.to_string() + &noted(notes)
}

/// Each note once, under its filter.
fn noted<'a>(notes: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (spec, note) in notes {
        let line = format!("{spec}: {note}\n");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.concat()
}

fn unfit_cells(unfit: &Unfit) -> [String; 13] {
    let unknown = || "-".to_owned();
    [
        unfit.spec.clone(),
        unfit.keys.clone(),
        unfit.queries.clone(),
        unfit.bits_per_key_asked.to_string(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
    ]
}

fn cells(row: &Row) -> [String; 13] {
    [
        row.spec.clone(),
        row.keys.clone(),
        row.queries.clone(),
        row.bits_per_key_asked.to_string(),
        format!("{:.2}", row.bits_per_key),
        format!("{:.1}", row.build_ns_per_key),
        row.empty_count.to_string(),
        shown_rate(row.fpr),
        row.false_negatives.to_string(),
        format!("{:.1}", row.ns_per_query),
        shown_share(row.spread()),
        format!("{:.1}", row.ns_per_query_batched),
        format!("{:.1}", row.memory_floor_ns),
    ]
}

/// A share in per cent.
pub(crate) fn shown_share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A rate with three digits that mean something, `-` if it is unknown.
pub(crate) fn shown_rate(rate: Option<f64>) -> String {
    match rate {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(rate) if rate < 0.001 => format!("{rate:.2e}"),
        Some(rate) => format!("{rate:.4}"),
    }
}
