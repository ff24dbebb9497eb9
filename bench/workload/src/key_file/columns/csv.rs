//! A column of comma-separated values, quoted as RFC 4180 says.

use std::io::BufRead as _;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};
use lacuna_base::{Error, KeyType, Result};

use super::FirstRow;
use super::quotes::CheckedQuotes;
use crate::key_file::lines::{MARK, check, refuse_no_text};
use crate::key_file::reader::{open, read_error};
use crate::key_file::{Collected, ReadOptions};
use crate::{TypedKeys, parse_key};

/// Reads the keys.
pub(super) fn read(
    path: &Path,
    column: &str,
    first_row: Option<FirstRow>,
    options: &ReadOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<TypedKeys> {
    let key_type = options.key_type.unwrap_or(KeyType::Text);
    let delimiter = delimiter(path);
    let mut input = open(path, progress)?;
    refuse_no_text(input.fill_buf().map_err(|error| read_error(path, error))?)?;
    let unreadable = |error| unreadable(path, error);
    let mut rows = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .from_reader(CheckedQuotes::new(input, delimiter));
    let mut collected = Collected::of(options, key_type);
    let mut row = ByteRecord::new();
    let mut has_row = rows.read_byte_record(&mut row).map_err(unreadable)?;
    let place = place_of(&row, column, first_row)?;
    if place.first_row == FirstRow::Names {
        has_row = rows.read_byte_record(&mut row).map_err(unreadable)?;
    }
    while has_row {
        let line = row.position().map_or(0, csv::Position::line);
        let cell = row.get(place.column).ok_or_else(|| no_column(column, row.len(), line))?;
        let cell = without_mark(cell, line, place.column);
        if !cell.is_empty() || key_type.is_bytes() {
            let key = check(cell).and_then(|()| parse_key(key_type, cell));
            let key = key.map_err(|error| error.with_context(format!("line {line}")))?;
            collected.add(&key, || format!("line {line}"))?;
        }
        has_row = rows.read_byte_record(&mut row).map_err(unreadable)?;
    }
    collected.finish()
}

fn delimiter(path: &Path) -> u8 {
    let name = path.to_string_lossy();
    if name.trim_end_matches(".gz").ends_with(".tsv") { b'\t' } else { b',' }
}

/// Where the keys are.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// Counted from 0.
    column: usize,
    /// What the first row holds.
    first_row: FirstRow,
}

/// The column that `text` means: its name in the first row, or its number, which may also be that of a column of names.
///
/// A first row of `0,1` may be names, as pandas writes them for a table without any, or values. Where that makes a
/// difference to the column, the caller has to say. Where it makes none, the row counts as values, since a name that is
/// taken for a key hides none.
fn place_of(row: &ByteRecord, text: &str, first_row: Option<FirstRow>) -> Result<Place> {
    let mut named = row.iter().enumerate().filter(|&(place, name)| is_named(name, place, text));
    let (name, other) = (named.next(), named.next());
    let name = name.filter(|_| first_row != Some(FirstRow::Values)).map(|(column, _)| column);
    let counted = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    // A year that names a column is no number of one.
    let may_count = |number: &usize| name.is_none() || *number < row.len();
    let number = counted.filter(may_count).filter(|_| first_row != Some(FirstRow::Names));
    match (name, number) {
        (Some(name), Some(number)) if name != number || other.is_some() => {
            Err(Error::invalid_input(format!(
                "column {} has `{text}` in the first row, so `--column {text}` may be its name or the number of a column; \
                 say what that row holds with --first-row names or --first-row values",
                name + 1
            )))
        }
        (_, Some(column)) => Ok(Place { column, first_row: FirstRow::Values }),
        (Some(_), None) if other.is_some() => Err(Error::invalid_input(format!(
            "the first row names several columns `{text}`; give the number of one with --first-row names"
        ))),
        (Some(column), None) => Ok(Place { column, first_row: FirstRow::Names }),
        (None, None) if first_row == Some(FirstRow::Values) => Err(Error::invalid_input(format!(
            "`{text}` is no number of a column; columns without names are counted from 1"
        ))),
        (None, None) => match counted.filter(|column| *column < row.len()) {
            Some(column) => Ok(Place { column, first_row: FirstRow::Names }),
            None => Err(no_name(row, text)),
        },
    }
}

fn is_named(name: &[u8], place: usize, text: &str) -> bool {
    without_mark(name, 1, place) == text.as_bytes()
}

/// The cell; the first one of a file without a byte order mark.
fn without_mark(cell: &[u8], line: u64, place: usize) -> &[u8] {
    if line == 1 && place == 0 { cell.strip_prefix(MARK).unwrap_or(cell) } else { cell }
}

fn no_name(row: &ByteRecord, column: &str) -> Error {
    let names: Vec<_> = row.iter().take(20).map(String::from_utf8_lossy).collect();
    Error::invalid_input(format!("there is no column `{column}`; the first row names {}", names.join(", ")))
}

fn no_column(column: &str, cells: usize, line: u64) -> Error {
    Error::invalid_input(format!("line {line} has {cells} cells, so there is no column {column}"))
}

fn unreadable(path: &Path, error: csv::Error) -> Error {
    if !error.is_io_error() {
        return Error::invalid_input(format!("the file is not CSV: {error}")).with_source(error);
    }
    let csv::ErrorKind::Io(error) = error.into_kind() else { unreachable!("it is an error of reading") };
    error.downcast::<Error>().unwrap_or_else(|error| read_error(path, error))
}
