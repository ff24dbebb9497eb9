//! The table: a row for each filter and budget, the best of each budget marked, and what is to be said about some.

use super::escaped;
use super::reading::Reading;
use crate::report::{shown_rate, shown_share};
use crate::{Outcome, Row, Unfit};

/// A column: its heading, its value, and how that is written.
struct Column {
    heading: &'static str,
    value: fn(&Row) -> Option<f64>,
    shown: fn(f64) -> String,
    /// Whether the least value of a budget is marked.
    has_best: bool,
}

const COLUMNS: [Column; 10] = [
    Column {
        heading: "asked",
        value: |row| Some(row.bits_per_key_asked),
        shown: |bits| bits.to_string(),
        has_best: false,
    },
    Column {
        heading: "bits/key",
        value: |row| Some(row.bits_per_key),
        shown: |bits| format!("{bits:.2}"),
        has_best: false,
    },
    Column { heading: "rate", value: |row| row.fpr, shown: |rate| shown_rate(Some(rate)), has_best: true },
    Column {
        heading: "predicted",
        value: |row| row.predicted_fpr,
        shown: |rate| shown_rate(Some(rate)),
        has_best: false,
    },
    Column {
        heading: "missed",
        value: |row| Some(row.false_negatives as f64),
        shown: |count| count.to_string(),
        has_best: false,
    },
    Column { heading: "ns/query", value: |row| Some(row.ns_per_query), shown: tenths, has_best: true },
    Column { heading: "spread", value: |row| Some(row.spread()), shown: shown_share, has_best: false },
    Column { heading: "batched", value: |row| Some(row.ns_per_query_batched), shown: tenths, has_best: true },
    Column {
        heading: "memory floor",
        value: |row| Some(row.memory_floor_ns),
        shown: tenths,
        has_best: false,
    },
    Column {
        heading: "build ns/key",
        value: |row| Some(row.build_ns_per_key),
        shown: tenths,
        has_best: true,
    },
];

/// The column that the table is sorted by at first.
const FIRST_SORTED: &str = "rate";

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// The table of `outcomes`, sorted by rate, and the notes below it.
pub(super) fn table(outcomes: &[&Outcome], readings: &[Reading<'_>]) -> String {
    let heading = |column: &Column| {
        let sorted = if column.heading == FIRST_SORTED { " aria-sort=\"ascending\"" } else { "" };
        format!("<th scope=\"col\"{sorted}>{}</th>", column.heading)
    };
    let headings: String = COLUMNS.iter().map(heading).collect();
    let mut sorted: Vec<&Reading<'_>> = readings.iter().collect();
    let rate = |reading: &Reading<'_>| reading.row.fpr.unwrap_or(f64::INFINITY);
    sorted.sort_by(|left, right| rate(left).total_cmp(&rate(right)));
    let lines: String = sorted.into_iter().map(|reading| line(reading, readings)).collect();
    let unfit: String = outcomes.iter().filter_map(|outcome| unfit_line(outcome)).collect();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"All values\" tabindex=\"0\"><table>\n\
         <thead><tr><th scope=\"col\">filter</th>{headings}</tr></thead>\n<tbody>\n{lines}{unfit}</tbody>\n</table></div>\n\
         <p class=\"quiet\">Bold: the best of its budget. Spread: how far the middle half of the rounds of single queries lies \
         apart, as a share of their median; above 10 %, the machine was busy with something else. Memory floor: one random read in as much memory as the filter \
         has. Missed: keys or ranges that were denied; anything but 0 is a bug.</p>\n{}",
        notes(readings)
    )
}

fn line(reading: &Reading<'_>, all: &[Reading<'_>]) -> String {
    let cells: String = COLUMNS.iter().map(|column| cell(column, reading.row, all)).collect();
    let (class, spec) = (if reading.leads { "lead" } else { "" }, escaped(&reading.row.spec));
    format!("<tr class=\"{class}\" data-spec=\"{spec}\"><th scope=\"row\">{spec}</th>{cells}</tr>\n")
}

fn cell(column: &Column, row: &Row, all: &[Reading<'_>]) -> String {
    let Some(value) = (column.value)(row) else { return "<td data-value=\"\">-</td>".to_owned() };
    let rivals = all.iter().filter(|other| other.row.bits_per_key_asked == row.bits_per_key_asked);
    let is_best =
        column.has_best && rivals.filter_map(|other| (column.value)(other.row)).all(|other| value <= other);
    let class = match column.heading {
        "missed" if value > 0.0 => " class=\"bug\"",
        _ if is_best => " class=\"best\"",
        _ => "",
    };
    format!("<td{class} data-value=\"{value}\">{}</td>", (column.shown)(value))
}

fn unfit_line(outcome: &Outcome) -> Option<String> {
    let Outcome::Unfit(Unfit { spec, bits_per_key_asked, note, .. }) = outcome else { return None };
    let (spec, note, others) = (escaped(spec), escaped(note), COLUMNS.len() - 1);
    Some(format!(
        "<tr data-spec=\"{spec}\"><th scope=\"row\">{spec}</th><td data-value=\"{bits_per_key_asked}\">{bits_per_key_asked}</td>\
         <td class=\"note\" colspan=\"{others}\">{note}</td></tr>\n"
    ))
}

/// Each note once, under its filter.
fn notes(readings: &[Reading<'_>]) -> String {
    let mut notes: Vec<String> = Vec::new();
    for reading in readings {
        let Some(note) = &reading.row.note else { continue };
        let note = format!("<li><b>{}</b>: {}</li>\n", escaped(&reading.name()), escaped(note));
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    if notes.is_empty() { String::new() } else { format!("<ul>\n{}</ul>\n", notes.concat()) }
}
