//! The calls of an owner to cache server, store and logs, and their replies.

use std::sync::Arc;

use crate::cache_model::RangeId;
use crate::log::LogRecord;
use crate::message::{Command, Epoch, Session, Value, Write};
use crate::query::Query;
use crate::range_key::RangeKey;

/// A script at the cache server of the range. All but `Fence` do nothing if the fence there is not their epoch.
#[derive(Debug, Clone)]
pub enum CacheCall {
    /// Refuse all older epochs from now on.
    Fence,
    /// As `Fence`; in addition, from now on installations leave their records in the log of the range. If the
    /// fence was exactly the given one and its log was kept, visible entries stay, leases and hidden values go,
    /// and the log is returned ([`CacheReply::Warm`]); otherwise nothing stays. Repeating the call gives the same
    /// answer.
    TakeOver(Option<Epoch>),
    /// Drops all entries, leases and log records of the range.
    Forget,
    /// Appends records to their chunks ([`LogRecord::chunk`] of [`LOG_CHUNKS`](crate::LOG_CHUNKS)).
    AppendLog(Vec<LogRecord>),
    /// The bytes of a chunk.
    ReadLog(u32),
    /// Replaces the given number of bytes at the start of a chunk by others.
    ReplaceLog(u32, usize, Vec<u8>),
    /// The visible values among the first queries, and I leases on the others.
    Gather(Session, Vec<Query>, Vec<Query>),
    /// The value; if there is none, an I lease for installing it.
    Lookup(Query, Session),
    /// Sets value and log record if the I lease is still held.
    Install(Query, Session, Value, LogRecord),
    /// Deletes values and voids I leases.
    Invalidate(Session, Vec<Query>),
    /// Changes entries in place, all in one script; voids I leases. Each entry remembers the session of its last
    /// change: a repeated or late call changes nothing.
    Patch(Session, Vec<(Query, Change)>),
    /// Hides values until a [`CacheCall::Patch`] of this session or a later one, for servers that cannot execute
    /// that in one script ([`Hashed`](https://docs.rs/lacuna-cache)); voids I leases.
    Hide(Session, Vec<Query>),
}

/// What happens to an entry. An entry that is not there stays away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is deleted.
    Drop,
    /// It is changed.
    Edit(Edit),
}

/// Changes of an entry, in the order of the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// Another value of the same meaning, if the last change was that of this session.
    pub compacted: Option<(Session, Value)>,
    /// The session of the last change for which the places of `pieces` hold.
    pub expected: Option<Session>,
    /// Bytes that are added to the value ([`Application::patch`](crate::Application::patch)), in their order.
    pub pieces: Vec<Piece>,
    /// Whether it is hidden from now on.
    pub is_hidden: bool,
}

/// Bytes for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// Where they replace as many others, if the last change of the value was the expected one; otherwise, and where
    /// there is no place, they come after its end. Counted in bytes of the value as the server keeps it.
    pub place: Option<usize>,
}

impl Edit {
    /// Whether the places hold for a value whose last change was that of `last`.
    pub(crate) fn is_expected(&self, last: Session) -> bool {
        self.expected == Some(last) && self.compacted.is_none()
    }

    /// `value` with all pieces, and whether one of them came after its end. O(length of all).
    pub(crate) fn edited(&self, value: &Value, is_as_expected: bool) -> (Value, bool) {
        let (mut bytes, len) = (value.as_bytes().to_vec(), value.as_bytes().len());
        for Piece { bytes: piece, place } in &self.pieces {
            let there = place.filter(|_| is_as_expected).and_then(|place| {
                let end = place.checked_add(piece.len()).filter(|end| *end <= len)?;
                bytes.get_mut(place..end)
            });
            match there {
                Some(there) => there.copy_from_slice(piece),
                None => bytes.extend_from_slice(piece),
            }
        }
        let has_grown = bytes.len() > len;
        (bytes.into(), has_grown)
    }
}

