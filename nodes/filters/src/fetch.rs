//! A filter on its way here, piece by piece: lost pieces are asked for again, damaged wholes are fetched anew.

use crate::key_id::TableId;
use crate::message::Message;
use crate::presence::NodeFilter;
use crate::wire::reader;

/// Most bytes of a snapshot: what a filter of some 2^32 keys takes.
const MAX_BYTES: u64 = 8 << 30;

/// What a piece was good for.
pub(crate) enum Fetched {
    /// Nothing: it came before. The next one has been asked for.
    Nothing,
    /// Another one is to be asked for.
    Piece,
    /// The filter is whole.
    Whole(Box<NodeFilter>),
}

/// The pieces that have come.
#[derive(Debug)]
pub(crate) struct Fetch {
    sequence: u64,
    check: u32,
    count: u64,
    bytes: Vec<u8>,
    next: u64,
    heard_at: u64,
}

impl Fetch {
    pub(crate) fn new(now: u64) -> Self {
        Self { sequence: u64::MAX, check: 0, count: 0, bytes: Vec::new(), next: 0, heard_at: now }
    }

    /// The request for the next piece.
    pub(crate) fn ask(&self, table: TableId) -> Message {
        Message::AskChunk { table, sequence: self.sequence, index: self.next }
    }

    /// The same again, if nothing has come for `patience`.
    pub(crate) fn ask_again(&self, table: TableId, now: u64, patience: u64) -> Option<Message> {
        (now >= self.heard_at + patience).then(|| self.ask(table))
    }

    /// Takes a piece. Pieces of another snapshot begin a new one.
    pub(crate) fn take(&mut self, now: u64, message: Message) -> Fetched {
        let Message::Chunk { version, index, count, check, bytes, .. } = message else {
            return Fetched::Nothing;
        };
        if (version.sequence, check, count) != (self.sequence, self.check, self.count) {
            *self = Self { sequence: version.sequence, check, count, ..Self::new(now) };
        }
        self.heard_at = now;
        if index != self.next || self.bytes.len() as u64 + bytes.len() as u64 > MAX_BYTES {
            return Fetched::Nothing;
        }
        self.bytes.extend_from_slice(&bytes);
        self.next += 1;
        if self.next < self.count {
            return Fetched::Piece;
        }
        let whole = std::mem::take(&mut self.bytes);
        let is_sound = crc32c::crc32c(&whole) == self.check;
        match NodeFilter::read_from(&mut reader(&whole)) {
            Ok(filter) if is_sound => Fetched::Whole(Box::new(filter)),
            _ => {
                *self = Self::new(now);
                Fetched::Piece
            }
        }
    }
}
