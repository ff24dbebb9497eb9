//! Rows for people and for programs: an aligned table, JSON lines, CSV, or a folder with all of them and a page.
//!
//! Same rows, same bytes: nothing here reads a clock.

mod chart;
mod csv;
mod html;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use lacuna_base::{Error, ErrorKind, Result};
use serde::Serialize;

pub use chart::{Chart, Point, Scale, Series};
pub use csv::{csv_of, to_csv};
pub use html::to_html;
pub(crate) use table::shown_rate;
pub use table::{Table, outcomes_to_table, to_table};

use crate::Row;

/// One JSON object a line, in the order of the rows.
pub fn to_json_lines<R: Serialize>(rows: &[R]) -> String {
    let line = |row: &R| serde_json::to_string(row).expect("a row holds numbers and texts") + "\n";
    rows.iter().map(line).collect()
}

/// Writes `report.html`, `rows.csv` and `rows.jsonl` into the folder `dir`, which is made if it is missing. Returns
/// their paths. `command` is printed on the page as the way to make it again.
///
/// # Errors
/// `Unavailable` if the folder or a file cannot be written.
pub fn write_report(dir: &Path, title: &str, command: &str, rows: &[Row]) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(dir).map_err(|error| cannot_write(dir, error))?;
    let files = [
        ("report.html", to_html(title, command, rows)),
        ("rows.csv", to_csv(rows)),
        ("rows.jsonl", to_json_lines(rows)),
    ];
    let mut written = Vec::new();
    for (name, text) in files {
        let path = dir.join(name);
        fs::write(&path, text).map_err(|error| cannot_write(&path, error))?;
        written.push(path);
    }
    Ok(written)
}

fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    let message = format!("cannot write {}: {error}", path.display());
    Error::new(ErrorKind::Unavailable, message).with_source(error)
}
