//! Redis alone, as section 7.5 of the report has it: a sorted set of record keys, and a value for each.
//!
//! A scan is `ZRANGE` and `MGET`, or both in one Lua script. An update changes the record in the memory of the
//! application, which gives it its version, then sets it in Redis, and nothing keeps these two steps of two clients
//! from crossing: the older value may then replace the newer one that was acknowledged.

use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Reply;
use redis::Script;
use redis::aio::MultiplexedConnection;

use super::aside::{connect, failed, place, versions};
use super::{SystemUnderTest, Traffic};
use crate::cache_bench::records::fields;
use crate::cache_bench::servers::RunServers;
use crate::cache_bench::setup::Setup;

/// The sorted set.
const INDEX: &str = "index";
/// A scan in one round trip.
const SCAN: &str =
    "return redis.call('MGET', unpack(redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYSCORE')))";
/// Records that are put in at once.
const BATCH: u64 = 500;

/// Records in Redis.
pub(crate) struct Naive {
    caches: Vec<MultiplexedConnection>,
    script: Option<Script>,
    records_of_a_table: u64,
    columns: usize,
    hits: AtomicU64,
    trips: AtomicU64,
}

impl Naive {
    /// Connects, and puts all records in.
    pub(crate) async fn open(setup: &Setup, servers: &RunServers, is_lua: bool) -> Result<Self> {
        let naive = Self {
            caches: connect(&servers.cache_urls).await?,
            script: is_lua.then(|| Script::new(SCAN)),
            records_of_a_table: setup.records_of_a_table(),
            columns: setup.columns,
            hits: AtomicU64::new(0),
            trips: AtomicU64::new(0),
        };
        let records = naive.records_of_a_table * setup.tables();
        let mut from = 0;
        while from < records {
            let to = (from + BATCH).min(from - from % naive.records_of_a_table + naive.records_of_a_table);
            naive.put(from..to).await?;
            from = to;
        }
        Ok(naive)
    }

    /// Puts records of one server in.
    async fn put(&self, records: std::ops::Range<u64>) -> Result<()> {
        let mut connection = self.cache(records.start);
        let mut pipeline = redis::pipe();
        for record in records {
            pipeline.zadd(INDEX, key(record), record).ignore();
            pipeline.set(key(record), self.value(record, 1)).ignore();
        }
        pipeline.query_async::<()>(&mut connection).await.map_err(|error| failed(&error))
    }

    fn cache(&self, record: u64) -> MultiplexedConnection {
        self.caches[place(record / self.records_of_a_table)].clone()
    }

    fn value(&self, record: u64, version: u64) -> String {
        fields(record, version, self.columns).concat()
    }

    async fn rows(&self, first: u64, count: u64) -> redis::RedisResult<Vec<Vec<u8>>> {
        let mut connection = self.cache(first);
        let (lo, hi) = (first, first + count - 1);
        if let Some(script) = &self.script {
            self.trips.fetch_add(1, Ordering::Relaxed);
            return script.key(INDEX).arg(lo).arg(hi).invoke_async(&mut connection).await;
        }
        self.trips.fetch_add(2, Ordering::Relaxed);
        let mut range = redis::cmd("ZRANGE");
        let keys: Vec<Vec<u8>> =
            range.arg(INDEX).arg(lo).arg(hi).arg("BYSCORE").query_async(&mut connection).await?;
        redis::cmd("MGET").arg(keys).query_async(&mut connection).await
    }
}

fn key(record: u64) -> String {
    format!("record:{record}")
}

impl SystemUnderTest for Naive {
    fn scan(&self, first: u64, count: u64) -> Reply<'_, Vec<u64>> {
        Box::pin(async move {
            let rows = self.rows(first, count).await.map_err(|error| failed(&error))?;
            self.hits.fetch_add(1, Ordering::Relaxed);
            versions(&rows.concat(), self.columns)
        })
    }

    fn update(&self, record: u64, version: u64) -> Reply<'_, ()> {
        Box::pin(async move {
            self.trips.fetch_add(1, Ordering::Relaxed);
            let mut connection = self.cache(record);
            let mut set = redis::cmd("SET");
            set.arg(key(record)).arg(self.value(record, version));
            set.query_async::<()>(&mut connection).await.map_err(|error| failed(&error))
        })
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            hits: self.hits.load(Ordering::Relaxed),
            cache_trips: self.trips.load(Ordering::Relaxed),
            ..Traffic::default()
        }
    }

    fn orders_updates(&self) -> bool {
        true
    }

    fn stop(&self) -> Reply<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
