//! Results that take longer to find than to query are cached no more, where that is measured.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache::sql::{Cache, DomainType, Schema, Table};
use lacuna_cache_protocol::embedded::MemoryCache;
use lacuna_cache_protocol::ports::{CacheServer, Reply, Seen};
use lacuna_cache_protocol::{CacheCall, CacheReply, Epoch, Query, RangeId};
use tokio::time::{sleep, timeout};

use crate::sql::world::{AT_MOST, patient};

/// The first row: from it on all have results of one size.
const FIRST: i64 = 1_000;
/// How many rows are read often at first.
const KNOWN: i64 = 40;
/// How often each of them is read: a quarter of these reads is timed, and 32 times are enough.
const READS: usize = 16;

/// A cache server whose lookups take a while.
#[derive(Debug)]
struct SlowCache {
    cache: MemoryCache,
    takes: Duration,
}

impl CacheServer for SlowCache {
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        Box::pin(async move {
            if !self.takes.is_zero() {
                sleep(self.takes).await;
            }
            self.cache.get(range, epoch, query).await
        })
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        self.cache.call(range, epoch, call)
    }
}

/// A table some rows of which were read often, with lookups that take so long.
async fn read_often(takes: Duration) -> (Cache, Table) {
    let server = Arc::new(SlowCache { cache: MemoryCache::new(1 << 20), takes });
    let options = patient("sqlite::memory:").with_measured_sizes().with_beta(100).with_cache_server(server);
    let cache = options.open().await.unwrap();
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)").await.unwrap();
    let rows = "WITH RECURSIVE ids(id) AS (SELECT 1000 UNION ALL SELECT id + 1 FROM ids WHERE id < 6000) \
                INSERT INTO people (id, name) SELECT id, 'Anna' FROM ids";
    cache.run_sql(rows).await.unwrap();
    let schema = Schema::new("people", "id").with_domain("id", DomainType::Integer);
    let people = cache.table(schema).await.unwrap();
    let readers = (FIRST..FIRST + KNOWN).map(|id| {
        let people = people.clone();
        tokio::spawn(async move {
            for _ in 0..READS {
                assert_eq!(people.get("id", id..=id).await.unwrap().len(), 1);
            }
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await.unwrap();
    }
    let counts = people.counts();
    assert!(counts.store_queries >= 32 && counts.hits >= 500, "{counts:?}");
    (cache, people)
}

/// Whether the second read of a row asks the database, as the first did.
async fn is_queried_twice(people: &Table, id: i64) -> bool {
    people.get("id", id..=id).await.unwrap();
    let queries = people.counts().store_queries;
    assert_eq!(people.get("id", id..=id).await.unwrap().len(), 1);
    people.counts().store_queries > queries
}

#[tokio::test]
async fn results_that_are_found_faster_than_queried_stay_cached() {
    let (cache, people) = read_often(Duration::ZERO).await;
    // The owner learns once a second what is worth caching.
    sleep(Duration::from_millis(1_500)).await;
    for id in FIRST + KNOWN..FIRST + KNOWN + 10 {
        assert!(!is_queried_twice(&people, id).await, "{id}");
    }
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn results_that_are_queried_faster_than_found_are_cached_no_more() {
    let (cache, people) = read_often(Duration::from_millis(20)).await;
    let is_learned = async {
        for id in FIRST + KNOWN.. {
            if is_queried_twice(&people, id).await {
                return id;
            }
            sleep(Duration::from_millis(50)).await;
        }
        unreachable!("ids do not end")
    };
    let id = timeout(AT_MOST, is_learned).await.expect("the owner learns it within some seconds");
    assert!(is_queried_twice(&people, id + 1).await, "and keeps to it");
    cache.stop().await.unwrap();
}
