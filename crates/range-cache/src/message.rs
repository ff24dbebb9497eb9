//! What an owner hears and says: requests, calls to servers, replies. No I/O: whoever runs the owner carries them.
//!
//! # What a carrier promises
//!
//! A call is carried out at most once; it may be late, its reply may be late, either may be lost. (A call belongs to a
//! connection; a server that restarts has new connections, so nothing reaches it from its former life.) To ask again is a
//! new call. Late replies are ignored. Calls to a cache server are each one script: they happen whole and at once.

use std::fmt;
use std::sync::Arc;

use crate::log::LogRecord;
use crate::query::{Query, Touched};
use crate::range_key::RangeKey;

/// What a write does; only the application and the store know its meaning.
#[derive(Clone, PartialEq, Eq)]
pub struct Command(Arc<[u8]>);

/// The result of a query; only the application and the store know its meaning.
#[derive(Clone, PartialEq, Eq)]
pub struct Value(Arc<[u8]>);

macro_rules! opaque_bytes {
    ($name:ident) => {
        impl $name {
            /// Keeps a copy of these bytes.
            pub fn new(bytes: &[u8]) -> Self {
                Self(bytes.into())
            }

            /// Its bytes.
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0.escape_ascii())
            }
        }
    };
}
opaque_bytes!(Command);
opaque_bytes!(Value);

/// Number of a request, chosen by whoever runs the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Number of a call, chosen by the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// Number of one tenure of a range by an owner, ascending over all owners. Given out by the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// Number of a lease that an owner takes on cache entries: larger than that of all earlier ones of its tenure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session(pub u64);

/// A write and the intervals it touches: old and new values, in every domain it knows. A domain that it does not name is
/// taken whole (P8, P9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// What it touches.
    pub touched: Vec<Touched>,
    /// What it does.
    pub command: Command,
}

/// What happens to an owner.
#[derive(Debug, Clone)]
pub enum Event {
    /// A client missed in the cache.
    Read(RequestId, Query),
    /// A client writes.
    Write(RequestId, Write),
    /// The cache server answered.
    Cache(CallId, CacheReply),
    /// The store answered.
    Store(CallId, StoreReply),
    /// A log server answered.
    Log(CallId, LogReply),
    /// Time has passed; nothing else needs to be said.
    Tick,
    /// No more requests will come: apply what is buffered, then end.
    Stop,
}

/// What an owner wants done.
#[derive(Debug, Clone)]
pub enum Action {
    /// Call the cache server of the range.
    Cache(CallId, Epoch, CacheCall),
    /// Call the store.
    Store(CallId, Epoch, StoreCall),
    /// Call a log server, by its place in the list.
    Log(usize, CallId, Epoch, LogCall),
    /// Answer a read.
    ReadDone(RequestId, ReadOutcome),
    /// Answer a write.
    WriteDone(RequestId, WriteOutcome),
    /// Tell the application.
    Notice(Notice),
    /// The tenure is over: claim the range anew, or leave it. The owner does nothing any more.
    Ended(Ending),
}

/// Answer to a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The result.
    Value(Value),
    /// No result from here: ask the present owner, or later again.
    Retry,
}

/// Answer to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Every later read sees it.
    Done,
    /// The store refused it; nothing has changed.
    Refused,
    /// It was not carried out and will not be.
    Retry,
    /// It may or may not have been carried out, or may yet be.
    Unknown,
}

/// What the application must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The store refused these acknowledged writes for good, the first by itself, the others because they depend on it.
    /// They were set aside; entries that showed them were dropped.
    SetAside(Vec<(u64, Command)>),
    /// No copy of the log is whole: acknowledged writes may be lost.
    BufferedWritesLost,
    /// Buffering is off until the log has room again.
    WritingThrough,
}

/// Why a tenure is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Somebody has a newer epoch.
    Fenced,
    /// The cache server does not answer, or has lost its memory.
    CacheLost,
    /// Whether a write was carried out is unknown: only a new epoch makes sure that it does not land later.
    OutcomeUnknown,
    /// The store or too few logs answer to begin.
    NotStarted,
    /// Everything was applied after [`Event::Stop`].
    Stopped,
}

/// A script at the cache server of the range. All but `Fence` do nothing if the fence there is not their epoch.
#[derive(Debug, Clone)]
pub enum CacheCall {
    /// Refuse all older epochs from now on.
    Fence,
    /// The value; if there is none, an I lease for installing it.
    Lookup(Query, Session),
    /// Sets value and log record if the I lease is still held.
    Install(Query, Session, Value, LogRecord),
    /// Deletes values and voids I leases.
    Invalidate(Session, Vec<Query>),
    /// Takes Q leases, voiding I leases; hides the values and returns them.
    Hide(Session, Vec<Query>),
    /// As `Hide`, but the values stay visible: the report's way, which is a flaw where they are set one by one (P1).
    Peek(Session, Vec<Query>),
    /// Where the Q lease is still held, sets or deletes the value and gives the lease back; elsewhere deletes the value
    /// and voids an I lease (P4).
    Commit(Session, Vec<(Query, Option<Value>)>),
}

/// What a cache server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheReply {
    /// Done.
    Done,
    /// There is a value.
    Found(Value),
    /// There is none, and the I lease is yours.
    Leased,
    /// There is none, and somebody writes.
    Busy,
    /// The values that were hidden.
    Hidden(Vec<(Query, Value)>),
    /// The lease is not held any more; nothing was installed.
    NotHeld,
    /// No memory: what was to be set is not there.
    Full,
    /// The fence is newer than the call, or gone.
    Fenced,
}

/// A statement or transaction at the store. All but `Query` check the fence of the range.
#[derive(Debug, Clone)]
pub enum StoreCall {
    /// Refuse all older epochs from now on; waits for what they have in flight.
    Fence,
    /// The result of a query.
    Query(Query),
    /// One write.
    Write(Command),
    /// Buffered writes in order, in one transaction; those that were applied before are skipped by their number. One
    /// without a command was set aside, or folded into a later one, and only counts.
    Apply(Vec<(u64, Option<Command>)>),
    /// Records of logs from older epochs count for nothing any more.
    Recovered,
}

/// What the store answers.
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
        /// Which buffered write.
        lsn: Option<u64>,
        /// Whether the same may succeed later (deadlock, serialization failure), or never (a constraint).
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
    /// Log records of epochs below this count for nothing.
    pub recovered: Epoch,
    /// Whether an owner ever buffered writes.
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

/// A call to a log server, which keeps what it acknowledged over restarts.
#[derive(Debug, Clone)]
pub enum LogCall {
    /// Refuse all older epochs from now on, and return what is kept.
    Fence,
    /// Keep a write. To append the same again is fine.
    Append(u64, Write),
    /// Forget writes up to a number, and of epochs older than this.
    Trim(u64),
}

/// What a log server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogReply {
    /// To `Fence`.
    Kept {
        /// The writes kept, with epoch and number.
        writes: Vec<(Epoch, u64, Write)>,
        /// Whether this server was ever fenced before. One that was not has lost its disk or never had anything.
        is_whole: bool,
    },
    /// Kept, or forgotten.
    Done,
    /// No room.
    Full,
    /// The fence is newer than the call, or gone.
    Fenced,
}
