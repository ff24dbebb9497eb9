//! Arguments that several commands share: where keys come from.

use std::fs;
use std::path::Path;

use clap::Args;
use lacuna_base::{Error, Result, Sample};
use lacuna_workload::{FirstRow, KeySource, KeyType, Queries, QueryInput, ReadOptions, TypedKeys};

use crate::asked_type::AskedType;
use crate::pending_file::is_same_file;
use crate::progress::Progress;

/// Where keys come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct KeyArgs {
    /// A key file, - for standard input, or uniform:N, normal:N, zipf:N, clustered:N or skew99:N
    ///
    /// `.u64` holds little-endian integers, any other file one key a line; both may be `.gz`; `file:PATH` is a file of any
    /// name. A generator's keys follow from --seed.
    #[arg(long, value_name = "K")]
    keys: String,

    /// How the keys are written: u64, i64, f64, date, timestamp, text or hex [default: u64 for .u64, else text]
    ///
    /// Dates are days such as 2024-01-31; timestamps may have a time, fractions and an offset. They are counted in the
    /// coarsest unit that loses nothing; `timestamp-s`, `timestamp-ms` and `timestamp-us` fix another.
    #[arg(long, value_name = "T")]
    key_type: Option<AskedType>,

    /// Take the keys from this column of a CSV, TSV or Parquet file
    ///
    /// A name that the first row of a CSV file has, or a number from 1 if the file has no such row.
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// What the first row of a CSV file holds, where that is not clear: names or values
    #[arg(long, value_name = "WHAT", requires = "column")]
    first_row: Option<FirstRow>,

    /// Sort the keys instead of refusing a file in another order
    #[arg(long)]
    sort: bool,
}

impl KeyArgs {
    /// The keys in ascending order, each once.
    ///
    /// # Errors
    /// As [`KeySource::load`].
    pub(crate) fn load(&self, seed: u64) -> Result<TypedKeys> {
        self.load_as(self.key_type.map(|asked| asked.key_type), seed)
    }

    /// The keys in ascending order, each once, written as keys of `key_type` unless their source says otherwise.
    ///
    /// # Errors
    /// As [`KeySource::load`].
    pub(crate) fn load_as(&self, key_type: Option<KeyType>, seed: u64) -> Result<TypedKeys> {
        let source = self.source()?;
        let key_type = self.key_type.and(key_type).or(source.key_type()).or(key_type);
        let options = ReadOptions { key_type, sort: self.sort };
        let progress = match &source {
            KeySource::Column { path, .. } | KeySource::File(path) => {
                match fs::metadata(path).map_or(0, |metadata| metadata.len()) {
                    // The length of a pipe is not known.
                    0 => Progress::spinner("reading keys"),
                    total => Progress::bytes("reading keys", total),
                }
            }
            KeySource::StandardInput => Progress::spinner("reading keys from standard input"),
            KeySource::Generated { .. } => Progress::spinner("making keys"),
        };
        let keys = source.load_typed(&options, seed, &mut |bytes| progress.set(bytes))?;
        Ok(match self.key_type.and_then(AskedType::unit) {
            Some(unit) => keys.in_unit(unit),
            None => keys,
        })
    }

    fn source(&self) -> Result<KeySource> {
        let source = KeySource::parse(&self.keys)?;
        match &self.column {
            Some(column) => Ok(source.with_column(column)?.with_first_row(self.first_row)),
            None => self.check_whole(source),
        }
    }

    /// Whole lines of a table are hardly what somebody asks for later. `file:` says that they are meant.
    fn check_whole(&self, source: KeySource) -> Result<KeySource> {
        let name = self.keys.strip_suffix(".gz").unwrap_or(&self.keys);
        let is_table = [".csv", ".tsv", ".parquet"].iter().any(|ending| name.ends_with(ending));
        if !is_table || self.keys.starts_with("file:") {
            return Ok(source);
        }
        let whole = if name.ends_with(".parquet") {
            ""
        } else {
            &format!(", or give file:{} for whole lines", self.keys)
        };
        let message = format!("{} has columns; name one with --column{whole}", self.keys);
        Err(Error::invalid_input(message))
    }

    /// Makes sure that writing `out`, as `option` says, does not destroy the keys.
    ///
    /// # Errors
    /// `InvalidInput` if it is the file of the keys, by whatever name; as [`KeySource::parse`].
    pub(crate) fn spare(&self, out: &Path, option: &str) -> Result<()> {
        match self.source()? {
            KeySource::Column { path, .. } | KeySource::File(path) => spare_file(&path, "keys", out, option),
            // A file that standard input comes from has no other name here.
            KeySource::StandardInput => spare_file(Path::new("/dev/stdin"), "keys", out, option),
            KeySource::Generated { .. } => Ok(()),
        }
    }

    /// The type that was asked for.
    pub(crate) fn key_type(&self) -> Option<AskedType> {
        self.key_type
    }

    /// The text that names the keys.
    pub(crate) fn name(&self) -> &str {
        &self.keys
    }

    /// The arguments as they can be typed again.
    pub(crate) fn as_arguments(&self) -> String {
        let key_type =
            self.key_type.map_or(String::new(), |key_type| format!(" --key-type {}", key_type.name()));
        let column = self.column.as_ref().map_or(String::new(), |column| format!(" --column {column}"));
        let first_row =
            self.first_row.map_or(String::new(), |first_row| format!(" --first-row {}", first_row.name()));
        let sort = if self.sort { " --sort" } else { "" };
        format!("--keys {}{column}{first_row}{key_type}{sort}", self.keys)
    }
}

/// Makes sure that writing `out`, as `option` says, does not destroy a file of queries.
///
/// # Errors
/// `InvalidInput` if it is that file, by whatever name.
pub(crate) fn spare_queries(queries: &QueryInput, out: &Path, option: &str) -> Result<()> {
    match queries {
        QueryInput::File(path) => spare_file(path, "queries", out, option),
        QueryInput::Drawn(_) => Ok(()),
    }
}

/// Makes sure that writing `out`, as `option` says, does not destroy the file at `path`, which holds `what`.
///
/// # Errors
/// `InvalidInput` if it is that file, by whatever name.
pub(crate) fn spare_file(path: &Path, what: &str, out: &Path, option: &str) -> Result<()> {
    if is_same_file(path, out) {
        return Err(Error::invalid_input(format!(
            "{} is the file of the {what}, which would be lost; give another {option}",
            out.display()
        )));
    }
    Ok(())
}

/// Reads a budget.
///
/// # Errors
/// `InvalidInput` unless it is a number.
pub(crate) fn bits_per_key(text: &str) -> Result<f64> {
    text.parse().map_err(|_| Error::invalid_input(format!("`{text}` is not a number; give one such as 14")))
}

/// Integer queries as a sample to design by.
pub(crate) fn integer_sample(queries: &Queries) -> Sample<u64> {
    let mut sample = Sample::new();
    if let Queries::U64(ranges) = queries {
        ranges.iter().for_each(|&(low, high)| sample.push(low, high));
    }
    sample
}

/// Byte-string queries as a sample to design by.
pub(crate) fn byte_sample(queries: &Queries) -> Sample<[u8]> {
    let mut sample = Sample::new();
    if let Queries::Bytes(ranges) = queries {
        ranges.iter().for_each(|(low, high)| sample.push(low, high));
    }
    sample
}
