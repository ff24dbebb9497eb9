//! What a hit costs: beside a bare `GET` of the same value, on one connection each, with as many under way; and in the memory of this
//! process, which no request leaves.
//!
//! The store is a value in memory, because a hit does not ask the store.

use std::future::ready;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_base::{Error, Result};
use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{DomainType, Options, Schema};
use lacuna_cache::{RangeCache, Servers};
use lacuna_cache_protocol::embedded::{MemoryCache, SingleProcess, SteadyClock};
use lacuna_cache_protocol::ports::{Answer, CacheServer, DataStore, Reply};
use lacuna_cache_protocol::{
    Application, Config, Epoch, Interval, Policy, Query, RangeId, Rows, StoreCall, StoreReply, StoreState,
    Value,
};
use lacuna_testkit::servers::Redis;
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use crate::cache_bench::bare::Bare;
use crate::cache_bench::records::{COLUMNS, table_name};
use crate::cache_bench::servers::folder;
use crate::cache_bench::system::{connect, failed};

/// Bytes of the value: a scan of five rows.
const VALUE_BYTES: usize = 5_000;
/// Bytes that a cache in memory may have.
const CACHE_BYTES: usize = 1 << 20;
/// Records of the table, five of which are read.
const RECORDS: u64 = 100;
/// Requests under way.
const CLIENTS: usize = 16;
/// Rounds, each of which measures both.
const ROUNDS: usize = 45;
/// Between two reads that wait for the value to be there.
const PAUSE: Duration = Duration::from_millis(5);
/// The key of the bare value.
const KEY: &str = "bare";

/// The result of all rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hits {
    /// Median of a round.
    pub(super) hit: Duration,
    /// Median of a round.
    pub(super) get: Duration,
    /// Median of the ratios within rounds.
    pub(super) ratio: f64,
    /// Round trips for each read.
    pub(super) trips: f64,
    /// Reads that were not hits: a client does not wait longer than a quarter of a second for a cache server.
    pub(super) misses: u64,
}

/// The result of all rounds in the memory of this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryHits {
    /// Median of a round.
    pub(super) hit: Duration,
    /// Reads that were not hits.
    pub(super) misses: u64,
    /// Median of a round of reads through a table, which makes rows of what the cache has.
    pub(super) rows: Duration,
}

/// A store that has one value everywhere.
#[derive(Debug)]
struct OneValue(Value);

impl DataStore for OneValue {
    fn call(&self, _: RangeId, _: Epoch, call: StoreCall) -> Reply<'_, Answer> {
        let reply = match call {
            StoreCall::Fence => {
                let state = StoreState { applied_lsn: 0, recovered: Epoch(0), is_buffered: false };
                StoreReply::State(state)
            }
            StoreCall::Query(_) => {
                StoreReply::Rows(Rows { value: self.0.clone(), is_empty: false, last: None })
            }
            _ => StoreReply::Done,
        };
        Box::pin(ready(Ok(reply.into())))
    }

    fn largest_epoch(&self) -> Reply<'_, Epoch> {
        Box::pin(ready(Ok(Epoch(0))))
    }
}

/// Nothing is written here.
#[derive(Debug, Clone)]
struct ReadOnly;

impl Application for ReadOnly {
    fn empty(&self, _: &Query) -> Value {
        Value::new(b"")
    }
}

/// Measures both in turn; `requests` each a round.
pub(super) async fn measure(server: &Redis, requests: usize) -> Result<Hits> {
    let cache = open(Arc::new(RedisCache::new(&server.url(), "hit")?))?;
    let query = warm(&cache).await?;
    let mut connection = connect(&[server.url()]).await?.remove(0);
    connection.set::<_, _, ()>(KEY, value().as_bytes()).await.map_err(|error| failed(&error))?;
    let before = cache.counts();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let hit = hits(&cache, &query, requests).await?;
        rounds.push((hit, gets(&connection, requests).await?));
    }
    let after = cache.counts();
    cache.stop().await?;
    let reads = after.reads - before.reads;
    let mut ratios: Vec<f64> =
        rounds.iter().map(|(hit, get)| hit.as_secs_f64() / get.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[ROUNDS / 2]
    };
    Ok(Hits {
        hit: median(rounds.iter().map(|(hit, _)| *hit).collect()),
        get: median(rounds.iter().map(|(_, get)| *get).collect()),
        ratio: ratios[ROUNDS / 2],
        trips: (after.cache_calls - before.cache_calls) as f64 / reads as f64,
        misses: reads - (after.hits - before.hits),
    })
}

