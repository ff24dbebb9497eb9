//! The reply to a read, on its way to the client, if it is to be kept or compared.

use std::sync::Arc;
use std::time::Instant;

use crate::cache::{Comparison, Room, Ticket};

/// What a reply is for, beside the client.
#[derive(Debug)]
pub(super) enum Purpose {
    /// It is kept by this ticket and this key, under the shape of its statement.
    Keep(Ticket, Arc<[u8]>, Arc<str>),
    /// It is compared with what the cache would have shown.
    Compare(Comparison),
}

/// A reply that is coming.
#[derive(Debug)]
pub(super) struct Capture {
    pub(super) purpose: Purpose,
    pub(super) reply: Vec<u8>,
    max_bytes: usize,
    room: Room,
    /// The transaction's state when the statement was sent, which must be the same after it.
    transaction: u8,
    is_complete: bool,
    /// When the statement came.
    pub(super) begun: Instant,
}

/// Why there is no room for a reply.
pub(super) const LONG_ROW: &str = "its reply has a row of more than 64 kB";
const LONG: &str = "its reply is longer than what is kept";
const NO_ROOM: &str = "replies that are on their way take a quarter of the cache";

/// What has become of a reply.
#[derive(Debug)]
pub(super) enum Captured {
    /// More is to come.
    Coming,
    /// It cannot be kept.
    GivenUp,
    /// There is no room for it, for this reason.
    NoRoom(&'static str),
    /// It has come as a whole.
    Whole,
}

impl Capture {
    pub(super) fn new(purpose: Purpose, max_bytes: usize, room: Room, transaction: u8) -> Self {
        Self {
            purpose,
            reply: Vec::new(),
            max_bytes,
            room,
            transaction,
            is_complete: false,
            begun: Instant::now(),
        }
    }

    /// Takes a message of the server with its header. Rows and what stands around them are kept, what answers `Parse` and
    /// `Bind` is not, and anything else (an error, a notice, a change of a setting) ends it.
    pub(super) fn take(&mut self, tag: u8, message: &[u8]) -> Captured {
        match tag {
            b'1' | b'2' if self.reply.is_empty() => return Captured::Coming,
            b'T' | b'D' if !self.is_complete => {}
            b'C' if !self.is_complete && message[5..].starts_with(b"SELECT ") => self.is_complete = true,
            b'Z' if self.is_complete && message[5..] == [self.transaction] => return Captured::Whole,
            _ => return Captured::GivenUp,
        }
        if self.reply.len() + message.len() > self.max_bytes {
            return Captured::NoRoom(LONG);
        }
        if !self.room.take(message.len()) {
            return Captured::NoRoom(NO_ROOM);
        }
        self.reply.extend_from_slice(message);
        Captured::Coming
    }
}
