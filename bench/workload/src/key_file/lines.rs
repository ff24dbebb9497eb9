//! Numbered lines of a stream, LF or CRLF, without one allocation a line.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use lacuna_base::Result;

use super::reader::read_error;

/// The lines of `input`, which came from the file at `path`.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    path: PathBuf,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, path: &Path) -> Self {
        Self { input, path: path.to_owned(), number: 0, buffer: Vec::new() }
    }

    /// The next line without its end, and its number counted from 1.
    pub(crate) fn next_line(&mut self) -> Result<Option<(u64, &[u8])>> {
        self.buffer.clear();
        let count =
            self.input.read_until(b'\n', &mut self.buffer).map_err(|error| read_error(&self.path, error))?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some((self.number, without_end(&self.buffer))))
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_line_ends_are_taken_off() {
        let mut lines = Lines::new(b"a\r\nb\n\nc".as_slice(), Path::new("lines.txt"));
        let mut seen = Vec::new();
        while let Some((number, line)) = lines.next_line().unwrap() {
            seen.push((number, line.to_vec()));
        }
        assert_eq!(seen, [(1, b"a".to_vec()), (2, b"b".to_vec()), (3, vec![]), (4, b"c".to_vec())]);
    }
}
