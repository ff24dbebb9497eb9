//! What a server answers: OK, the end of rows, errors, and the numbers of a statement that was prepared.

use super::{Capabilities, FULL, Fields, Message};

/// The first byte of an answer without rows.
pub(crate) const OK: u8 = 0;
/// The first byte of a request for a file of the client.
pub(crate) const FILE_REQUEST: u8 = 0xfb;
/// The first byte of the end of rows, and of a row whose first text is longer than 16 MiB.
const END: u8 = 0xfe;
/// The first byte of an error.
pub(crate) const ERROR: u8 = 0xff;

/// An end with a status but no more than that is at most this long; an OK is longer.
const MAX_EOF: usize = 5;

/// The state of a session, as the server says it with each answer but an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) u16);

impl Status {
    pub(crate) const fn is_in_transaction(self) -> bool {
        self.0 & 0x0001 != 0
    }

    pub(crate) const fn is_autocommit(self) -> bool {
        self.0 & 0x0002 != 0
    }

    /// Another result follows.
    pub(crate) const fn has_more_results(self) -> bool {
        self.0 & 0x0008 != 0
    }

    /// The rows wait in the server until they are asked for.
    pub(crate) const fn has_cursor(self) -> bool {
        self.0 & 0x0040 != 0
    }
}

pub(crate) fn is_error(message: &Message<'_>) -> bool {
    message.body.first() == Some(&ERROR)
}

/// Whether it is MariaDB's report of how far a statement has come, which looks like an error and is none.
pub(crate) fn is_progress(message: &Message<'_>) -> bool {
    message.body.starts_with(&[ERROR, 0xff, 0xff])
}

/// Whether it ends rows or definitions.
pub(crate) fn is_end(message: &Message<'_>, capabilities: Capabilities) -> bool {
    // A text of 16 MiB makes a longer row; an EOF has five bytes and an OK at most some hundred.
    let max = if capabilities.has(Capabilities::DEPRECATE_EOF) { FULL - 1 } else { 8 };
    message.body.first() == Some(&END) && message.body_len <= max
}

/// The status of an OK, whose first byte may be that of an end.
pub(crate) fn ok_status(body: &[u8]) -> Option<Status> {
    let mut fields = Fields::new(body);
    fields.byte()?;
    fields.number()?;
    fields.number()?;
    fields.int16().map(Status)
}

/// The number of rows that an OK says were written.
pub(crate) fn affected_rows(body: &[u8]) -> u64 {
    let mut fields = Fields::new(body);
    fields.byte().and_then(|_| fields.number()).unwrap_or(0)
}

/// The status of the end of definitions.
pub(crate) fn eof_status(body: &[u8]) -> Option<Status> {
    let mut fields = Fields::new(body);
    fields.byte()?;
    // Warnings.
    fields.int16()?;
    fields.int16().map(Status)
}

/// The status of the end of rows: an OK has seven bytes at least.
pub(crate) fn end_status(message: &Message<'_>) -> Option<Status> {
    if message.body_len <= MAX_EOF { eof_status(message.body) } else { ok_status(message.body) }
}

/// A statement that was prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) id: u32,
    pub(crate) column_count: u16,
    pub(crate) param_count: u16,
    /// Whether definitions of parameters and columns follow.
    pub(crate) has_definitions: bool,
}

pub(crate) fn prepared(body: &[u8], capabilities: Capabilities) -> Option<Prepared> {
    let mut fields = Fields::new(body);
    fields.byte().filter(|&first| first == OK)?;
    let (id, column_count, param_count) = (fields.int32()?, fields.int16()?, fields.int16()?);
    // A byte that is always zero, and warnings.
    fields.bytes(3)?;
    let may_leave_out = capabilities.has(Capabilities::OPTIONAL_METADATA);
    let has_definitions = !may_leave_out || fields.byte() != Some(0);
    Some(Prepared { id, column_count, param_count, has_definitions })
}
