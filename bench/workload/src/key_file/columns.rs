//! One column of a table as keys: CSV with the feature `csv`, Parquet with the feature `parquet`.
//!
//! A column is named as the first row of a CSV file names it, or counted from 1 in a file without such a row. A text that
//! may be either is refused unless [`FirstRow`] says what that row holds. Cells are keys as lines of a text file are; rows without a value (an empty cell of a number, a null) have no key.

use std::path::Path;
use std::str::FromStr;

use lacuna_base::{Error, Result};

use super::{ReadOptions, in_file};
use crate::TypedKeys;

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "csv")]
mod quotes;

/// What the first row of a CSV file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstRow {
    /// The names of the columns.
    Names,
    /// Values, as every other row.
    Values,
}

impl FirstRow {
    /// The word that it is read from.
    pub fn name(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Values => "values",
        }
    }
}

impl FromStr for FirstRow {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        [Self::Names, Self::Values]
            .into_iter()
            .find(|found| found.name() == text)
            .ok_or_else(|| Error::invalid_input(format!("the first row holds names or values, not `{text}`")))
    }
}

/// Reads the keys of the column `column` of the file at `path`: ascending, each once. A name that ends in `.parquet` is
/// that of a Parquet file, any other that of CSV, with tabs in place of commas if it ends in `.tsv`; `.gz` too.
///
/// # Errors
/// `InvalidInput` as for [`read_keys`](super::read_keys), if there is no such column, and if this was built without the
/// feature that reads the file.
pub(crate) fn read_column(
    path: &Path,
    column: &str,
    first_row: Option<FirstRow>,
    options: &ReadOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<TypedKeys> {
    let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
    let read = if is_parquet { read_parquet } else { read_csv };
    read(path, column, first_row, options, progress).map_err(|error| in_file(path, error))
}

#[cfg(feature = "csv")]
use self::csv::read as read_csv;
#[cfg(feature = "parquet")]
use self::parquet::read as read_parquet;

#[cfg(not(feature = "csv"))]
fn read_csv(
    _: &Path,
    _: &str,
    _: Option<FirstRow>,
    _: &ReadOptions,
    _: &mut dyn FnMut(u64),
) -> Result<TypedKeys> {
    Err(missing("csv"))
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(
    _: &Path,
    _: &str,
    _: Option<FirstRow>,
    _: &ReadOptions,
    _: &mut dyn FnMut(u64),
) -> Result<TypedKeys> {
    Err(missing("parquet"))
}

#[cfg(not(all(feature = "csv", feature = "parquet")))]
fn missing(feature: &str) -> Error {
    Error::invalid_input(format!(
        "this was built without {feature}; in the checkout, `cargo build --release -p lacuna-cli --features {feature}` \
         builds a `lacuna` that reads it"
    ))
}
