//! Where keys come from: a generator or a file, named by one text.

use std::fmt;
use std::path::{Path, PathBuf};

use lacuna_base::{Error, Result};

use crate::generate::generate;
use crate::key_file::columns::{FirstRow, read_column};
use crate::key_file::read_standard_input;
use crate::key_text::{is_binary, type_of_file};
use crate::numbers::with_commas;
use crate::{KeyType, Keys, ReadOptions, TypedKeys, parse_count, read_keys};

/// Most keys that a generator gives: 2^32, which are 32 GiB.
const MAX_KEY_COUNT: u64 = 1 << 32;

/// The shape of a generated key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyShape {
    /// Uniform over all 64-bit integers.
    Uniform,
    /// Normal with mean 2^63 and standard deviation 2^58, cut at six deviations.
    Normal,
    /// Rank k below 2^64 in proportion to 1/k: keys crowd towards 0.
    Zipf,
    /// 1,000 clusters at uniform places, each uniform over 2^34 values.
    Clustered,
    /// 99 % of the keys in one hundredth of the space, 1 % anywhere.
    Skew99,
}

impl KeyShape {
    /// Every shape.
    pub(crate) const ALL: [Self; 5] =
        [Self::Uniform, Self::Normal, Self::Zipf, Self::Clustered, Self::Skew99];

    /// The name in a key source, such as `uniform`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Normal => "normal",
            Self::Zipf => "zipf",
            Self::Clustered => "clustered",
            Self::Skew99 => "skew99",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Uniform => "uniform over all 64-bit integers",
            Self::Normal => "normal with mean 2^63 and standard deviation 2^58",
            Self::Zipf => "Zipf law with exponent 1 over the ranks below 2^64",
            Self::Clustered => "1,000 clusters at uniform places, each uniform over 2^34 values",
            Self::Skew99 => "99 % of the keys in one hundredth of the space, 1 % anywhere",
        }
    }
}

/// A generator with a count, or a key file.
///
/// ```
/// use lacuna_workload::{KeyShape, KeySource};
///
/// let source = KeySource::parse("zipf:10k")?;
/// assert_eq!(source, KeySource::Generated { shape: KeyShape::Zipf, count: 10_000 });
/// assert_eq!(KeySource::parse("keys.u64")?, KeySource::File("keys.u64".into()));
/// assert_eq!(KeySource::parse("file:keys.u64")?, KeySource::File("keys.u64".into()));
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// Distinct `u64` keys from a generator.
    Generated {
        /// The law that the keys follow.
        shape: KeyShape,
        /// Number of distinct keys, at most 2^32.
        count: usize,
    },
    /// The keys of standard input, one a line.
    StandardInput,
    /// The values of one column of a CSV or Parquet file.
    Column {
        /// The file.
        path: PathBuf,
        /// The column's name, or its number from 1 in a CSV file without names.
        column: String,
        /// What the first row of a CSV file holds, if that is to be said.
        first_row: Option<FirstRow>,
    },
    /// The keys of a file; see [`read_keys`].
    File(PathBuf),
}