/// What has become of a value that was edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edited {
    /// Whether its last change was the expected one, so that pieces with a place are there.
    pub is_as_expected: bool,
    /// Its present length in bytes, if a piece came after its end.
    pub len: Option<usize>,
}

/// The replies of a cache server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheReply {
    /// Done.
    Done,
    /// There is a value.
    Found(Value),
    /// There is none, and the I lease was granted to the caller.
    Leased,
    /// There is none, and a writer holds the lease.
    Busy,
    /// To `Patch`: the values that were edited.
    Patched(Vec<(Query, Edited)>),
    /// The values that were gathered.
    Gathered(Vec<(Query, Value)>),
    /// To `TakeOver`: chunks of the log, none if the range begins cold.
    Warm(Vec<Vec<u8>>),
    /// To `ReadLog`.
    Log(Vec<u8>),
    /// The lease is not held any more; nothing was installed.
    NotHeld,
    /// No memory: the value was not set, or the lookup not made; then the fence was not checked either.
    Full,
    /// The fence is newer than the call, or gone.
    Fenced,
}

/// A statement or transaction at the store. All but `Query` check the fence of the range.
#[derive(Debug, Clone)]
pub enum StoreCall {
    /// Refuse all older epochs from now on; waits for their transactions in flight.
    Fence,
    /// The result of a query.
    Query(Query),
    /// One write.
    Write(Command),
    /// One write of several ranges: these are the other ranges. Their fences are checked together with that of the
    /// caller.
    WriteAcross(Command, Vec<(RangeId, Epoch)>),
    /// Buffered writes in order, in one transaction; those that were applied before are skipped by their number. A
    /// write without a command was set aside, or folded into a later one, and only counts.
    Apply(Vec<(u64, Option<Command>)>),
    /// Nothing but a look at the fence: `Done` if it is at the epoch of the caller. Sent after the answer to a query, it shows that
    /// no newer owner served when that was asked.
    Check,
    /// Log records of older epochs no longer count.
    Recovered,
    /// The store has every buffered write, and this owner will buffer no more: the next one needs no logs.
    Drained,
}

/// The replies of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreReply {
    /// To `Fence`.
    State(StoreState),
    /// To `Query`.
    Rows(Rows),
    /// Committed.
    Done,
    /// Refused, by the number of the buffered write if it was one.
    Refused {
        /// The number of the buffered write.
        lsn: Option<u64>,
        /// Whether the same call may succeed later (deadlock, serialization failure), or never (a constraint).
        retry: bool,
    },
    /// The fence is newer than the call.
    Fenced,
}

/// What the store knows of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreState {
    /// Buffered writes up to this number are applied.
    pub applied_lsn: u64,
    /// Log records of epochs below this no longer count.
    pub recovered: Epoch,
    /// Whether an owner that buffered writes did not end in order: logs may have writes that are not applied.
    pub is_buffered: bool,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The result.
    pub value: Value,
    /// Whether it holds no row.
    pub is_empty: bool,
    /// Value of the last row, of a result with a limit that is full.
    pub last: Option<RangeKey>,
}

/// A call to a log server, which keeps across restarts what it acknowledged.
#[derive(Debug, Clone)]
pub enum LogCall {
    /// Refuse all older epochs from now on, and return what is kept.
    Fence,
    /// Keep these writes, each with its number. Without an acknowledgement any of them may be kept. Repeating the same append is
    /// allowed.
    Append(Arc<[(u64, Write)]>),
    /// Forget writes up to a number, and those of epochs older than this.
    Trim(u64),
}

/// The replies of a log server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogReply {
    /// To `Fence`.
    Kept {
        /// The writes kept, with epoch and number.
        writes: Vec<(Epoch, u64, Write)>,
        /// Whether this server was ever fenced before. If not, it has lost its disk or is new.
        is_whole: bool,
    },
    /// Kept, or forgotten.
    Done,
    /// No room.
    Full,
    /// The fence is newer than the call, or gone.
    Fenced,
}
