//! Cache-aside without leases, as most applications have it.
//!
//! A read looks into the cache, else asks the store and sets what it got. An update writes the store, then deletes
//! every cached scan that holds the record. Between the answer of the store and the set an update may pass: the old
//! result then stays, for ever. Its steps are separate so that a test can do them in that order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{Error, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands as _, AsyncConnectionConfig, RedisError};

use super::store::connections;
use super::{SystemUnderTest, Traffic};
use crate::cache_bench::bare::Bare;
use crate::cache_bench::records::{COLUMN_BYTES, fields, version_of};
use crate::cache_bench::servers::RunServers;
use crate::cache_bench::setup::Setup;

/// How long a server may take; long, so that a busy machine does not end a run.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Cache-aside over Redis.
pub(crate) struct Aside {
    bare: Bare,
    caches: Vec<MultiplexedConnection>,
    records_of_a_table: u64,
    rows: u64,
    columns: usize,
    hits: AtomicU64,
    trips: AtomicU64,
    queries: AtomicU64,
    writes: AtomicU64,
}

impl Aside {
    /// Connects.
    pub(crate) async fn open(setup: &Setup, servers: &RunServers) -> Result<Self> {
        let zero = || AtomicU64::new(0);
        Ok(Self {
            bare: Bare::open(&servers.store_url, connections(setup)).await?,
            caches: connect(&servers.cache_urls).await?,
            records_of_a_table: setup.records_of_a_table(),
            rows: setup.rows,
            columns: setup.columns,
            hits: zero(),
            trips: zero(),
            queries: zero(),
            writes: zero(),
        })
    }

    fn cache(&self, record: u64) -> MultiplexedConnection {
        self.caches[place(record / self.records_of_a_table)].clone()
    }

    /// The cached result.
    pub(crate) async fn look_up(&self, first: u64) -> Result<Option<Vec<u8>>> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        self.cache(first).get(key(first)).await.map_err(|error| failed(&error))
    }

    /// The result from the store.
    pub(crate) async fn query(&self, first: u64, count: u64) -> Result<Vec<u8>> {
        self.queries.fetch_add(1, Ordering::Relaxed);
        let table = first / self.records_of_a_table;
        let rows = self.bare.scan(table, first, first + count - 1, self.columns).await?;
        Ok(rows.concat().concat().into_bytes())
    }

    /// Sets what the store had.
    pub(crate) async fn install(&self, first: u64, value: &[u8]) -> Result<()> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        self.cache(first).set::<_, _, ()>(key(first), value).await.map_err(|error| failed(&error))
    }

    /// Deletes every scan that may hold the record.
    async fn invalidate(&self, record: u64) -> Result<()> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        let min = record - record % self.records_of_a_table;
        let keys: Vec<String> = (record.saturating_sub(self.rows - 1).max(min)..=record).map(key).collect();
        self.cache(record).del::<_, ()>(keys).await.map_err(|error| failed(&error))
    }

    /// The versions in a value.
    pub(crate) fn versions(&self, value: &[u8]) -> Result<Vec<u64>> {
        versions(value, self.columns)
    }
}

/// The versions in rows of `columns` columns, one after the other.
pub(super) fn versions(value: &[u8], columns: usize) -> Result<Vec<u64>> {
    let row = |row: &[u8]| version_of(str::from_utf8(row).unwrap_or_default());
    value.chunks(columns * COLUMN_BYTES).map(row).collect()
}

/// A connection that all clients share, to each server.
pub(crate) async fn connect(urls: &[String]) -> Result<Vec<MultiplexedConnection>> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE));
    let mut connections = Vec::new();
    for url in urls {
        let client = redis::Client::open(url.as_str()).map_err(|error| failed(&error))?;
        let connected = client.get_multiplexed_async_connection_with_config(&config).await;
        connections.push(connected.map_err(|error| failed(&error))?);
    }
    Ok(connections)
}

pub(crate) fn failed(error: &RedisError) -> Error {
    Error::unavailable(error.to_string()).with_context("asking Redis")
}

pub(super) fn place(table: u64) -> usize {
    usize::try_from(table).expect("there are few tables")
}

fn key(first: u64) -> String {
    format!("scan:{first}")
}

impl SystemUnderTest for Aside {
    fn scan(&self, first: u64, count: u64) -> Reply<'_, Vec<u64>> {
        Box::pin(async move {
            if let Some(value) = self.look_up(first).await? {
                self.hits.fetch_add(1, Ordering::Relaxed);
                return self.versions(&value);
            }
            let value = self.query(first, count).await?;
            self.install(first, &value).await?;
            self.versions(&value)
        })
    }

    fn update(&self, record: u64, version: u64) -> Reply<'_, ()> {
        Box::pin(async move {
            self.writes.fetch_add(1, Ordering::Relaxed);
            let table = record / self.records_of_a_table;
            self.bare.update(table, record, &fields(record, version, self.columns)).await?;
            self.invalidate(record).await
        })
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            hits: self.hits.load(Ordering::Relaxed),
            cache_trips: self.trips.load(Ordering::Relaxed),
            log_trips: 0,
            store_queries: self.queries.load(Ordering::Relaxed),
            store_writes: self.writes.load(Ordering::Relaxed),
        }
    }

    fn stop(&self) -> Reply<'_, ()> {
        Box::pin(async {
            self.bare.close().await;
            Ok(())
        })
    }
}
