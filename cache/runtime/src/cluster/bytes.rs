//! Bodies of frames, from numbers and byte strings as [`lacuna_cache_protocol::wire`] has them.

use lacuna_base::Error;
use lacuna_cache_protocol::wire::{Reader, write_bytes, write_number};

/// Appends to a body.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn fixed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn number(&mut self, number: u64) {
        write_number(&mut self.0, number);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        write_bytes(&mut self.0, bytes);
    }
}

/// Reads what a [`Writer`] wrote; everything else is `Corrupt`.
pub(crate) const fn reader(body: &[u8]) -> Reader<'_> {
    Reader::new(body, "a frame of a dendrite")
}

pub(crate) fn malformed(what: &str) -> Error {
    reader(&[]).malformed(what)
}
