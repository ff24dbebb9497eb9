//! Errors as they are sent to another process.

use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::{Error, ErrorKind, Result};

use crate::cluster::frame::malformed;

/// Longest text of an error.
const LONGEST_TEXT: usize = 512;

/// An error as it is sent to another process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) text: String,
}

impl Fault {
    pub(crate) fn new(error: &Error) -> Self {
        let mut text = error.to_string();
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        Self { kind: error.kind(), text }
    }

    pub(crate) fn into_error(self) -> Error {
        Error::new(self.kind, self.text)
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.byte(code(self.kind));
        writer.bytes(self.text.as_bytes());
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let kind = kind_of(reader.byte()?)?;
        let text = reader.text()?;
        if text.len() > LONGEST_TEXT { Err(malformed("text")) } else { Ok(Self { kind, text }) }
    }
}

const fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidInput => 1,
        ErrorKind::Unsupported => 4,
        ErrorKind::Corrupt => 5,
        ErrorKind::Conflict => 7,
        _ => 6,
    }
}

fn kind_of(code: u8) -> Result<ErrorKind> {
    Ok(match code {
        1 => ErrorKind::InvalidInput,
        4 => ErrorKind::Unsupported,
        5 => ErrorKind::Corrupt,
        6 => ErrorKind::Unavailable,
        7 => ErrorKind::Conflict,
        _ => return Err(malformed("code")),
    })
}
