//! A picture as text of at most 80 columns and 24 lines, and the terminal that shows it.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use super::picture::{Picture, RangeNow, TableNow};
use crate::errors::{Failure, Result};
use crate::interrupt::{BeforeEnd, before_end};

/// The screen of full-screen programs, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// What was there before, with its cursor.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// To the upper left corner.
const HOME: &str = "\x1b[H";
/// The rest of the line, and of the screen, is empty.
const CLEAR_LINE: &str = "\x1b[K\r\n";
const CLEAR_REST: &str = "\x1b[J";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

const MAX_TABLES: usize = 10;
const MAX_RANGES: usize = 5;
const MAX_SILENT: usize = 2;
const WIDTH: usize = 80;

/// A terminal that is left as it was, also after Ctrl-C.
#[derive(Debug)]
pub(super) struct Screen(Option<BeforeEnd>);

impl Screen {
    pub(super) fn enter() -> Self {
        let settled = before_end(|| show(LEAVE));
        show(ENTER);
        Self(Some(settled))
    }

    pub(super) fn draw(&self, picture: &Picture) -> Result<()> {
        let mut text = HOME.to_owned();
        for line in lines(picture) {
            let (on, off) = if line.is_title { (BOLD, PLAIN) } else { ("", "") };
            let _ = write!(text, "{on}{}{off}{CLEAR_LINE}", line.text);
        }
        text.push_str(CLEAR_REST);
        let mut out = stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::from_output)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(settled) = self.0.take() {
            settled.settle(|| show(LEAVE));
        }
    }
}

/// A terminal that has gone away needs nothing.
fn show(text: &str) {
    let mut out = stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

struct Line {
    text: String,
    is_title: bool,
}

fn lines(picture: &Picture) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |text: String, is_title| {
        let text = text.chars().map(|letter| if letter.is_control() { '?' } else { letter });
        lines.push(Line { text: text.take(WIDTH).collect(), is_title });
    };
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

/// At most `max` letters, the last of which says that there are more.
fn cut(name: &str, max: usize) -> String {
    if name.chars().count() <= max {
        return name.to_owned();
    }
    name.chars().take(max - 1).chain(['~']).collect()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn short_count(number: u64) -> String {
    short(number as f64)
}

/// Three digits and a unit: 7, 1.2k, 45.1M.
fn short(number: f64) -> String {
    let units = ["", "k", "M", "G", "T"];
    let mut scaled = number;
    for unit in units {
        if scaled < 999.5 || unit == "T" {
            let digits = usize::from(scaled < 99.95 && (!unit.is_empty() || scaled.fract() > 0.049));
            return format!("{scaled:.digits$}{unit}");
        }
        scaled /= 1_000.0;
    }
    unreachable!("the last unit ends the search")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 7.0, 7.25, 99.96, 999.4, 1_234.0, 45_123_000.0, 1e15].map(short);
        assert_eq!(shown, ["0", "7", "7.2", "100", "999", "1.2k", "45.1M", "1000T"]);
    }

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
