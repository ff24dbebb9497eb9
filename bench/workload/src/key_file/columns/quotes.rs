//! Bytes of CSV on their way to its parser, which makes cells of anything.
//!
//! The parser takes a quote that is never closed, or closed in the middle of a cell, for part of the cell, and with it every
//! row up to the next quote: `"abc`, `def`, `"x"` on three lines are one cell. Such quotes are refused here, so that no row
//! is lost without a word.

use std::io::{self, BufRead, Read};

use lacuna_base::Error;

use crate::key_file::lines::MARK;

/// Where the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a cell.
    Start,
    /// In a cell without quotes.
    Plain,
    /// In a cell within quotes.
    Quoted,
    /// After a quote in such a cell, which ends it unless another quote follows.
    Closed,
}

/// The bytes of `input`, the quotes checked.
#[derive(Debug)]
pub(super) struct CheckedQuotes<R> {
    input: R,
    delimiter: u8,
    state: State,
    line: u64,
    /// The line of the last quote that opened a cell.
    opened: u64,
    /// Bytes of the byte order mark that were seen; all of them once there can be none.
    mark_bytes: usize,
}

impl<R: BufRead> CheckedQuotes<R> {
    pub(super) fn new(input: R, delimiter: u8) -> Self {
        Self { input, delimiter, state: State::Start, line: 1, opened: 0, mark_bytes: 0 }
    }

    fn check(&mut self, byte: u8) -> Result<(), Error> {
        if MARK.get(self.mark_bytes) == Some(&byte) {
            self.mark_bytes += 1;
            return Ok(());
        }
        self.mark_bytes = MARK.len();
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::Closed,
            (State::Quoted, _) | (State::Closed, b'"') => State::Quoted,
            (State::Start, b'"') => {
                self.opened = self.line;
                State::Quoted
            }
            (_, byte) if byte == self.delimiter || matches!(byte, b'\r' | b'\n') => State::Start,
            (State::Closed, _) => return Err(self.closed_early()),
            _ => State::Plain,
        };
        self.line += u64::from(byte == b'\n');
        Ok(())
    }

    fn closed_early(&self) -> Error {
        let Self { line, opened, .. } = self;
        Error::invalid_input(format!(
            "line {line}: a quote stands within the cell that begins with one in line {opened}; close that cell, and write \
             quotes in a cell twice"
        ))
    }

    fn never_closed(&self) -> Error {
        Error::invalid_input(format!("line {}: the quote that begins a cell is never closed", self.opened))
    }
}

impl<R: BufRead> Read for CheckedQuotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.state == State::Quoted {
            return Err(io::Error::other(self.never_closed()));
        }
        buffer[..count].iter().try_for_each(|&byte| self.check(byte)).map_err(io::Error::other)?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<String, String> {
        let mut bytes = String::new();
        let mut input = CheckedQuotes::new(text.as_bytes(), b',');
        input.read_to_string(&mut bytes).map(|_| bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn sound_quotes_pass() {
        for text in [
            "",
            "a,b\n1,2\n",
            "\"a\",\"b\"\r\n\"1\n2\",\"say \"\"yes\"\"\"\n",
            "5\" pipe,6\n",
            "\u{feff}\"a\",b\n",
            "\"\",\"\"",
        ] {
            assert_eq!(checked(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn open_quotes_are_refused() {
        for (text, said) in [
            (
                "id,name\n1,\"abc\n2,def\n3,\"x\"\n4,y\n",
                "line 4: a quote stands within the cell that begins with one in line 2",
            ),
            ("a\n\"b\nc\n", "line 2: the quote that begins a cell is never closed"),
            ("\u{feff}\"a", "line 1: the quote"),
            ("\"a\" ,b\n", "line 1: a quote stands within"),
        ] {
            let refused = checked(text).unwrap_err();
            assert!(refused.contains(said), "{text:?}: {refused}");
        }
    }
}
