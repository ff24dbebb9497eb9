//! The inputs and outputs of an owner: requests, calls to servers, replies. No I/O: the driver of the owner
//! carries them.
//!
//! # What the driver promises
//!
//! A call is executed at most once; it may be late, its reply may be late, either may be lost. (A call belongs to
//! a connection; a server that restarts has new connections, so no older call reaches it.) A repeated request is a
//! new call. Late replies are ignored. A call to a cache server is one script, which is atomic.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::cache_model::RangeId;
use crate::call::{CacheCall, CacheReply, LogCall, LogReply, StoreCall, StoreReply};
use crate::lease_table::LeaseMode;
use crate::query::{Query, Touched};
use crate::range_table::RangeTable;

/// The action of a write; only the application and the store know its meaning.
#[derive(Clone)]
pub struct Command(Arc<CommandInner>);

struct CommandInner {
    bytes: Box<[u8]>,
    /// What the bytes mean, once somebody has read them.
    meaning: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// The result of a query; only the application and the store know its meaning.
#[derive(Clone, PartialEq, Eq)]
pub struct Value(Bytes);

impl Command {
    /// Keeps a copy of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Arc::new(CommandInner { bytes: bytes.into(), meaning: OnceLock::new() }))
    }

    /// A command whose meaning need not be read from its bytes.
    #[must_use]
    pub fn meaning<T: Any + Send + Sync>(self, meaning: Arc<T>) -> Self {
        // Another one has read the same bytes.
        drop(self.0.meaning.set(meaning));
        self
    }

    /// What the bytes mean, which is read once for all copies of the command.
    ///
    /// ```
    /// use lacuna_cache_protocol::Command;
    ///
    /// let command = Command::new(b"21");
    /// let read = |bytes: &[u8]| std::str::from_utf8(bytes).map(|text| text.parse::<i64>());
    /// assert_eq!(*command.read_with(read).expect("it is text"), Ok(21));
    /// ```
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read_with<T: Any + Send + Sync, E>(
        &self,
        read: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let known = self.0.meaning.get().cloned().and_then(|known| known.downcast().ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let meaning = Arc::new(read(&self.0.bytes)?);
        drop(self.0.meaning.set(meaning.clone()));
        Ok(meaning)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Command {}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bytes().escape_ascii())
    }
}

impl Value {
    /// Keeps a copy of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(bytes))
    }

    /// What follows the first `len` bytes, without a copy; `None` if there are fewer.
    ///
    /// ```
    /// use lacuna_cache_protocol::Value;
    ///
    /// assert_eq!(Value::behind(2, b"7:rows".to_vec()).expect("it is longer").as_bytes(), b"rows");
    /// assert!(Value::behind(7, b"7:rows".to_vec()).is_none());
    /// ```
    pub fn behind(len: usize, bytes: Vec<u8>) -> Option<Self> {
        (len <= bytes.len()).then(|| Self(Self::from(bytes).0.slice(len..)))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Without a copy, if the vector has no spare capacity.
impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into_boxed_slice().into())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

/// Number of a request, chosen by the driver of the owner.
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

/// The leader of a write or read over several ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    /// The range of the leader.
    pub range: RangeId,
    /// Its tenure.
    pub epoch: Epoch,
    /// Its number for this write or read.
    pub session: Session,
}

/// From the owner of one range to the owner of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerCall {
    /// Take a lease on these, clear their entries if it is exclusive, and have the store take their buffered
    /// writes. Repeating the call is allowed, and renews the lease.
    Lock(LeaseMode, Vec<Touched>),
    /// Release the lease.
    Release,
}

impl PeerCall {
    /// Whether it is about a lease that is held already, to renew or to release it.
    pub fn is_about_a_held_lease(&self) -> bool {
        match self {
            Self::Lock(_, touched) => touched.is_empty(),
            Self::Release => true,
        }
    }
}

/// The reply of the owner of another range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerReply {
    /// The lease is held, in this tenure.
    Held(Epoch),
    /// The lease is not held any more.
    Released,
    /// The owner cannot grant it now, or is not here.
    Refused,
}

/// A write and the intervals it touches: old and new values, in every domain that the application names. A domain
/// that is not named is touched whole (P8, P9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The intervals it touches.
    pub touched: Vec<Touched>,
    /// Its action.
    pub command: Command,
}

