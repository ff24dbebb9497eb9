//! A batch of queries from a file or a pipe: one closed range a line.
//!
//! Both ends are keys of one [`KeyType`], `LO HI` with blanks, a tab or a comma between; one key alone asks for itself.
//! Text keys may hold blanks and commas, so they need the tab, and a text alone on its line has neither. An empty line asks
//! for the empty string where that is a key, as in a file of keys: of texts and of hexadecimal strings. Of all other types
//! blank lines are left out. A range that runs backwards is refused rather than turned round: it is a mistake of the caller's.

use std::io::BufRead;
use std::path::Path;

use lacuna_base::{Error, Result};

use crate::key_file::lines::Lines;
use crate::key_file::reader::open;
use crate::{ByteQueries, Key, KeyType, Queries, parse_range};

/// One range of a batch, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryLine {
    /// Smallest key asked for.
    pub low: Key<'static>,
    /// Largest key asked for; not below `low`.
    pub high: Key<'static>,
}

/// The ranges of a stream of lines, one at a time. Stop at the first error.
///
/// ```
/// use lacuna_workload::{Key, KeyType, QueryLines};
///
/// let mut lines = QueryLines::new("17 29\n5 5\n".as_bytes(), KeyType::U64);
/// let first = lines.next().expect("there are two lines")?;
/// assert_eq!((first.low, first.high), (Key::U64(17), Key::U64(29)));
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
#[derive(Debug)]
pub struct QueryLines<R> {
    lines: Lines<R>,
    key_type: KeyType,
}

impl<R: BufRead> QueryLines<R> {
    /// The ranges of `input`, whose ends are of `key_type`.
    pub fn new(input: R, key_type: KeyType) -> Self {
        Self::named(input, Path::new(""), key_type)
    }

    fn named(input: R, path: &Path, key_type: KeyType) -> Self {
        Self { lines: Lines::new(input, path), key_type }
    }

    fn next_query(&mut self) -> Result<Option<QueryLine>> {
        let key_type = self.key_type;
        loop {
            match self.lines.next_line()? {
                None => return Ok(None),
                Some((_, line)) if is_blank(line, key_type) => {}
                Some((number, line)) => {
                    let query = parse_line(line, key_type);
                    return query.map(Some).map_err(|error| error.with_context(format!("line {number}")));
                }
            }
        }
    }
}

impl<R: BufRead> Iterator for QueryLines<R> {
    type Item = Result<QueryLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_query().transpose()
    }
}

/// Reads all ranges of the file at `path`, packed or not.
///
/// # Errors
///
/// `InvalidInput` when the file is missing, not sound gzip, or a line is not one closed range of `key_type`, with
/// the number of the line; `Unavailable` when the system cannot read it.
pub fn parse_query_file(path: &Path, key_type: KeyType) -> Result<Queries> {
    let lines = QueryLines::named(open(path, |_| {})?, path, key_type);
    collect(lines, key_type).map_err(|error| error.with_context(path.display().to_string()))
}

fn collect(lines: impl Iterator<Item = Result<QueryLine>>, key_type: KeyType) -> Result<Queries> {
    let (mut integers, mut strings) = (Vec::new(), ByteQueries::new());
    for line in lines {
        match line? {
            QueryLine { low: Key::U64(low), high: Key::U64(high) } => integers.push((low, high)),
            QueryLine { low: Key::Bytes(low), high: Key::Bytes(high) } => strings.push(&low, &high),
            _ => unreachable!("one key type gives one key space"),
        }
    }
    Ok(if key_type.is_bytes() { Queries::Bytes(strings) } else { Queries::U64(integers) })
}

fn parse_line(line: &[u8], key_type: KeyType) -> Result<QueryLine> {
    let Some((low, high)) = split_ends(line, key_type) else {
        let form = match key_type {
            KeyType::Text => "give LO and HI with a tab between; write a key with blanks or commas twice",
            _ => "give `LO HI` with a blank between, or one key",
        };
        return Err(Error::invalid_input(format!("the line is not one range; {form}")));
    };
    let (low, high) = parse_range(key_type, low, high)?;
    Ok(QueryLine { low: owned(low), high: owned(high) })
}

/// Both ends; the same twice where there is one, and in an empty line.
fn split_ends(line: &[u8], key_type: KeyType) -> Option<(&[u8], &[u8])> {
    if line.is_empty() {
        return Some((line, line));
    }
    let is_text = key_type == KeyType::Text;
    let between = |byte: &u8| *byte == b'\t' || (is_separator(*byte) && !is_text);
    let mut ends = line.split(between).filter(|end| is_text || !end.is_empty());
    let low = ends.next()?;
    match (ends.next(), ends.next()) {
        // A text with blanks or commas and no tab may have been meant as two.
        (None, _) => (!is_text || !low.iter().any(|byte| is_separator(*byte))).then_some((low, low)),
        (Some(high), None) => Some((low, high)),
        _ => None,
    }
}

/// A sign that stands between the ends of a line, unless they are texts.
fn is_separator(byte: u8) -> bool {
    byte == b' ' || byte == b','
}

