//! Key files: little-endian integers or one key a line, compressed or not, read as a stream.
//!
//! `.u64` files hold unsigned 64-bit little-endian integers without a header; every other file holds one key a line,
//! LF or CRLF, and may be `.gz` of either. A file is expected in ascending order, because a filter is built from
//! sorted keys and silently sorting a wrong file would hide the mistake; equal neighbours are kept once.
//!
//! Moments are kept in seconds or milliseconds if they are whole, else in microseconds: the type of the keys says which.
//!
//! Memory: the keys and one buffer. Progress counts the bytes of the file as it lies on disk.

pub(crate) mod columns;
pub(crate) mod lines;
pub(crate) mod reader;

use std::cmp::Ordering;
use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::Path;

use lacuna_base::{ByteColumn, Error, KeyType, Result};

use crate::key_text::{is_binary, type_of_file};
use crate::{Key, Keys, TypedKeys, parse_key};
use lines::Lines;
use reader::{Input, metered, open, read_error};

/// How a key file is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// What the keys are; `None` means by name: `u64` for `.u64`, else text.
    pub key_type: Option<KeyType>,
    /// Whether keys in another order are sorted rather than refused.
    pub sort: bool,
}

/// Bytes taken from a binary file at a time.
const CHUNK_BYTES: usize = 1 << 18;

/// Reads the keys of the file at `path`: ascending, each once. `progress` is called with the number of bytes read so far.
///
/// ```no_run
/// use std::path::Path;
/// use lacuna_workload::{KeyType, ReadOptions, read_keys};
///
/// let options = ReadOptions { key_type: Some(KeyType::F64), sort: true };
/// let keys = read_keys(Path::new("values.txt.gz"), &options, &mut |bytes| eprintln!("{bytes} bytes"))?;
/// println!("{} keys of type {}", keys.keys.len(), keys.key_type);
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
///
/// # Errors
///
/// `InvalidInput` when the file is missing, a directory, not sound gzip, of odd size, holds a line that is not a key or
/// stands in another order without [`ReadOptions::sort`]; `Unavailable` when the system cannot read it.
pub fn read_keys(path: &Path, options: &ReadOptions, progress: &mut dyn FnMut(u64)) -> Result<TypedKeys> {
    let binary = is_binary(path);
    let key_type = options.key_type.unwrap_or(type_of_file(path));
    if binary && key_type != KeyType::U64 {
        let name = key_type.name();
        return Err(in_file(
            path,
            Error::invalid_input(format!(
                "a .u64 file holds integers, not {name}; leave out --key-type or give a text file"
            )),
        ));
    }
    let input = open(path, progress)?;
    let read = collect(input, path, Collected::of(options, key_type));
    read.map_err(|error| in_file(path, error))
}

/// Reads the keys of standard input, one a line; without a type they are texts.
///
/// # Errors
/// As [`read_keys`]; `InvalidInput` if there is none, as when the command before a pipe has failed.
pub(crate) fn read_standard_input(options: &ReadOptions, progress: &mut dyn FnMut(u64)) -> Result<TypedKeys> {
    let key_type = options.key_type.unwrap_or(KeyType::Text);
    let input = metered(std::io::stdin(), progress);
    let read = collect(Box::new(input), Path::new(""), Collected::of(options, key_type));
    let read = read.and_then(|keys| if keys.keys.is_empty() { Err(no_input()) } else { Ok(keys) });
    read.map_err(|error| error.with_context("standard input"))
}

/// A filter of no keys denies every question, which would be false of the keys that did not come.
fn no_input() -> Error {
    Error::invalid_input(
        "there is no key; did the command before the pipe fail? A file without keys is taken as it is",
    )
}

/// The keys of `input`: integers if the name says so, else lines.
fn collect(input: Input<'_>, path: &Path, mut collected: Collected) -> Result<TypedKeys> {
    if is_binary(path) {
        read_integers(path, input, &mut collected)?;
    } else {
        read_lines(path, input, &mut collected)?;
    }
    collected.finish()
}

fn in_file(path: &Path, error: Error) -> Error {
    error.with_context(path.display().to_string())
}

