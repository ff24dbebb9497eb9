//! Suggestions as text.

use std::fmt::Write as _;
use std::time::Duration;

use super::Suggestion;
use super::learned::Learned;

/// Most lines of columns and of reasons.
const MAX_COLUMNS: usize = 20;
const MAX_REASONS: usize = 10;

pub(super) fn text(suggestions: &[Suggestion], learned: &Learned, missed: u64) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = write!(text, "{}", summary(learned, missed));
    if !suggestions.is_empty() {
        text.push_str(&columns(suggestions));
    }
    if !learned.reasons.is_empty() {
        text.push_str(&reasons(learned));
    }
    text
}

fn summary(learned: &Learned, missed: u64) -> String {
    let Learned { statements, reads, writes, .. } = learned;
    let mut text = format!(
        "{statements} statements: {reads} reads that bound a column of one table, {writes} writes of a table\n"
    );
    if missed > 0 {
        let _ = writeln!(text, "{missed} more came too fast to be read");
    }
    text
}

fn columns(suggestions: &[Suggestion]) -> String {
    let mut rows = vec![
        ["column", "asked", "rows", "ms", "repeated", "writes", "spared", "ms spared"].map(str::to_owned),
    ];
    rows.extend(suggestions.iter().take(MAX_COLUMNS).map(|suggestion| {
        let Suggestion { table, column, asked, rows, time, repeated, spared, spared_time, writes } =
            suggestion;
        [
            format!("{table}.{column}"),
            asked.to_string(),
            rows.to_string(),
            millis(*time),
            repeated.to_string(),
            writes.to_string(),
            spared.to_string(),
            millis(*spared_time),
        ]
    }));
    let width = |nth: usize| rows.iter().map(|row| row[nth].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..8).map(width).collect();
    let mut text = "\nWhat a cache of a column would have spared, the largest gain first:\n".to_owned();
    for [column, numbers @ ..] in &rows {
        let _ = write!(text, "  {column:<width$}", width = widths[0]);
        for (number, width) in numbers.iter().zip(&widths[1..]) {
            let _ = write!(text, "  {number:>width$}");
        }
        text.push('\n');
    }
    text
}

fn millis(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1_000.0)
}

fn reasons(learned: &Learned) -> String {
    let mut all: Vec<_> = learned.reasons.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut text =
        "\nStatements that are relayed and nothing else, the most frequent reason first:\n".to_owned();
    for (reason, count) in all.into_iter().take(MAX_REASONS) {
        let _ = writeln!(text, "  {count:>8}  {reason}");
    }
    text
}
