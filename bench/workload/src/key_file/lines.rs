//! Numbered lines of a stream, LF or CRLF, without one allocation a line.
//!
//! What is no text is refused rather than read as keys: zero bytes and other control signs, UTF-16, packed files, lines
//! longer than [`MAX_LINE_BYTES`], and carriage returns within a line, which are the line ends of old Macs. A byte order mark before UTF-8 is left out.

use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use lacuna_base::{Error, Result};

use super::reader::read_error;

/// Most bytes of a line: far more than any key, and little enough to hold.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// The byte order mark of UTF-8.
pub(crate) const MARK: &[u8] = b"\xEF\xBB\xBF";
/// First bytes of files that are no text, and what to do about them.
const NO_TEXT: [(&[u8], &str); 4] = [
    (b"\xFF\xFE", "this is UTF-16; save it as UTF-8"),
    (b"\xFE\xFF", "this is UTF-16; save it as UTF-8"),
    (b"\x1F\x8B", "this is gzip; give it a name that ends in .gz, or unpack it"),
    (b"LCNA\x01", "this is a filter, not a file of keys or ranges"),
];

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
        let mut bounded = self.input.by_ref().take(MAX_LINE_BYTES + 1);
        let count =
            bounded.read_until(b'\n', &mut self.buffer).map_err(|error| read_error(&self.path, error))?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = without_end(&self.buffer);
        let line = if self.number == 1 { without_mark(line)? } else { line };
        check(line)
            .and_then(|()| refuse_carriage_return(line))
            .map_err(|error| error.with_context(format!("line {}", self.number)))?;
        Ok(Some((self.number, line)))
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The first line without a byte order mark.
fn without_mark(line: &[u8]) -> Result<&[u8]> {
    refuse_no_text(line)?;
    Ok(line.strip_prefix(MARK).unwrap_or(line))
}

/// Refuses the start of a file that is no text.
pub(crate) fn refuse_no_text(start: &[u8]) -> Result<()> {
    match NO_TEXT.iter().find(|(no_text, _)| start.starts_with(no_text)) {
        Some((_, remedy)) => Err(Error::invalid_input(*remedy)),
        None => Ok(()),
    }
}

/// Refuses a line or a cell that is no text.
pub(crate) fn check(text: &[u8]) -> Result<()> {
    if text.len() as u64 > MAX_LINE_BYTES {
        return Err(Error::invalid_input(format!(
            "the text is longer than {MAX_LINE_BYTES} bytes; this looks like a binary file"
        )));
    }
    match text.iter().find(|&&byte| is_no_text(byte)) {
        None => Ok(()),
        Some(byte) => Err(Error::invalid_input(format!(
            "byte {byte:#04x} stands in no text, so this looks like a binary file; name a file of little-endian \
             integers .u64, and write byte strings with --key-type hex"
        ))),
    }
}

fn refuse_carriage_return(line: &[u8]) -> Result<()> {
    if line.contains(&b'\r') {
        return Err(Error::invalid_input(
            "a carriage return stands within the line; turn the line ends of old Macs into others with \
             tr '\\r' '\\n', and write byte strings with --key-type hex",
        ));
    }
    Ok(())
}

/// Control signs other than tabs, line ends and page ends.
fn is_no_text(byte: u8) -> bool {
    byte < 0x09 || (0x0E..0x20).contains(&byte)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(text: &[u8]) -> Result<Vec<(u64, Vec<u8>)>> {
        let mut lines = Lines::new(text, Path::new("lines.txt"));
        let mut seen = Vec::new();
        while let Some((number, line)) = lines.next_line()? {
            seen.push((number, line.to_vec()));
        }
        Ok(seen)
    }

    #[test]
    fn both_line_ends_are_taken_off() {
        let seen = lines(b"a\r\nb\n\nc").unwrap();
        assert_eq!(seen, [(1, b"a".to_vec()), (2, b"b".to_vec()), (3, vec![]), (4, b"c".to_vec())]);
    }

    #[test]
    fn a_byte_order_mark_is_left_out() {
        assert_eq!(lines(b"\xEF\xBB\xBFa\nb").unwrap(), [(1, b"a".to_vec()), (2, b"b".to_vec())]);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (text, said) in [
            (&b"a\nb\0c\n"[..], "line 2: byte 0x00"),
            (b"\x7fELF\x02\x01", "looks like a binary file"),
            (b"\xFF\xFEa\0", "UTF-16"),
            (b"\x1F\x8B\x08", "this is gzip"),
            (b"LCNA\x01", "this is a filter"),
            (b"a\rb\rc\r", "line 1: a carriage return stands within the line"),
            (b"a\nb\r\r\n", "line 2: a carriage return"),
        ] {
            let error = lines(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
        assert_eq!(lines(b"LCNAB\ta\xE4").unwrap().len(), 1);
    }

    #[test]
    fn an_endless_line_ends() {
        let endless = BufReader::new(std::io::repeat(b'a'));
        let error = Lines::new(endless, Path::new("")).next_line().unwrap_err().to_string();
        assert!(error.contains("longer than 1048576 bytes"), "{error}");
    }
}