/// Measures hits in the memory of this process, one after the other; `requests` each a round.
pub(super) async fn in_memory(requests: usize) -> Result<MemoryHits> {
    let cache = open(Arc::new(MemoryCache::new(CACHE_BYTES)))?;
    let query = &warm(&cache).await?;
    let (before, asked) = (cache.counts(), &cache);
    let read = || async move { ensure(asked.read(query.clone()).await?.as_bytes().len() == VALUE_BYTES) };
    let hit = middle_round(requests, read).await?;
    let after = cache.counts();
    cache.stop().await?;
    let misses = (after.reads - before.reads) - (after.hits - before.hits);
    Ok(MemoryHits { hit, misses, rows: rows_in_memory(requests).await? })
}

/// The same through a table: five rows of ten columns.
async fn rows_in_memory(requests: usize) -> Result<Duration> {
    let folder = folder()?;
    let url = format!("sqlite:{}", folder.path().join("hit.db").display());
    let bare = Bare::open(&url, 1).await?;
    bare.load(0, 0, RECORDS, COLUMNS).await?;
    bare.close().await;
    let cache = Options::new(&url).with_cache_bytes(CACHE_BYTES).open().await?;
    let schema = Schema::new(&table_name(0), "id").with_domain("id", DomainType::Integer);
    let table = &cache.table(schema).await?;
    let read = || async move { ensure(table.get("id", 18_i64..=22).await?.len() == 5) };
    while table.counts().hits == 0 {
        read().await?;
        tokio::time::sleep(PAUSE).await;
    }
    let rows = middle_round(requests, read).await?;
    cache.stop().await?;
    Ok(rows)
}

/// The median of rounds of `requests` reads, one after the other.
async fn middle_round<F>(requests: usize, read: impl Fn() -> F) -> Result<Duration>
where
    F: Future<Output = Result<()>>,
{
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..requests {
            read().await?;
        }
        rounds.push(start.elapsed());
    }
    rounds.sort_unstable();
    Ok(rounds[ROUNDS / 2])
}

fn ensure(is_right: bool) -> Result<()> {
    if is_right { Ok(()) } else { Err(Error::corrupt("a hit brings another value")) }
}

fn value() -> Value {
    Value::new(&vec![b'v'; VALUE_BYTES])
}

/// Reads until the value is in the cache. The owner answers before that: until then reads go to it.
async fn warm(cache: &RangeCache) -> Result<Query> {
    let query = Query::all(0, Interval::closed(18.into(), 22.into()).expect("18 <= 22"));
    while cache.counts().hits == 0 {
        cache.read(query.clone()).await?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(query)
}

fn open(cache: Arc<dyn CacheServer>) -> Result<RangeCache> {
    let servers = Servers {
        caches: vec![cache],
        store: Arc::new(OneValue(value())),
        logs: Vec::new(),
        coordinator: Arc::new(SingleProcess::above(Epoch(0), 1)),
        clock: Arc::new(SteadyClock::new()),
    };
    Ok(RangeCache::start(servers, RangeId(0), Config::new(Policy::WriteThrough), ReadOnly)?)
}

async fn hits(cache: &RangeCache, query: &Query, requests: usize) -> Result<Duration> {
    together(|| {
        let (cache, query) = (cache.clone(), query.clone());
        async move {
            for _ in 0..requests / CLIENTS {
                ensure(cache.read(query.clone()).await?.as_bytes().len() == VALUE_BYTES)?;
            }
            Ok(())
        }
    })
    .await
}

async fn gets(connection: &MultiplexedConnection, requests: usize) -> Result<Duration> {
    together(|| {
        let mut connection = connection.clone();
        async move {
            for _ in 0..requests / CLIENTS {
                let value: Vec<u8> = connection.get(KEY).await.map_err(|error| failed(&error))?;
                if value.len() != VALUE_BYTES {
                    return Err(Error::corrupt("a GET brings another value"));
                }
            }
            Ok(())
        }
    })
    .await
}

async fn together<F>(client: impl Fn() -> F) -> Result<Duration>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let start = Instant::now();
    let mut clients = JoinSet::new();
    (0..CLIENTS).for_each(|_| drop(clients.spawn(client())));
    while let Some(ended) = clients.join_next().await {
        ended.map_err(|error| Error::unavailable(format!("a client ended: {error}")))??;
    }
    Ok(start.elapsed())
}
