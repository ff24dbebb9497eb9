//! What nodes say to each other; bytes in [`docs/format/node-filters.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/node-filters.md).

mod codec;

use crate::key_id::{KeyId, TableId};
use crate::slots::Slots;

/// Most bytes of a snapshot in one message.
pub const CHUNK_BYTES: usize = 512 << 10;

/// A place in the history of a node's filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Version {
    /// The life of the node: another one after every restart.
    pub incarnation: u64,
    /// Number of its last delta.
    pub sequence: u64,
    /// Hash of all deltas up to that one.
    pub digest: u64,
}

/// New keys and deletions of one table in a delta.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableDelta {
    /// Set if all that was known of the table is void from here on: the filter was rebuilt, emptied or shortened.
    pub is_reset: bool,
    /// The slots that are open from here on, in place of those before; `None` if they are the same.
    pub open: Option<Slots>,
    /// First halves of keys that are live now.
    pub keys: Vec<u64>,
    /// Keys that are dead now, with the times of their deletions.
    pub dead: Vec<(KeyId, u64)>,
}

/// What the sender of a request will use a lease for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseUse {
    /// It wants none.
    None,
    /// To answer reads: only a node that holds its acknowledgements back may grant it.
    Answer,
    /// To count what it would have answered.
    Count,
}

/// A message from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// "What do you have, and may I rely on it?" Sent every interval, to every peer.
    Request {
        /// Number of the request, ascending.
        number: u64,
        /// What the sender has applied.
        applied: Version,
        /// Ring of the sender.
        ring: u64,
        /// What a lease is wanted for.
        lease_use: LeaseUse,
    },
    /// The answer.
    Grant {
        /// Number of the request.
        number: u64,
        /// Where the answering node stands.
        version: Version,
        /// Ring of the answering node.
        ring: u64,
        /// Length of the lease in milliseconds of the answering node; 0 is none.
        length: u64,
        /// Hash of the names and generations of its tables.
        catalog: u64,
    },
    /// What changed, in order.
    Delta {
        /// Life of the sender.
        incarnation: u64,
        /// Number of the delta.
        sequence: u64,
        /// Tables that changed.
        tables: Vec<(TableId, TableDelta)>,
    },
    /// "I have applied everything up to here."
    Applied(Version),
    /// The same, with another frame for the same node.
    AppliedAnd {
        /// What the sender has applied.
        applied: Version,
        /// A frame of another kind.
        frame: Vec<u8>,
    },
    /// "Send me the deltas after this one again."
    Missing(Version),
    /// "I do not have those any more; begin again from my snapshots."
    Gap(Version),
    /// "Which tables do you have?"
    AskCatalog,
    /// The tables of a node and the generation of each filter.
    Catalog {
        /// Life of the sender.
        incarnation: u64,
        /// Tables, ascending.
        tables: Vec<(TableId, u64)>,
    },
    /// "Send me a piece of your filter of this table."
    AskChunk {
        /// The table.
        table: TableId,
        /// Sequence of the snapshot; `u64::MAX` for a new one.
        sequence: u64,
        /// Number of the piece.
        index: u64,
    },
    /// A piece of a snapshot.
    Chunk {
        /// The table.
        table: TableId,
        /// Where the sender stood when the snapshot was made.
        version: Version,
        /// The slots that were open then.
        open: Slots,
        /// Generation of the filter.
        generation: u64,
        /// Number of the piece, and of all pieces.
        index: u64,
        /// Number of pieces.
        count: u64,
        /// CRC-32C of the whole snapshot.
        check: u32,
        /// The piece.
        bytes: Vec<u8>,
    },
}
