//! Ports: what an owner's carrier needs of the world, as traits that can be objects.
//!
//! Whoever runs an [`Owner`](crate::Owner) gives its calls to a cache server, a store and logs, and its claims to a
//! coordinator. Each is a trait here, so that memory, Redis or PostgreSQL can stand behind it; [`embedded`](crate::embedded)
//! has those that need nothing. Nothing here knows a runtime: a reply is a boxed future.
//!
//! What an implementation promises (the contract of [`Event`](crate::Event) and [`Action`](crate::Action)): a call is
//! carried out at most once, never after the server it was sent to has restarted, and a script of a cache server happens
//! whole. An error means *unknown*: the call may have been carried out, or may yet be.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Result;

use crate::balance::RangeLoad;
use crate::cache_model::RangeId;
use crate::call::{CacheCall, CacheReply, LogCall, LogReply, StoreCall, StoreReply};
use crate::census::Advice;
use crate::interval::Interval;
use crate::message::{Epoch, Value};
use crate::query::Query;
use crate::range_table::RangeTable;

/// What a port answers, when it answers.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What the hit path sees: the fence of the range, and the value if one is visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The epoch that the cache server serves.
    pub fence: Epoch,
    /// The value, unless it is absent or hidden.
    pub value: Option<Value>,
}

/// Keeps results of ranges. It knows how long its answers are worth waiting for, and fails when that time is over: the store
/// is asked instead.
pub trait CacheServer: Debug + Send + Sync {
    /// Fence and value, read at once; `None` without a fence. The only call that is no script. `epoch` is that of the
    /// caller's route; where another is served, the value may be left out.
    ///
    /// # Errors
    /// `Unavailable` if the server does not answer in time.
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>>;

    /// Runs a script.
    ///
    /// # Errors
    /// `Unavailable` if the outcome is unknown, as when there was no answer in time.
    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply>;

    /// Whether all of it answers; changes nothing.
    ///
    /// # Errors
    /// `Unavailable` if a server does not answer that results may be on.
    fn probe(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(async move { self.get(range, epoch, &Query::all(0, Interval::all())).await.map(drop) })
    }

    /// How full its memory is, in percent; 0 where nobody knows, or there is no limit.
    ///
    /// # Errors
    /// `Unavailable` if the server does not answer.
    fn memory_percent(&self) -> Reply<'_, u8> {
        Box::pin(std::future::ready(Ok(0)))
    }
}

/// Holds the rows, and the fence of each range beside them.
pub trait DataStore: Debug + Send + Sync {
    /// Runs a statement or a transaction.
    ///
    /// # Errors
    /// `InvalidInput` if the store will never understand the call, else `Unavailable`: the outcome is unknown.
    fn call(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Reply<'_, Answer>;

    /// The largest epoch that any range was ever fenced with; 0 if none was.
    ///
    /// # Errors
    /// `Unavailable` if the store does not answer.
    fn largest_epoch(&self) -> Reply<'_, Epoch>;
}

/// A store's reply, and for a person why it refused.
#[derive(Debug)]
pub struct Answer {
    /// What the owner hears.
    pub reply: StoreReply,
    /// What whoever asked hears beside it.
    pub why: Option<crate::error::Error>,
}

impl From<StoreReply> for Answer {
    fn from(reply: StoreReply) -> Self {
        Self { reply, why: None }
    }
}

/// Keeps buffered writes until the store has them, over restarts (P13).
pub trait LogServer: Debug + Send + Sync {
    /// Fences, appends or trims.
    ///
    /// # Errors
    /// `Unavailable` if the outcome is unknown.
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply>;
}

/// A tenure as it is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenure {
    /// Larger than that of every tenure before.
    pub epoch: Epoch,
    /// Which cache server the range is on, by its place in the list.
    pub cache: usize,
    /// How long to wait before serving, until routes to another cache server have ended (P11), and to the ranges that
    /// it was cut from: clients hit what lies under their fences until then, whoever has the keys now.
    pub serve_after_ms: u64,
    /// The tenure before this one, as far as it may have been on the same cache server, with the same intervals: what it
    /// left there is taken over if nobody else came between. `None`: the cache begins empty.
    pub before: Option<Epoch>,
    /// How long it holds without renewal; `None`: until the process ends.
    pub lease_ms: Option<u64>,
}

/// Grants each range to at most one owner at a time.
pub trait Coordinator: Debug + Send + Sync {
    /// A tenure, or `None` while another process has one. `lost_cache`: a cache server that does not answer.
    ///
    /// # Errors
    /// `Unavailable` if the coordinator does not answer.
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>>;

    /// Holds on to a tenure; `false` if it is another's now.
    ///
    /// # Errors
    /// `Unavailable` if the coordinator does not answer.
    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool>;

    /// Gives a tenure back.
    ///
    /// # Errors
    /// `Unavailable` if the coordinator does not answer: the lease then has to run out.
    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()>;
}

/// Says which ranges there are, and where their owners are. What it says may be old: whoever is sent to the wrong place is
/// refused there, as tenures and fences alone say who serves.
pub trait Directory: Debug + Send + Sync {
    /// The newest range table.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer.
    fn table(&self) -> Reply<'_, Arc<RangeTable>>;

    /// Where the owner of a range is reached, as it said when it claimed, or the process that is to claim it; `None` if
    /// whoever is asked may.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer.
    fn address(&self, range: RangeId) -> Reply<'_, Option<String>>;

    /// Says that this process is there, and what is asked of the ranges that it serves. Called twice a second.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer: it is told the next time.
    fn report(&self, loads: &[(RangeId, RangeLoad)]) -> Reply<'_, ()> {
        let _ = loads;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Where processes are reached that may own ranges, by what was last seen; at once. Whoever wants to hear from all of
    /// them asks there, too.
    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    /// What this process is to do with its ranges, by what was last seen of all; at once.
    fn advice(&self) -> Advice {
        Advice::default()
    }
}

/// Tells the time that owners are told.
pub trait Clock: Debug + Send + Sync {
    /// Milliseconds since some moment; never goes backwards, whatever the wall clock does.
    fn now_ms(&self) -> u64;
}
