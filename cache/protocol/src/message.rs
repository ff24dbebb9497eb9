//! What an owner hears and says: requests, calls to servers, replies. No I/O: whoever runs the owner carries them.
//!
//! # What a carrier promises
//!
//! A call is carried out at most once; it may be late, its reply may be late, either may be lost. (A call belongs to a
//! connection; a server that restarts has new connections, so nothing reaches it from its former life.) To ask again is a
//! new call. Late replies are ignored. Calls to a cache server are each one script: they happen whole and at once.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::cache_model::RangeId;
use crate::call::{CacheCall, CacheReply, LogCall, LogReply, StoreCall, StoreReply};
use crate::lease_table::LeaseMode;
use crate::query::{Query, Touched};
use crate::range_table::RangeTable;

/// What a write does; only the application and the store know its meaning.
#[derive(Clone, PartialEq, Eq)]
pub struct Command(Arc<[u8]>);

/// The result of a query; only the application and the store know its meaning.
#[derive(Clone, PartialEq, Eq)]
pub struct Value(Bytes);

impl Command {
    /// Keeps a copy of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl Value {
    /// Keeps a copy of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(bytes))
    }

    /// What follows `prefix`, not copied; `None` if the bytes begin otherwise.
    ///
    /// ```
    /// use lacuna_cache_protocol::Value;
    ///
    /// let value = Value::behind(b"7:", b"7:rows".to_vec()).expect("it begins so");
    /// assert_eq!(value.as_bytes(), b"rows");
    /// assert!(Value::behind(b"8:", b"7:rows".to_vec()).is_none());
    /// ```
    pub fn behind(prefix: &[u8], bytes: Vec<u8>) -> Option<Self> {
        bytes.starts_with(prefix).then(|| Self(Self::from(bytes).0.slice(prefix.len()..)))
    }
}

/// Without a copy, if the vector has no room to spare.
impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into_boxed_slice().into())
    }
}

macro_rules! opaque_bytes {
    ($name:ident) => {
        impl $name {
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

/// Who leads a write or read over several ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    /// The range of the leader.
    pub range: RangeId,
    /// Its tenure.
    pub epoch: Epoch,
    /// What it leads, by a number of its own.
    pub session: Session,
}

/// From the owner of one range to that of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerCall {
    /// Take a lease on these, clear their entries if it is exclusive, and have the store take their buffered writes. To
    /// ask again is fine, and renews it.
    Lock(LeaseMode, Vec<Touched>),
    /// Give it back.
    Release,
}

/// What the owner of another range answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerReply {
    /// The lease is held, in this tenure.
    Held(Epoch),
    /// It is not held any more.
    Released,
    /// Not now, or not here.
    Refused,
}

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
    /// Another owner leads a write or read that touches this range. Its call is answered by [`Action::PeerReply`].
    Peer(PeerId, CallId, PeerCall),
    /// Another owner answered. A carrier that finds no owner may say `Refused`.
    PeerReply(CallId, PeerReply),
    /// There is a newer range table.
    Table(Arc<RangeTable>),
    /// A client needs the results of several queries of one moment; answered by [`Action::ReadAllDone`], or by `ReadDone`
    /// with `Retry`.
    ReadAll(RequestId, Vec<Query>),
    /// A client had a hit, and doubts it: the store is asked under the lease, and if it says otherwise, somebody writes
    /// past the cache.
    Verify(RequestId, Query),
    /// Somebody wrote past the cache: drop what shows these intervals.
    ForeignWrite(Vec<Touched>),
    /// Somebody is to write past the cache: drop everything and let nobody in, until `BulkDone`.
    BulkLoad(RequestId),
    /// The bulk load is over: nothing of it is under way any more.
    BulkDone(RequestId),
    /// Nobody knows what of the bulk load is still under way: only new epochs make sure that it does not land later.
    BulkAbandoned(RequestId),
    /// Since the last time clients had so many hits, and the cache server's memory is so full (percent).
    Load {
        /// Reads that did not come here.
        hits: u64,
        /// Percentage of the cache server's memory in use.
        memory_percent: u8,
    },
    /// No reply to this call will come: its time is over at once.
    Lost(CallId),
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
    /// Ask the owner of another range.
    Peer(CallId, RangeId, PeerId, PeerCall),
    /// Answer the owner of another range.
    PeerReply(PeerId, CallId, PeerReply),
    /// The request was not carried out: it belongs to another range, by this table.
    Redirect(RequestId, Arc<RangeTable>),
    /// The bulk load may begin; these other ranges are held, in these tenures. Whatever part of it checks the fences of all
    /// lands while nobody else is let in, or not at all. If it is answered by `WriteDone` before it is over, this tenure
    /// could not guard it: ask for another.
    BulkReady(RequestId, Vec<(RangeId, Epoch)>),
    /// The results of `ReadAll`, in the order of its queries.
    ReadAllDone(RequestId, Vec<Value>),
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
    /// Somebody writes past the cache. What showed these intervals was dropped.
    BypassDetected(Vec<Touched>),
    /// This listener may have missed notices: it was not connected to one who had some, or slower than they came. No owner
    /// says this; whoever carries notices does.
    MayBeMissing,
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
