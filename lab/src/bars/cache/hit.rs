//! What a hit costs beside a bare `GET` of the same value, on one connection each, with as many under way.
//!
//! The store is a value in memory, because a hit does not ask the store.

use std::future::ready;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_base::{Error, Result};
use lacuna_cache::redis::RedisCache;
use lacuna_cache::{RangeCache, Servers};
use lacuna_cache_protocol::embedded::{SingleProcess, SteadyClock};
use lacuna_cache_protocol::ports::{Answer, DataStore, Reply};
use lacuna_cache_protocol::{
    Application, Config, Epoch, Interval, Policy, Query, RangeId, Rows, StoreCall, StoreReply, StoreState,
    Value,
};
use lacuna_testkit::servers::Redis;
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use crate::cache_bench::system::{connect, failed};

/// Bytes of the value: a scan of five rows.
const VALUE_BYTES: usize = 5_000;
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
    let value = Value::new(&vec![b'v'; VALUE_BYTES]);
    let cache = open(server, value.clone())?;
    let query = Query::all(0, Interval::closed(18.into(), 22.into()).expect("18 <= 22"));
    let mut connection = connect(&[server.url()]).await?.remove(0);
    connection.set::<_, _, ()>(KEY, value.as_bytes()).await.map_err(|error| failed(&error))?;
    // The owner answers before the value is installed: until then reads go to it.
    while cache.counts().hits == 0 {
        cache.read(query.clone()).await?;
        tokio::time::sleep(PAUSE).await;
    }
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

fn open(server: &Redis, value: Value) -> Result<RangeCache> {
    let servers = Servers {
        caches: vec![Arc::new(RedisCache::new(&server.url(), "hit")?)],
        store: Arc::new(OneValue(value)),
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
                if cache.read(query.clone()).await?.as_bytes().len() != VALUE_BYTES {
                    return Err(Error::corrupt("a hit brings another value"));
                }
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
