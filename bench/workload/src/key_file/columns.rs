//! One column of a table as keys: CSV with the feature `csv`, Parquet with the feature `parquet`.
//!
//! A column is named as the first row of a CSV file names it, or counted from 1 in a file without such a row. Cells are
//! keys as lines of a text file are; rows without a value (an empty cell of a number, a null) have no key.

use std::path::Path;

use lacuna_base::Result;

use super::{ReadOptions, in_file};
use crate::TypedKeys;

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "parquet")]
mod parquet;

/// Reads the keys of the column `column` of the file at `path`: ascending, each once. A name that ends in `.parquet` is
/// that of a Parquet file, any other that of CSV, with tabs in place of commas if it ends in `.tsv`; `.gz` too.
///
/// # Errors
/// `InvalidInput` as for [`read_keys`](super::read_keys), if there is no such column, and if this was built without the
/// feature that reads the file.
pub(crate) fn read_column(
    path: &Path,
    column: &str,
    options: &ReadOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<TypedKeys> {
    let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
    let read = if is_parquet { read_parquet } else { read_csv };
    read(path, column, options, progress).map_err(|error| in_file(path, error))
}

#[cfg(feature = "csv")]
use self::csv::read as read_csv;
#[cfg(feature = "parquet")]
use self::parquet::read as read_parquet;

#[cfg(not(feature = "csv"))]
fn read_csv(_: &Path, _: &str, _: &ReadOptions, _: &mut dyn FnMut(u64)) -> Result<TypedKeys> {
    Err(missing("csv"))
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(_: &Path, _: &str, _: &ReadOptions, _: &mut dyn FnMut(u64)) -> Result<TypedKeys> {
    Err(missing("parquet"))
}

#[cfg(not(all(feature = "csv", feature = "parquet")))]
fn missing(feature: &str) -> lacuna_base::Error {
    lacuna_base::Error::invalid_input(format!(
        "this was built without {feature}; in the checkout, `cargo build --release -p lacuna-cli --features {feature}` \
         builds a `lacuna` that reads it"
    ))
}