/// Whether a line has no key: an empty line of byte strings has one, the empty string.
fn is_blank(line: &[u8], key_type: KeyType) -> bool {
    !key_type.is_bytes() && line.iter().all(|byte| b" \t".contains(byte))
}

fn owned(key: Key<'_>) -> Key<'static> {
    match key {
        Key::U64(key) => Key::U64(key),
        Key::Bytes(key) => Key::Bytes(key.into_owned().into()),
    }
}

#[cfg(test)]
mod tests {
    use lacuna_base::TimeUnit;

    use super::*;

    #[test]
    fn ranges_read_in_every_type() {
        let cases = [
            (KeyType::U64, "17 29"),
            (KeyType::U64, "17\t29"),
            (KeyType::U64, " 17   17 "),
            (KeyType::F64, "-2.5 -1e-3"),
            (KeyType::Date, "2024-01-31 2024-02-01"),
            (KeyType::Timestamp(TimeUnit::Seconds), "2024-01-31,2024-02-01T00:00:00.5+01:00"),
            (KeyType::I64, "-5, 5"),
            (KeyType::Hex, "00 0a0b"),
            (KeyType::Hex, "0x 0a0b"),
            (KeyType::Text, "a b\tb c"),
            (KeyType::Text, "\ta,b"),
        ];
        for (key_type, line) in cases {
            let query = parse_line(line.as_bytes(), key_type).unwrap();
            assert!(query.low <= query.high, "{line}");
        }
    }

    #[test]
    fn one_key_asks_for_itself() {
        for (key_type, line) in [(KeyType::U64, " 17 "), (KeyType::Text, "plum"), (KeyType::Hex, "0a")] {
            let query = parse_line(line.as_bytes(), key_type).unwrap();
            assert_eq!(query.low, query.high, "{line}");
        }
        let day = parse_line(b"2024-01-31", KeyType::Timestamp(TimeUnit::Seconds)).unwrap();
        assert!(day.low < day.high, "a day of moments");
    }

    #[test]
    fn blank_lines_of_numbers_are_left_out() {
        let text = "\n1 2\n  \n\t\n\r\n3\n\n";
        let found = collect(QueryLines::new(text.as_bytes(), KeyType::U64), KeyType::U64).unwrap();
        assert_eq!(found, Queries::U64(vec![(1, 2), (3, 3)]));
        for (key_type, text) in [
            (KeyType::I64, "\n-1\n\n"),
            (KeyType::F64, "\n0.5\n\n"),
            (KeyType::Date, "\n2024-01-31\n\n"),
            (KeyType::Timestamp(TimeUnit::Seconds), "\n2024-01-31\n\n"),
        ] {
            let found = collect(QueryLines::new(text.as_bytes(), key_type), key_type).unwrap();
            assert_eq!(found.len(), 1, "{key_type}");
        }
    }

    #[test]
    fn an_empty_line_is_the_empty_string_where_it_is_a_key() {
        for (key_type, texts) in [
            (KeyType::Text, &["\n", "\r\n", "\t\n", "\t"][..]),
            (KeyType::Hex, &["\n", "\r\n", "0x\n", "0x 0x\n"]),
        ] {
            for text in texts {
                let found = collect(QueryLines::new(text.as_bytes(), key_type), key_type).unwrap();
                let mut asked = ByteQueries::new();
                asked.push(b"", b"");
                assert_eq!(found, Queries::Bytes(asked), "{text:?} as {key_type}");
            }
            // As in a file of keys: each line is one.
            let lines = QueryLines::new("\n61\n\n62\n".as_bytes(), key_type);
            assert_eq!(collect(lines, key_type).unwrap().len(), 4, "{key_type}");
        }
        let blanks = QueryLines::new(" \t \n".as_bytes(), KeyType::Hex);
        assert!(collect(blanks, KeyType::Hex).is_err(), "neither a key nor an empty line");
    }

    #[test]
    fn wrong_lines_are_named() {
        let cases = [
            (KeyType::U64, "1 2\n3 4 5\n", "line 2: the line is not one range"),
            (KeyType::U64, "1,2,3", "line 1: the line is not one range"),
            (KeyType::U64, ",", "line 1: the line is not one range"),
            (KeyType::U64, "1 x", "line 1: `x` is not an integer"),
            (KeyType::U64, "9 3", "line 1: the range runs backwards; give 3 before 9"),
            (KeyType::Text, "a b", "with a tab between"),
            (KeyType::Text, "a,b", "with a tab between"),
            (KeyType::Text, "a\t", "the range runs backwards"),
            (KeyType::Text, "a\tb\tc", "not one range"),
            (KeyType::Text, "b\ta", "give a before b"),
            (KeyType::F64, "1 -1", "runs backwards"),
        ];
        for (key_type, text, said) in cases {
            let error = collect(QueryLines::new(text.as_bytes(), key_type), key_type).unwrap_err();
            assert!(error.to_string().contains(said), "{text:?}: {error}");
        }
    }
}
