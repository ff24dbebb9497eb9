//! Numbers and byte strings one behind the other: what log records, range tables and frames of dendrites are made of.
//!
//! A number takes seven bits a byte, the lowest first; the high bit says that more follow. So 300 is `ac 02`, and a byte string
//! is its length, then its bytes. A number has one form: a needless zero byte at its end, or more than 64 bits, is damage.

use lacuna_base::{Error, Result};

/// Appends a number: one byte below 128, ten at most.
///
/// ```
/// use lacuna_cache_protocol::wire::{Reader, write_bytes, write_number};
///
/// let mut bytes = Vec::new();
/// write_number(&mut bytes, 300);
/// write_bytes(&mut bytes, b"key");
/// assert_eq!(bytes, [0xac, 0x02, 3, b'k', b'e', b'y']);
/// let mut reader = Reader::new(&bytes, "an example");
/// assert_eq!((reader.number()?, reader.bytes()?, reader.is_at_end()), (300, &b"key"[..], true));
/// assert_eq!(reader.byte().unwrap_err().to_string(), "an example is cut or damaged at its end");
/// # Ok::<(), lacuna_base::Error>(())
/// ```
pub fn write_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    to.push(number.to_le_bytes()[0]);
}

/// Appends a byte string behind its length.
pub fn write_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    write_number(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// Reads what was written so. Every error is `Corrupt`.
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

    /// What was not read yet.
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

    /// The next bytes, so many.
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
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    #[test]
    fn every_number_has_one_form() {
        let mut rng = Rng::new(9);
        let sizes = (0..64).map(|bits| u64::MAX >> bits);
        for number in sizes.chain((0..1_000).map(|_| rng.next_u64() >> rng.below(64))) {
            let mut bytes = Vec::new();
            write_number(&mut bytes, number);
            assert_eq!(Reader::new(&bytes, "it").number().unwrap(), number);
            let longer = [&bytes[..bytes.len() - 1], &[bytes[bytes.len() - 1] | 0x80, 0]].concat();
            assert!(Reader::new(&longer, "it").number().is_err(), "{number} with a needless byte");
            assert!(Reader::new(&bytes[..bytes.len() - 1], "it").number().is_err(), "{number} cut");
        }
        assert!(Reader::new(&[0xFF; 10], "it").number().is_err(), "more than 64 bits");
    }
}
