//! Numbers and byte strings one after the other: log records, range tables, messages and rows consist of them.
//!
//! A number takes seven bits a byte, the lowest first; the high bit says that more follow. So 300 is `ac 02`, and a byte string
//! is its length, then its bytes. A number has one form: a needless zero byte at its end, or more than 64 bits, is damage.
//! Everything that is not a number or a byte string has a fixed width, least significant byte first.
//!
//! ```
//! use lacuna_base::wire::{Reader, Writer};
//!
//! let mut writer = Writer::default();
//! writer.number(300);
//! writer.bytes(b"key");
//! assert_eq!(writer.as_bytes(), [0xac, 0x02, 3, b'k', b'e', b'y']);
//!
//! let mut reader = Reader::new(writer.as_bytes(), "an example");
//! assert_eq!((reader.number()?, reader.bytes()?, reader.is_at_end()), (300, &b"key"[..], true));
//! assert_eq!(reader.byte().unwrap_err().to_string(), "an example is cut or damaged at its end");
//! # Ok::<(), lacuna_base::Error>(())
//! ```
//!
//! Guarantee: a reader takes any bytes without a panic, allocates nothing by a length it has read, and never reads past the end.

use crate::{Error, Result};

/// Appends a number to bytes: one byte below 128, ten at most.
pub fn write_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    to.push(number.to_le_bytes()[0]);
}

/// Appends a byte string, after its length, to bytes.
pub fn write_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    write_number(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// Bytes that grow.
#[derive(Debug, Clone, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// One with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Appends a byte.
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Appends bytes whose number the reader knows.
    pub fn fixed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends eight bytes.
    pub fn word(&mut self, word: u64) {
        self.fixed(&word.to_le_bytes());
    }

    /// Appends sixteen bytes.
    pub fn wide(&mut self, wide: u128) {
        self.fixed(&wide.to_le_bytes());
    }

    /// Appends a number: one byte below 128, ten at most.
    pub fn number(&mut self, number: u64) {
        write_number(&mut self.0, number);
    }

    /// Appends a byte string, after its length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        write_bytes(&mut self.0, bytes);
    }

    /// The written bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, for code that appends to them without a writer.
    pub const fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// The written bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Reads what a [`Writer`] wrote. Every error is `Corrupt`.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    about: &'static str,
}

impl<'a> Reader<'a> {
    /// A reader of `bytes`; errors name what they are of, as in `a range table`.
    pub const fn new(bytes: &'a [u8], about: &'static str) -> Self {
        Self { rest: bytes, about }
    }

    /// The error that says at which part the bytes make no sense.
    pub fn malformed(&self, what: &str) -> Error {
        Error::corrupt(format!("{} is cut or damaged at its {what}", self.about))
    }

    /// The bytes that are not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether all was read.
    pub const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads all that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.malformed("length"))?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next bytes, as many as the type says.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk().ok_or_else(|| self.malformed("end"))?;
        self.rest = rest;
        Ok(*first)
    }

    /// The next byte.
    ///
    /// # Errors
    /// `Corrupt` if there is none.
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.fixed::<1>()?[0])
    }

    /// The next eight bytes.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub fn word(&mut self) -> Result<u64> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// The next sixteen bytes.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub fn wide(&mut self) -> Result<u128> {
        self.fixed().map(u128::from_le_bytes)
    }

    /// A number.
    ///
    /// # Errors
    /// `Corrupt` if it is cut, has more than 64 bits or a needless byte.
    pub fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                return Err(self.malformed("number"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.malformed("number"))
    }

    /// A number of 32 bits.
    ///
    /// # Errors
    /// As [`Reader::number`], and `Corrupt` if it has more.
    pub fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| self.malformed("number"))
    }

    /// A number of bytes or things.
    ///
    /// # Errors
    /// As [`Reader::number`].
    pub fn length(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| self.malformed("length"))
    }

    /// A byte string.
    ///
    /// # Errors
    /// `Corrupt` if it is cut.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.length()?;
        self.take(len)
    }

    /// A byte string in UTF-8.
    ///
    /// # Errors
    /// `Corrupt` if it is cut or something else.
    pub fn text(&mut self) -> Result<String> {
        let bytes = self.bytes()?.to_vec();
        String::from_utf8(bytes).map_err(|_| self.malformed("text"))
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
