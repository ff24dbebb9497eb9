//! Numbers and frames as bytes: what all messages are made of.
//!
//! A frame is a version byte, a kind byte, the body, and the CRC-32C of everything before it in four bytes.

use lacuna_base::{Error, Result};

/// Version of the messages.
pub(crate) const VERSION: u8 = 1;

/// Appends numbers, least significant byte first.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn frame(kind: u8) -> Self {
        Self { bytes: vec![VERSION, kind] }
    }

    /// The finished frame.
    pub(crate) fn close(mut self) -> Vec<u8> {
        let check = crc32c::crc32c(&self.bytes);
        self.bytes.extend_from_slice(&check.to_le_bytes());
        self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    pub(crate) fn wide(&mut self, wide: u128) {
        self.bytes.extend_from_slice(&wide.to_le_bytes());
    }

    /// Seven bits a byte, the least significant first, the high bit set on all but the last.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// Reads what a [`Writer`] wrote; everything else is `Corrupt`.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The kind and body of a frame.
    pub(crate) fn open(frame: &'a [u8]) -> Result<(u8, Self)> {
        let (content, check) = frame.split_last_chunk::<4>().ok_or_else(|| malformed("length"))?;
        let [version, kind, body @ ..] = content else { return Err(malformed("length")) };
        if u32::from_le_bytes(*check) != crc32c::crc32c(content) {
            return Err(malformed("checksum"));
        }
        if *version != VERSION {
            return Err(Error::unsupported(format!(
                "a node filter message of version {version}; this code reads 1"
            )));
        }
        Ok((*kind, Self { rest: body }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    fn chunk<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        let (chunk, rest) = self.rest.split_first_chunk().ok_or_else(|| malformed("end"))?;
        self.rest = rest;
        Ok(chunk)
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        self.chunk::<1>().map(|[byte]| *byte)
    }

    pub(crate) fn word(&mut self) -> Result<u64> {
        self.chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    pub(crate) fn wide(&mut self) -> Result<u128> {
        self.chunk().map(|bytes| u128::from_le_bytes(*bytes))
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return Err(malformed("number"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(malformed("number"))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = usize::try_from(self.number()?).map_err(|_| malformed("length"))?;
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(|| malformed("length"))?;
        self.rest = rest;
        Ok(bytes)
    }
}

pub(crate) fn malformed(what: &str) -> Error {
    Error::corrupt(format!("a node filter message is cut or damaged at its {what}"))
}
