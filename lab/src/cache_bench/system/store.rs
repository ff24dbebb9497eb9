//! The store alone.

use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Reply;

use super::{SystemUnderTest, Traffic};
use crate::cache_bench::bare::Bare;
use crate::cache_bench::records::{fields, version_of};
use crate::cache_bench::servers::RunServers;
use crate::cache_bench::setup::Setup;

/// A connection for each client, as applications have.
pub(super) struct Store {
    bare: Bare,
    records_of_a_table: u64,
    columns: usize,
    queries: AtomicU64,
    writes: AtomicU64,
}

impl Store {
    /// Connects.
    pub(super) async fn open(setup: &Setup, servers: &RunServers) -> Result<Self> {
        Ok(Self {
            bare: Bare::open(&servers.store_url, connections(setup)).await?,
            records_of_a_table: setup.records_of_a_table(),
            columns: setup.columns,
            queries: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        })
    }
}

/// One for each client.
pub(super) fn connections(setup: &Setup) -> u32 {
    u32::try_from(setup.clients).unwrap_or(u32::MAX).max(1)
}

impl SystemUnderTest for Store {
    fn scan(&self, first: u64, count: u64) -> Reply<'_, Vec<u64>> {
        Box::pin(async move {
            self.queries.fetch_add(1, Ordering::Relaxed);
            let table = first / self.records_of_a_table;
            let rows = self.bare.scan(table, first, first + count - 1, self.columns).await?;
            rows.iter().map(|row| version_of(&row[0])).collect()
        })
    }

    fn update(&self, record: u64, version: u64) -> Reply<'_, ()> {
        Box::pin(async move {
            self.writes.fetch_add(1, Ordering::Relaxed);
            let table = record / self.records_of_a_table;
            self.bare.update(table, record, &fields(record, version, self.columns)).await
        })
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            store_queries: self.queries.load(Ordering::Relaxed),
            store_writes: self.writes.load(Ordering::Relaxed),
            ..Traffic::default()
        }
    }

    fn stop(&self) -> Reply<'_, ()> {
        Box::pin(async {
            self.bare.close().await;
            Ok(())
        })
    }
}
