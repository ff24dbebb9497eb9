//! Rows for people and for programs: an aligned table, JSON lines, CSV, or a folder with all of them and a page.
//!
//! Same rows, same bytes: nothing here reads a clock.

mod csv;
mod page;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use lacuna_base::{Error, ErrorKind, Result};
use serde::Serialize;

pub use csv::{csv_of, to_csv};
pub use page::{Provenance, to_html};
pub use table::{Table, outcomes_to_table, to_table};
pub(crate) use table::{shown_rate, shown_share};

use crate::Outcome;

/// One JSON object a line, in the order of the rows.
pub fn to_json_lines<R: Serialize>(rows: &[R]) -> String {
    let line = |row: &R| serde_json::to_string(row).expect("a row holds numbers and texts") + "\n";
    rows.iter().map(line).collect()
}

/// The files of a report.
pub const REPORT_FILES: [&str; 3] = ["report.html", "rows.csv", "rows.jsonl"];

/// What each of [`REPORT_FILES`] holds.
pub fn report_texts(title: &str, provenance: &Provenance, outcomes: &[Outcome]) -> [String; 3] {
    [to_html(title, provenance, outcomes), to_csv(outcomes), to_json_lines(outcomes)]
}

/// Whether the file at `path` is one of [`REPORT_FILES`] as a report has it, which another report may replace.
pub fn is_report_file(path: &Path) -> bool {
    let marks = [
        page::OPENING.to_owned(),
        csv::COLUMNS[..csv::FIRST_COLUMNS].join(","),
        format!("{{\"{}\":", csv::COLUMNS[0]),
    ];
    let name = path.file_name().and_then(|name| name.to_str());
    let mark = REPORT_FILES.iter().zip(&marks).find(|(file, _)| Some(**file) == name).map(|(_, mark)| mark);
    // Anything else is no text, or no file that can be read.
    let text = fs::read_to_string(path).unwrap_or_default();
    mark.is_some_and(|mark| if *mark == marks[0] { text.contains(mark) } else { text.starts_with(mark) })
}

/// Writes `report.html`, `rows.csv` and `rows.jsonl` into the folder `dir`, which is made if it is missing. Returns
/// their paths.
///
/// # Errors
/// `Unavailable` if the folder or a file cannot be written.
pub fn write_report(
    dir: &Path,
    title: &str,
    provenance: &Provenance,
    outcomes: &[Outcome],
) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(dir).map_err(|error| cannot_write(dir, error))?;
    let mut written = Vec::new();
    for (name, text) in REPORT_FILES.into_iter().zip(report_texts(title, provenance, outcomes)) {
        let path = dir.join(name);
        fs::write(&path, text).map_err(|error| cannot_write(&path, error))?;
        written.push(path);
    }
    Ok(written)
}

/// `1234567` as `1,234,567`.
pub fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    let message = format!("cannot write {}: {error}", path.display());
    Error::new(ErrorKind::Unavailable, message).with_source(error)
}
