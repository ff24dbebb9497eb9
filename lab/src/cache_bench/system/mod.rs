//! What is measured: the range cache, and what stands beside it.

mod aside;
mod lacuna;
mod naive;
mod store;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Reply;

use crate::cache_bench::log_notes::LogNotes;
use crate::cache_bench::servers::RunServers;
use crate::cache_bench::setup::{Setup, System};

pub(crate) use aside::{Aside, connect, failed};
pub(crate) use lacuna::not_written;

/// Something that answers scans and takes updates.
pub(crate) trait SystemUnderTest: Send + Sync {
    /// The versions of `count` records from `first` on, in order; its payload is brought, too.
    fn scan(&self, first: u64, count: u64) -> Reply<'_, Vec<u64>>;

    /// Writes a version of a record.
    fn update(&self, record: u64, version: u64) -> Reply<'_, ()>;

    /// Its requests to servers so far.
    fn traffic(&self) -> Traffic;

    /// Whether it says in which order two updates of one record come that are under way at once. Otherwise each record
    /// has one client that updates it, so that the order is known.
    fn orders_updates(&self) -> bool {
        false
    }

    /// The calls of its first log server so far, where they are noted.
    fn log_notes(&self) -> Option<LogNotes> {
        None
    }

    /// Bytes that it has sent to cache servers of results since it was opened, as a share of the bytes of these; `None` if it
    /// compresses none.
    fn kept_share(&self) -> Option<f64> {
        None
    }

    /// Waits until the store has everything, and closes.
    fn stop(&self) -> Reply<'_, ()>;
}

/// Requests to servers, counted where they leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Scans that needed nothing but one look at the cache.
    pub(crate) hits: u64,
    /// Round trips to cache servers.
    pub(crate) cache_trips: u64,
    /// Round trips to log servers.
    pub(crate) log_trips: u64,
    /// Queries of the store.
    pub(crate) store_queries: u64,
    /// Statements and transactions of the store that write.
    pub(crate) store_writes: u64,
}

impl Traffic {
    /// The requests since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            hits: self.hits - before.hits,
            cache_trips: self.cache_trips - before.cache_trips,
            log_trips: self.log_trips - before.log_trips,
            store_queries: self.store_queries - before.store_queries,
            store_writes: self.store_writes - before.store_writes,
        }
    }
}

/// Connects to the servers of a run.
pub(crate) async fn open(setup: &Setup, servers: &RunServers) -> Result<Arc<dyn SystemUnderTest>> {
    Ok(match setup.system {
        System::Lacuna(policy) => Arc::new(lacuna::Lacuna::open(setup, servers, policy).await?),
        System::Store => Arc::new(store::Store::open(setup, servers).await?),
        System::Aside => Arc::new(Aside::open(setup, servers).await?),
        System::Naive => Arc::new(naive::Naive::open(setup, servers, false).await?),
        System::NaiveLua => Arc::new(naive::Naive::open(setup, servers, true).await?),
    })
}