/// The inputs of an owner.
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
    /// Another owner answered. A driver that finds no owner may report `Refused`.
    PeerReply(CallId, PeerReply),
    /// There is a newer range table.
    Table(Arc<RangeTable>),
    /// A client needs the results of several queries of one moment; answered by [`Action::ReadAllDone`], or by
    /// `ReadDone` with `Retry`.
    ReadAll(RequestId, Vec<Query>),
    /// A client doubts a hit: the store is asked under the lease, and a different answer proves a foreign write,
    /// one past the cache.
    Verify(RequestId, Query),
    /// A foreign write past the cache was noticed: drop the entries that show these intervals.
    ForeignWrite(Vec<Touched>),
    /// A caller will read and write at the store directly, a bulk load or a transaction: drop the entries that these
    /// intervals touch, have the store take their buffered writes, and admit no request for them until `HoldDone`. As
    /// with a write, domains that are not named are touched whole; the command only says whose numbers of domains
    /// these are.
    Hold(RequestId, Write),
    /// The caller is done: nothing of it is under way any more.
    HoldDone(RequestId),
    /// Writes of the caller may still be under way: only new epochs make sure that they do not land later.
    HoldAbandoned(RequestId),
    /// Hits of clients since the last report, and how full the memory of the cache server is (percent).
    Load {
        /// Reads that hit in the cache and did not reach the owner.
        hits: u64,
        /// Percentage of the cache server's memory in use.
        memory_percent: u8,
    },
    /// The largest result that is worth caching, in bytes, as the driver has measured
    /// ([`SizeThreshold`](crate::SizeThreshold)). [`Config::largest_value`](crate::Config::largest_value) stays the limit.
    WorthCaching(usize),
    /// No reply to this call will come: it times out immediately.
    Lost(CallId),
    /// This call failed, and would fail again: it is not repeated.
    Failed(CallId),
    /// Time has passed, nothing else.
    Tick,
    /// No more requests will come: apply what is buffered, then end.
    Stop,
}

/// The outputs of an owner.
#[derive(Debug, Clone)]
pub enum Action {
    /// Call the cache server of the range.
    Cache(CallId, Epoch, CacheCall),
    /// Call the store.
    Store(CallId, Epoch, StoreCall),
    /// Call a log server, by its index in the list.
    Log(usize, CallId, Epoch, LogCall),
    /// Ask the owner of another range.
    Peer(CallId, RangeId, PeerId, PeerCall),
    /// Answer the owner of another range.
    PeerReply(PeerId, CallId, PeerReply),
    /// The request was not executed: it belongs to another range, by this table.
    Redirect(RequestId, Arc<RangeTable>),
    /// The lease of [`Event::Hold`] is held, in other ranges too, in these tenures. Every transaction under it must
    /// check the fences of all of them: then it lands while no other request is admitted, or not at all. If
    /// `WriteDone` comes before `HoldDone`, this tenure could not guard it: begin another.
    HoldReady(RequestId, Vec<(RangeId, Epoch)>),
    /// The results of `ReadAll`, in the order of its queries.
    ReadAllDone(RequestId, Vec<Value>),
    /// The next answer to this request is `Retry`, as the owner of another range was not there, was replaced, or has others that
    /// hold its rows.
    LedInVain(RequestId),
    /// Answer a read.
    ReadDone(RequestId, ReadOutcome),
    /// Answer a write.
    WriteDone(RequestId, WriteOutcome),
    /// Notify the application.
    Notice(Notice),
    /// The tenure has ended; the write is durable, but entries may not show it. Answer `Done` once the next tenure
    /// serves, and `Unknown` if that is of another process.
    Durable(RequestId),
    /// The tenure is over: claim the range anew, or leave it. The owner does nothing any more.
    Ended(Ending),
}

/// Answer to a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The result.
    Value(Value),
    /// No result from here: ask the present owner, or retry later.
    Retry,
}

/// Answer to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Every later read sees it.
    Done,
    /// The store refused it; nothing has changed.
    Refused,
    /// It was not executed and will not be.
    Retry,
    /// Unknown: it may have been executed, or may be executed later.
    Unknown,
}

/// What the application must be notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The store refused these acknowledged writes for good: the first for its own sake, the others because they
    /// depend on it. They were set aside; entries that showed them were dropped.
    SetAside(Vec<(u64, Command)>),
    /// No complete copy of the log is left: acknowledged writes may be lost.
    BufferedWritesLost,
    /// Buffering is off until the log has room again.
    WritingThrough,
    /// A foreign write past the cache was noticed. Entries that showed these intervals were dropped.
    BypassDetected(Vec<Touched>),
    /// This listener may have missed notices: it was not connected to their sender, or was slower than they came.
    /// Owners do not send this; the runtime does.
    MayBeMissing,
}

/// The reason for the end of a tenure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Another owner has a newer epoch.
    Fenced,
    /// The cache server does not answer, or has lost its memory.
    CacheLost,
    /// Whether a write was executed is unknown: only a new epoch makes sure that it does not land later.
    OutcomeUnknown,
    /// The store or too many of the logs do not answer the take-over.
    NotStarted,
    /// Acknowledged writes may be in logs alone, and this owner was given no logs.
    LogsMissing,
    /// Everything was applied after [`Event::Stop`].
    Stopped,
}
