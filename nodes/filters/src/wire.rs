//! Frames: a version byte, a kind byte, the body, and the CRC-32C of everything before it in four bytes.

pub(crate) use lacuna_base::wire::{Reader, Writer};
use lacuna_base::{Error, Result};

/// Version of the messages.
pub(crate) const VERSION: u8 = 2;

/// A frame without its body.
pub(crate) fn begin(kind: u8) -> Writer {
    let mut writer = Writer::default();
    writer.fixed(&[VERSION, kind]);
    writer
}

/// The finished frame.
pub(crate) fn close(mut writer: Writer) -> Vec<u8> {
    let check = crc32c::crc32c(writer.as_bytes());
    writer.fixed(&check.to_le_bytes());
    writer.into_bytes()
}

/// The kind and body of a frame.
pub(crate) fn open(frame: &[u8]) -> Result<(u8, Reader<'_>)> {
    let (content, check) = frame.split_last_chunk::<4>().ok_or_else(|| malformed("length"))?;
    let [version, kind, body @ ..] = content else { return Err(malformed("length")) };
    if u32::from_le_bytes(*check) != crc32c::crc32c(content) {
        return Err(malformed("checksum"));
    }
    if *version != VERSION {
        return Err(Error::unsupported(format!(
            "a node filter message of version {version}; this code reads {VERSION}"
        )));
    }
    Ok((*kind, reader(body)))
}

/// Reads a body, or a part of one.
pub(crate) const fn reader(bytes: &[u8]) -> Reader<'_> {
    Reader::new(bytes, "a node filter message")
}

pub(crate) fn malformed(what: &str) -> Error {
    reader(&[]).malformed(what)
}
