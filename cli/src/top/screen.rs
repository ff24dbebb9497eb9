//! A picture as text of at most 80 columns and 24 lines.

use super::picture::{Picture, RangeNow, TableNow};
use crate::terminal::{Line, cut, percent, short};

const MAX_TABLES: usize = 10;
const MAX_RANGES: usize = 5;
const MAX_SILENT: usize = 2;

pub(super) fn lines(picture: &Picture) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |text: String, is_title| lines.push(Line::new(&text, is_title));
    let reads: f64 = picture.tables.iter().map(|table| table.reads).sum();
    let hits: f64 = picture.tables.iter().map(|table| table.hits).sum();
    let rate = percent((reads > 0.0).then(|| hits / reads));
    let who = format!("{} of {} dendrites", picture.answered, picture.asked);
    add(format!("lacuna cache top   {who}   {} reads/s, {rate} hits", short(reads)), true);
    for (address, why) in picture.silent.iter().take(MAX_SILENT) {
        add(format!("{address} is silent: {why}"), false);
    }
    add(String::new(), false);
    add(head(), true);
    picture.tables.iter().take(MAX_TABLES).for_each(|table| add(row(table), false));
    add(more(picture.tables.len(), MAX_TABLES, "tables"), false);
    add(format!("{:<30}{:>8}{:>28}{:>14}", "hottest ranges", "range", "dendrite", "requests/s"), true);
    picture.ranges.iter().take(MAX_RANGES).for_each(|range| add(range_row(range), false));
    add(more(picture.ranges.len(), MAX_RANGES, "ranges"), false);
    lines
}

fn head() -> String {
    format!(
        "{:<20}{:>8}{:>7}{:>8}{:>8}{:>7}{:>8}{:>6}{:>8}",
        "table", "reads/s", "hits", "writes", "store", "ranges", "entries", "lease", "pinned"
    )
}

fn row(table: &TableNow) -> String {
    format!(
        "{:<20}{:>8}{:>7}{:>8}{:>8}{:>7}{:>8}{:>6}{:>8}",
        cut(&table.table, 19),
        short(table.reads),
        percent(table.hit_rate),
        short(table.writes),
        short(table.store_queries),
        table.owned_ranges,
        short_count(table.entries),
        short_count(table.leases),
        short_count(table.pinned_bytes),
    )
}

fn range_row(range: &RangeNow) -> String {
    let requests = short(range.requests);
    let (table, dendrite) = (cut(&range.table, 29), cut(&range.dendrite, 26));
    format!("{table:<30}{:>8}{dendrite:>28}{requests:>14}", range.range)
}

fn more(count: usize, max: usize, what: &str) -> String {
    if count > max { format!("and {} more {what}", count - max) } else { String::new() }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn short_count(number: u64) -> String {
    short(number as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::WIDTH;

    #[test]
    fn a_picture_fits_a_small_terminal_whatever_it_shows() {
        let table = |number: usize| TableNow {
            table: format!("a_schema.a_table_with_a_long_name_\u{1b}[2J_{number}"),
            reads: 123_456.7,
            hits: 123_000.0,
            hit_rate: Some(1.0),
            writes: 99_999.0,
            store_queries: 88_888.8,
            owned_ranges: 128,
            entries: u64::MAX,
            leases: 12_345,
            buffered_writes: 1,
            pinned_bytes: 999_999_999,
        };
        let range = |number: usize| RangeNow {
            table: "t".repeat(99),
            range: number.to_string(),
            dendrite: "a-host.of-a-long.name.internal:9400".to_owned(),
            requests: 1e9,
        };
        let picture = Picture {
            seconds: 2.0,
            answered: 1,
            asked: 9,
            silent: (1..9)
                .map(|place| (format!("10.0.0.{place}:9400"), "a long reason ".repeat(20)))
                .collect(),
            tables: (0..30).map(table).collect(),
            ranges: (0..30).map(range).collect(),
        };
        let lines = lines(&picture);
        for line in &lines {
            assert!(line.text.chars().count() <= WIDTH && !line.text.contains('\u{1b}'), "{}", line.text);
        }
        assert!(lines.len() <= 23, "and a line for the cursor: {}", lines.len());
    }
}
