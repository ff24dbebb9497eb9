//! Numbers and byte strings one behind the other, for rows and statements. See `docs/format/range-cache-sql.md`.

use lacuna_base::{Error, Result};

#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits a byte, the lowest first; the high bit says that more follow.
    #[expect(clippy::cast_possible_truncation, reason = "the low byte is meant")]
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk().ok_or_else(cut)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Error::corrupt("a number in the bytes of the SQL store is too long"))
    }

    pub(crate) fn len(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| cut())
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.len()?;
        let (bytes, rest) = self.0.split_at_checked(len).ok_or_else(cut)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str> {
        str::from_utf8(self.bytes()?)
            .map_err(|_| Error::corrupt("text in the bytes of the SQL store is not UTF-8"))
    }
}

pub(crate) fn cut() -> Error {
    Error::corrupt("bytes of the SQL store are cut short")
}
