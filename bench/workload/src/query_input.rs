//! Where the queries of a command come from: a law, or a file of the user's own.

use std::fmt;
use std::path::PathBuf;

use lacuna_base::{ByteColumn, Error, Result};

use crate::{Keys, QuerySource, TypedKeys, Workload, parse_query_file};

/// What a text begins with that names a file.
const FILE: &str = "file:";

/// Queries drawn by a law, or those of a file as [`parse_query_file`] reads it.
///
/// ```
/// use lacuna_workload::{QueryInput, QuerySource};
///
/// let inputs = QueryInput::parse_list("uniform:1k:32,file:asked.txt")?;
/// assert_eq!(inputs[0], QueryInput::Drawn(QuerySource::parse("uniform:1k:32")?));
/// assert_eq!(inputs[1], QueryInput::File("asked.txt".into()));
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryInput {
    /// Drawn between the keys.
    Drawn(QuerySource),
    /// The ranges of a file, with and without keys.
    File(PathBuf),
}

impl QueryInput {
    /// Reads `file:PATH`, or what [`QuerySource::parse`] reads.
    ///
    /// # Errors
    /// As `QuerySource::parse`.
    pub fn parse(text: &str) -> Result<Self> {
        match text.strip_prefix(FILE) {
            Some("") => Err(Error::invalid_input("the file of queries has no name; give file:PATH")),
            Some(path) => Ok(Self::File(path.into())),
            None => QuerySource::parse(text).map(Self::Drawn),
        }
    }

    /// Reads several with commas between; the name of a file holds none.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        text.split(',').map(Self::parse).collect()
    }

    /// The keys that stay and the queries about them, the ends of a file's as texts of the type of the keys.
    ///
    /// # Errors
    /// As [`QuerySource::workload`] and [`parse_query_file`].
    pub fn workload(&self, TypedKeys { keys, key_type }: TypedKeys, seed: u64) -> Result<Workload> {
        match self {
            Self::Drawn(source) => source.workload(keys, seed),
            Self::File(path) => {
                let queries = parse_query_file(path, key_type)?;
                Ok(Workload { held_out: none_like(&keys), inserted: keys, queries })
            }
        }
    }
}

/// No keys, of the same key space.
fn none_like(keys: &Keys) -> Keys {
    match keys {
        Keys::U64(_) => Keys::U64(Vec::new()),
        Keys::Bytes(_) => Keys::Bytes(ByteColumn::new()),
    }
}

impl fmt::Display for QueryInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drawn(source) => source.fmt(f),
            Self::File(path) => write!(f, "{FILE}{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for text in ["points:10", "correlated:10:1-32:8:hit", "file:a b.txt", "file:/tmp/q.txt.gz"] {
            assert_eq!(QueryInput::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "file", "file:", "q.txt", "points:10,"] {
            assert!(QueryInput::parse_list(text).is_err(), "{text}");
        }
    }
}
