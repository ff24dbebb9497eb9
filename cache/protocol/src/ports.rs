//! Ports: what the driver of an owner needs from its environment, as object-safe traits.
//!
//! The driver of an [`Owner`](crate::Owner) gives its calls to a cache server, a store and logs, and its claims to
//! a coordinator. Each is a trait here, implemented for memory, Redis or PostgreSQL; [`embedded`](crate::embedded)
//! has the implementations that need no server. The traits do not depend on an async runtime: a reply is a boxed
//! future.
//!
//! What an implementation promises (the contract of [`Event`](crate::Event) and [`Action`](crate::Action)): a call
//! is executed at most once, never after the server it was sent to has restarted, and a script of a cache server
//! is atomic. An error means *unknown*: the call may have been executed, or may be executed later.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Result;

use crate::balance::RangeLoad;
use crate::cache_model::RangeId;
use crate::call::{CacheCall, CacheReply, LogCall, LogReply, StoreCall, StoreReply};
use crate::interval::Interval;
use crate::load_survey::Advice;
use crate::message::{Epoch, Value};
use crate::query::Query;
use crate::range_table::RangeTable;

/// The reply of a port, as a future.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What the hit path sees: the fence of the range, and the value if one is visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The epoch that the cache server serves.
    pub fence: Epoch,
    /// The value, unless it is absent or hidden.
    pub value: Option<Value>,
}

/// The same for several queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenTogether {
    /// The epoch that the cache server serves.
    pub fence: Epoch,
    /// The values in the order of the queries; `None` where one is absent or hidden.
    pub values: Vec<Option<Value>>,
}

/// Keeps results of ranges. It knows how long an answer is worth waiting for, and fails after that time: then the
/// store is asked instead.
pub trait CacheServer: Debug + Send + Sync {
    /// Fence and value, read at once; `None` without a fence. This and `get_together` are no scripts. `epoch` is that
    /// of the caller's route; if the fence differs, the value may be left out.
    ///
    /// # Errors
    /// `Unavailable` if the server does not answer in time.
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>>;

    /// Fence and values, all of one moment: a write that changes several of them is in each or in none. `None` without
    /// a fence, or if this server cannot read these at one moment; that is what the default says.
    ///
    /// # Errors
    /// `Unavailable` if the server does not answer in time.
    fn get_together<'a>(
        &'a self,
        range: RangeId,
        epoch: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        let _ = (range, epoch, queries);
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Runs a script.
    ///
    /// # Errors
    /// `Unavailable` if the outcome is unknown, as when there was no answer in time.
    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply>;

    /// Whether all of its servers answer; changes nothing.
    ///
    /// # Errors
    /// `Unavailable` if a server that may hold results does not answer.
    fn probe(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(async move { self.get(range, epoch, &Query::all(0, Interval::all())).await.map(drop) })
    }

    /// How full its memory is, in percent; 0 if that is unknown, or there is no limit.
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
    /// `InvalidInput` if the store will never accept the call, else `Unavailable`: the outcome is unknown.
    fn call(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Reply<'_, Answer>;

    /// The largest epoch that any range was ever fenced with; 0 if there is none.
    ///
    /// # Errors
    /// `Unavailable` if the store does not answer.
    fn largest_epoch(&self) -> Reply<'_, Epoch>;
}

/// A store's reply, and for a person the reason of a refusal.
#[derive(Debug)]
pub struct Answer {
    /// The reply for the owner.
    pub reply: StoreReply,
    /// The reason, for the client that asked.
    pub why: Option<crate::error::Error>,
}

impl From<StoreReply> for Answer {
    fn from(reply: StoreReply) -> Self {
        Self { reply, why: None }
    }
}

/// Keeps buffered writes until the store has them, across restarts (P13).
pub trait LogServer: Debug + Send + Sync {
    /// Fences, appends or trims.
    ///
    /// # Errors
    /// `Unavailable` if the outcome is unknown.
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply>;
}

/// A tenure as the coordinator grants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenure {
    /// Larger than that of every earlier tenure.
    pub epoch: Epoch,
    /// The cache server of the range, by its index in the list.
    pub cache: usize,
    /// How long to wait before serving, until routes to another cache server have ended (P11), and routes to the
    /// ranges that it was cut from: until then clients hit entries under their fences, whichever range has the
    /// keys now.
    pub serve_after_ms: u64,
    /// The previous tenure, as far as it may have been on the same cache server, with the same intervals: its
    /// entries are taken over if no other tenure came between. `None`: the cache begins empty.
    pub before: Option<Epoch>,
    /// How long it is valid without renewal; `None`: until the process ends.
    pub lease_ms: Option<u64>,
    /// The table of all ranges by which it was granted, where that may be newer than the one that the owner knows: under an
    /// older one it would serve what belongs to another range since. `None`: ranges are never cut anew.
    pub table: Option<Arc<RangeTable>>,
}

/// Grants each range to at most one owner at a time.
pub trait Coordinator: Debug + Send + Sync {
    /// A tenure, or `None` while another process has one. `lost_cache`: a cache server that does not answer.
    ///
    /// # Errors
    /// `Unavailable` if the coordinator does not answer.
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>>;

    /// Renews a tenure; `false` if another process has the range now.
    ///
    /// # Errors
    /// `Unavailable` if the coordinator does not answer.
    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool>;

    /// Whether a tenure that was granted without a cache server, as the coordinator was away, can be followed by one that has its
    /// cache server again; returns immediately. Its owner then ends it in order, and claims the next.
    fn has_cache_again(&self, range: RangeId, epoch: Epoch) -> bool {
        let _ = (range, epoch);
        false
    }

    /// Releases a tenure.
    ///
    /// # Errors
    /// `Unavailable` if the coordinator does not answer: the lease then has to run out.
    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()>;
}

/// Lists the ranges and the addresses of their owners. Its answers may be old: a request at the wrong address is
/// refused there, as tenures and fences alone decide which owner serves.
pub trait Directory: Debug + Send + Sync {
    /// The newest range table.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer.
    fn table(&self) -> Reply<'_, Arc<RangeTable>>;

    /// The address of the owner of a range, as it was given at the claim, or of the process that is to claim it;
    /// `None` if the process that asks may claim it.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer.
    fn address(&self, range: RangeId) -> Reply<'_, Option<String>>;

    /// Reports that this process is alive, and the load of the ranges that it serves. Called twice a second.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer: the next report replaces this one.
    fn report(&self, loads: &[(RangeId, RangeLoad)]) -> Reply<'_, ()> {
        let _ = loads;
        Box::pin(std::future::ready(Ok(())))
    }

    /// The addresses of processes that may own ranges, as last seen; returns immediately. A client that needs notices
    /// from all of them asks these, too.
    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    /// What this process should do with its ranges, by the last reports of all; returns immediately.
    fn advice(&self) -> Advice {
        Advice::default()
    }
}

/// Gives the time that is passed to owners.
pub trait Clock: Debug + Send + Sync {
    /// Milliseconds since a fixed moment; never decreases, whatever the wall clock does.
    fn now_ms(&self) -> u64;
}
