//! A column of comma-separated values, quoted as RFC 4180 says.

use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};
use lacuna_base::{Error, KeyType, Result};

use crate::key_file::reader::{Input, open};
use crate::key_file::{Collected, ReadOptions};
use crate::{TypedKeys, parse_key};

/// Reads the keys.
pub(super) fn read(
    path: &Path,
    column: &str,
    options: &ReadOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<TypedKeys> {
    let key_type = options.key_type.unwrap_or(KeyType::Text);
    let number = column.parse::<usize>().ok().filter(|&number| number > 0);
    let mut rows = ReaderBuilder::new()
        .has_headers(number.is_none())
        .delimiter(delimiter(path))
        .from_reader(open(path, progress)?);
    let place = match number {
        Some(number) => number - 1,
        None => place_of(&mut rows, column)?,
    };
    let mut collected = Collected::new(key_type, options.sort);
    let mut row = ByteRecord::new();
    while rows.read_byte_record(&mut row).map_err(unreadable)? {
        let line = row.position().map_or(0, csv::Position::line);
        let cell = row.get(place).ok_or_else(|| no_column(column, row.len(), line))?;
        let cell = without_mark(cell, line, place);
        if cell.is_empty() && !key_type.is_bytes() {
            continue;
        }
        let key = parse_key(key_type, cell).map_err(|error| error.with_context(format!("line {line}")))?;
        collected.add(&key, || format!("line {line}"))?;
    }
    Ok(collected.finish(key_type))
}

fn delimiter(path: &Path) -> u8 {
    let name = path.to_string_lossy();
    if name.trim_end_matches(".gz").ends_with(".tsv") { b'\t' } else { b',' }
}

/// The place of the column that the first row names.
fn place_of(rows: &mut Reader<Input<'_>>, column: &str) -> Result<usize> {
    let names = rows.byte_headers().map_err(unreadable)?;
    let mut named = names.iter().enumerate();
    let found = named.find(|&(place, name)| without_mark(name, 1, place) == column.as_bytes());
    found.map(|(place, _)| place).ok_or_else(|| {
        let names: Vec<_> = names.iter().take(20).map(String::from_utf8_lossy).collect();
        Error::invalid_input(format!(
            "there is no column `{column}`; the first row names {}",
            names.join(", ")
        ))
    })
}

/// The cell; the first one of a file without a byte order mark.
fn without_mark(cell: &[u8], line: u64, place: usize) -> &[u8] {
    if line == 1 && place == 0 { cell.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(cell) } else { cell }
}

fn no_column(column: &str, cells: usize, line: u64) -> Error {
    Error::invalid_input(format!("line {line} has {cells} cells, so there is no column {column}"))
}

fn unreadable(error: csv::Error) -> Error {
    Error::invalid_input(format!("the file is not CSV: {error}")).with_source(error)
}
