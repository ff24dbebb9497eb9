//! A filter on its way here, piece by piece: lost pieces are asked for again, damaged wholes are fetched anew.

use crate::key_id::TableId;
use crate::message::{CHUNK_BYTES, Message, Version};
use crate::presence::NodeFilter;
use crate::slots::Slots;
use crate::wire::reader;

/// Most bytes of a snapshot: what a filter of some 2^32 keys takes.
const MAX_BYTES: u64 = 8 << 30;

/// What a piece was good for.
pub(crate) enum Fetched {
    /// Nothing: it came before. The next one has been asked for.
    Nothing,
    /// Another one is to be asked for.
    Piece,
    /// All have come.
    Whole(Vec<Vec<u8>>),
}

/// All bytes of a filter, which have not been read yet: that takes long, and needs nothing else.
#[derive(Debug)]
pub struct FetchedBytes {
    pub(crate) table: TableId,
    pub(crate) version: Version,
    pub(crate) open: Slots,
    pub(crate) generation: u64,
    pub(crate) check: u32,
    pub(crate) pieces: Vec<Vec<u8>>,
}

/// A filter that was read from them, if they are one.
#[derive(Debug)]
pub struct FetchedFilter {
    pub(crate) table: TableId,
    pub(crate) version: Version,
    pub(crate) open: Slots,
    pub(crate) generation: u64,
    pub(crate) check: u32,
    pub(crate) filter: Option<Box<NodeFilter>>,
}

impl FetchedBytes {
    /// Reads the filter. O(bytes).
    pub fn read(self) -> FetchedFilter {
        let Self { table, version, open, generation, check, pieces } = self;
        let bytes = pieces.concat();
        let is_sound = crc32c::crc32c(&bytes) == check;
        let filter = Some(&bytes)
            .filter(|_| is_sound)
            .and_then(|bytes| NodeFilter::read_from(&mut reader(bytes)).ok());
        FetchedFilter { table, version, open, generation, check, filter: filter.map(Box::new) }
    }
}

/// The pieces that have come.
#[derive(Debug)]
pub(crate) struct Fetch {
    sequence: u64,
    check: u32,
    count: u64,
    pieces: Vec<Vec<u8>>,
    bytes: u64,
    next: u64,
    heard_at: u64,
}

impl Fetch {
    pub(crate) fn new(now: u64) -> Self {
        Self { sequence: u64::MAX, check: 0, count: 0, pieces: Vec::new(), bytes: 0, next: 0, heard_at: now }
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
        let is_too_much =
            self.bytes + bytes.len() as u64 > MAX_BYTES || count > MAX_BYTES / CHUNK_BYTES as u64;
        if index != self.next || is_too_much {
            return Fetched::Nothing;
        }
        self.bytes += bytes.len() as u64;
        self.pieces.push(bytes);
        self.next += 1;
        if self.next < self.count {
            return Fetched::Piece;
        }
        Fetched::Whole(std::mem::take(&mut self.pieces))
    }

    /// Whether a filter that was read is the one whose pieces have all come.
    pub(crate) fn is_of(&self, read: &FetchedFilter) -> bool {
        (self.sequence, self.check) == (read.version.sequence, read.check) && self.next == self.count
    }
}