impl KeySource {
    /// Reads `uniform:N`, `normal:N`, `zipf:N`, `clustered:N` or `skew99:N`; `-` is standard input, `file:PATH` a file as it
    /// is for queries, and any other text the path of a file.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when the text is empty or N is not a count of at most 2^32.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::invalid_input(
                "the keys are missing; give a file or a generator such as uniform:1M",
            ));
        }
        if text == "-" {
            return Ok(Self::StandardInput);
        }
        if let Some(path) = text.strip_prefix("file:").filter(|path| !path.is_empty()) {
            return Ok(Self::File(path.into()));
        }
        let generator = text.split_once(':').and_then(|(name, count)| Some((shape_named(name)?, count)));
        match generator {
            Some((shape, count)) => key_count(count)
                .map(|count| Self::Generated { shape, count })
                .map_err(|error| error.with_context(format!("keys `{text}`"))),
            None => Ok(Self::File(text.into())),
        }
    }

    /// The column `column` of the file.
    ///
    /// # Errors
    ///
    /// `InvalidInput` unless the source is a file other than `.u64`.
    pub fn with_column(self, column: &str) -> Result<Self> {
        match self {
            Self::File(path) if !is_binary(&path) => {
                Ok(Self::Column { path, column: column.to_owned(), first_row: None })
            }
            other => Err(Error::invalid_input(format!(
                "`{other}` has no columns; give a CSV or Parquet file, or leave out --column"
            ))),
        }
    }

    /// With what the first row of the file of columns holds; other sources stay as they are.
    #[must_use]
    pub fn with_first_row(self, first_row: Option<FirstRow>) -> Self {
        match self {
            Self::Column { path, column, .. } => Self::Column { path, column, first_row },
            other => other,
        }
    }

    /// The type of the keys, if the source itself fixes it: `u64` for generators and `.u64` files.
    pub fn key_type(&self) -> Option<KeyType> {
        match self {
            Self::Generated { .. } => Some(KeyType::U64),
            Self::File(path) if is_binary(path) => Some(KeyType::U64),
            _ => None,
        }
    }

    /// The keys: generated from `seed`, or read from the file with `options`. `progress` is called with the number of file
    /// bytes read so far, now and then.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when generated keys are asked for with a key type other than `u64`, and whatever [`read_keys`]
    /// reports.
    pub fn load(&self, options: &ReadOptions, seed: u64, progress: &mut dyn FnMut(u64)) -> Result<Keys> {
        self.load_typed(options, seed, progress).map(|typed| typed.keys)
    }

    /// As [`load`](Self::load), with the type of the keys.
    ///
    /// # Errors
    ///
    /// As `load`.
    pub fn load_typed(
        &self,
        options: &ReadOptions,
        seed: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<TypedKeys> {
        match self {
            Self::Generated { shape, count } => match options.key_type {
                None | Some(KeyType::U64) => {
                    let keys = Keys::U64(generate(*shape, *count, seed));
                    Ok(TypedKeys { keys, key_type: KeyType::U64 })
                }
                Some(other) => Err(Error::invalid_input(format!(
                    "generated keys are u64, not {}; leave out --key-type or give a key file",
                    other.name()
                ))),
            },
            Self::StandardInput => read_standard_input(options, progress),
            Self::Column { path, column, first_row } => {
                read_column(path, column, *first_row, options, progress)
            }
            Self::File(path) => read_keys(path, options, progress)
                .map_err(|error| if path.exists() { error } else { unknown_source(path, error) }),
        }
    }

    /// Two lines for a person: what is there, and what it looks like.
    pub fn describe(&self) -> String {
        match self {
            Self::Generated { shape, count } => {
                format!("{} distinct u64 keys ({self})\n{}", with_commas(*count as u64), shape.describe())
            }
            Self::StandardInput => {
                "the keys of standard input, one a line\nread as text unless --key-type says otherwise"
                    .to_owned()
            }
            Self::Column { path, column, .. } => {
                format!("the column {column} of {}\nread as the file says, else as text", path.display())
            }
            Self::File(path) => {
                let key_type = type_of_file(path);
                format!(
                    "the keys of {}\nread as {} unless --key-type says otherwise",
                    path.display(),
                    key_type.name()
                )
            }
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generated { shape, count } => write!(f, "{}:{count}", shape.name()),
            Self::StandardInput => f.write_str("-"),
            Self::Column { path, .. } | Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

fn shape_named(name: &str) -> Option<KeyShape> {
    KeyShape::ALL.into_iter().find(|shape| shape.name() == name)
}

fn key_count(text: &str) -> Result<usize> {
    let count = parse_count(text)?;
    if count > MAX_KEY_COUNT {
        let max = with_commas(MAX_KEY_COUNT);
        return Err(Error::invalid_input(format!("{text} keys are too many; give at most {max}")));
    }
    usize::try_from(count).map_err(|error| {
        Error::invalid_input("this number of keys needs a 64-bit machine").with_source(error)
    })
}

/// A misspelt generator is read as a missing file; the message lists the generators.
fn unknown_source(path: &Path, error: Error) -> Error {
    if !path.to_string_lossy().contains(':') {
        return error;
    }
    let names = KeyShape::ALL.map(KeyShape::name).join(":N, ");
    Error::invalid_input(format!("`{}` is neither a key file nor one of {names}:N", path.display()))
        .with_source(error)
}