fn read_lines(path: &Path, input: Input<'_>, collected: &mut Collected) -> Result<()> {
    let mut lines = Lines::new(input, path);
    while let Some((number, line)) = lines.next_line()? {
        let place = || format!("line {number}");
        let key = parse_key(collected.key_type, line).map_err(|error| error.with_context(place()))?;
        let place = || format!("{}{}", place(), if line.is_empty() { ", the empty key," } else { "" });
        collected.add(&key, place)?;
    }
    Ok(())
}

fn read_integers(path: &Path, mut input: Input<'_>, collected: &mut Collected) -> Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut count = 0_u64;
    loop {
        let filled = fill(&mut input, &mut chunk).map_err(|error| read_error(path, error))?;
        let (integers, rest) = chunk[..filled].as_chunks::<8>();
        for integer in integers {
            count += 1;
            collected.add(&Key::U64(u64::from_le_bytes(*integer)), || format!("key number {count}"))?;
        }
        if !rest.is_empty() {
            return Err(Error::invalid_input(format!(
                "{} bytes follow the last whole key; a .u64 file holds 8 bytes for each key",
                rest.len()
            )));
        }
        if filled < chunk.len() {
            return Ok(());
        }
    }
}

/// Reads until `chunk` is full or the input ends; gives the number of bytes read.
fn fill(input: &mut Input<'_>, chunk: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match input.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == IoErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The keys so far, and what to do about their order.
struct Collected {
    keys: Keys,
    key_type: KeyType,
    sort: bool,
    /// Whether their type was not given, and every one so far is a number.
    may_be_numbers: bool,
}

impl Collected {
    /// None yet; `key_type` is that of `options`, or of the name if these have none.
    fn of(options: &ReadOptions, key_type: KeyType) -> Self {
        let may_be_numbers = options.key_type.is_none() && key_type == KeyType::Text;
        Self { may_be_numbers, ..Self::new(key_type, options.sort) }
    }

    /// None yet, of a type that is known.
    fn new(key_type: KeyType, sort: bool) -> Self {
        let keys = if key_type.is_bytes() { Keys::Bytes(ByteColumn::new()) } else { Keys::U64(Vec::new()) };
        Self { keys, key_type, sort, may_be_numbers: false }
    }

    /// The keys in ascending order.
    fn finish(self) -> Result<TypedKeys> {
        if self.may_be_numbers && !self.keys.is_empty() {
            return Err(Error::invalid_input(format!("every key is a number; {SAY_WHICH}")));
        }
        let keys = if self.sort { self.keys.into_sorted_distinct() } else { self.keys };
        Ok(TypedKeys { keys, key_type: self.key_type }.in_coarsest_unit())
    }

    fn add(&mut self, key: &Key<'_>, place: impl Fn() -> String) -> Result<()> {
        if let (true, Key::Bytes(text)) = (self.may_be_numbers, key) {
            self.may_be_numbers = is_number(text);
        }
        match self.keys.compare_with_last(key) {
            Ordering::Equal => {}
            Ordering::Less if !self.sort && self.may_be_numbers => {
                return Err(Error::invalid_input(format!(
                    "{} is below the key before it, as texts are ordered (10 stands before 9); {SAY_WHICH}",
                    place()
                )));
            }
            Ordering::Less if !self.sort => {
                return Err(Error::invalid_input(format!(
                    "{} is below the key before it; sort the file or pass --sort",
                    place()
                )));
            }
            _ => self.keys.push(key),
        }
        Ok(())
    }
}

/// What to do where numbers would be taken for texts, which have another order.
const SAY_WHICH: &str =
    "say --key-type u64, i64 or f64 for numbers, or --key-type text (and --sort) if they are texts";

/// Whether a person would take the text for a number: digits with a sign, a point or an exponent, and no zero that a number would
/// not have.
fn is_number(text: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(text) else { return false };
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_padded = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    digits.starts_with(|first: char| first.is_ascii_digit()) && !is_padded && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_number;

    #[test]
    fn numbers_are_what_a_person_takes_for_them() {
        for number in ["0", "7", "-7", "18446744073709551615", "-0.5", "0.25", "8.6e8"] {
            assert!(is_number(number.as_bytes()), "{number}");
        }
        for text in [
            "",
            "-",
            "07",
            "007.5",
            "1,000",
            "2024-01-31",
            "10.0.0.1",
            "7 ",
            "inf",
            "NaN",
            ".5",
            "+7",
            "0x10",
        ] {
            assert!(!is_number(text.as_bytes()), "{text}");
        }
    }
}
