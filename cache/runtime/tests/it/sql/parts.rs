//! With β = 0 a client makes a result of several entries. They are of one moment, or a row that moves is in none of them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lacuna_cache::sql::{DomainType, Schema, Table};
use lacuna_cache_protocol::embedded::MemoryCache;
use lacuna_cache_protocol::ports::{CacheServer, Reply, Seen, SeenTogether};
use lacuna_cache_protocol::{CacheCall, CacheReply, Epoch, Policy, Query, RangeId};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::sql::storms::POLICIES;
use crate::sql::world::{AT_MOST, Place};

/// How a server reads several entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    AtOnce,
    /// The fault: one after the other, the last first.
    Apart,
}

/// A cache server that stops in the middle of a read of several entries.
#[derive(Debug)]
struct StoppingCache {
    cache: MemoryCache,
    reads: Reads,
    stops: AtomicBool,
    has_stopped: Notify,
    goes_on: Notify,
}

impl StoppingCache {
    fn new(reads: Reads) -> Arc<Self> {
        let [has_stopped, goes_on] = [const { Notify::const_new() }; 2];
        let (cache, stops) = (MemoryCache::new(1 << 20), AtomicBool::new(false));
        Arc::new(Self { cache, reads, stops, has_stopped, goes_on })
    }

    async fn stop(&self) {
        if self.stops.load(Ordering::SeqCst) {
            self.has_stopped.notify_one();
            self.goes_on.notified().await;
        }
    }
}

impl CacheServer for StoppingCache {
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        self.cache.get(range, epoch, query)
    }

    fn get_together<'a>(
        &'a self,
        range: RangeId,
        _: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        Box::pin(async move {
            let at_first = if self.reads == Reads::Apart { &queries[1..] } else { queries };
            let mut seen = self.cache.see_together(range, at_first);
            self.stop().await;
            if self.reads == Reads::Apart {
                let first = self.cache.see(range, &queries[0]);
                seen.iter_mut().zip(first).for_each(|(seen, first)| seen.values.insert(0, first.value));
            }
            Ok(seen)
        })
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        self.cache.call(range, epoch, call)
    }
}

/// Reads a range until it is a hit.
async fn hit(people: &Table, ages: Range<i64>) {
    let hits = people.counts().hits;
    let is_a_hit = async {
        while people.counts().hits == hits {
            people.get("age", ages.clone()).await.unwrap();
        }
    };
    timeout(AT_MOST, is_a_hit).await.expect("it is cached in the end");
}

/// The ids that a client finds between 0 and 19, while the row moves from 5 to 15.
async fn ids_during_a_move(policy: Policy, reads: Reads) -> Vec<i64> {
    let (place, server) = (Place::new(), StoppingCache::new(reads));
    let options = place.options(policy).with_beta(0).with_cache_server(server.clone());
    let cache = options.open().await.unwrap();
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)").await.unwrap();
    let schema = Schema::new("people", "id").with_domain("age", DomainType::Integer);
    let people = cache.table(schema).await.unwrap();
    people.insert([("id", 1.into()), ("age", 5.into())]).await.unwrap();
    let row = people.get("age", 0..10).await.unwrap().remove(0);
    // An entry is installed after its first reader has the answer.
    hit(&people, 0..10).await;
    hit(&people, 0..20).await;

    server.stops.store(true, Ordering::SeqCst);
    let reader = tokio::spawn({
        let people = people.clone();
        async move { people.get("age", 0..20).await.unwrap() }
    });
    timeout(AT_MOST, server.has_stopped.notified()).await.expect("it reads both");
    server.stops.store(false, Ordering::SeqCst);
    people.update(&row, [("age", 15.into())]).await.unwrap();
    // A write is acknowledged before its entries are shown again.
    hit(&people, 0..10).await;
    server.goes_on.notify_one();
    let ids = reader.await.unwrap().iter().map(|row| row.integer("id").unwrap()).collect();
    let after = people.get("age", 0..20).await.unwrap();
    assert_eq!(after.iter().map(|row| row.integer("age")).collect::<Vec<_>>(), [Some(15)], "{policy:?}");
    cache.stop().await.unwrap();
    ids
}

/// A program writes past the cache, into a row of either part.
#[tokio::test]
async fn every_part_of_a_hit_is_compared_with_the_database_at_some_time() {
    for age in [5, 15] {
        let place = Place::new();
        let options = place.options(Policy::WriteThrough).with_beta(0).with_verified_hits(100);
        let cache = options.open().await.unwrap();
        cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, name TEXT)").await.unwrap();
        let schema = Schema::new("people", "id").with_domain("age", DomainType::Integer);
        let people = cache.table(schema).await.unwrap();
        for age in [5, 15] {
            people.insert([("id", age.into()), ("age", age.into()), ("name", "old".into())]).await.unwrap();
        }
        hit(&people, 0..10).await;
        hit(&people, 0..20).await;
        cache.run_sql(&format!("UPDATE people SET name = 'new' WHERE id = {age}")).await.unwrap();
        let is_found = async {
            while people.counts().foreign_writes == 0 {
                people.get("age", 0..20).await.unwrap();
            }
        };
        timeout(AT_MOST, is_found).await.expect("the part of the row is compared");
        let rows = people.get("age", 0..20).await.unwrap();
        let name = rows.iter().find(|row| row.integer("id") == Some(age)).and_then(|row| row.text("name"));
        assert_eq!(name, Some("new"));
        cache.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_moves_between_the_parts_of_a_result_is_in_one_of_them() {
    for policy in POLICIES {
        assert_eq!(ids_during_a_move(policy, Reads::AtOnce).await, [1], "{policy:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_moves_between_parts_that_are_read_apart_is_lost() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        assert_eq!(ids_during_a_move(policy, Reads::Apart).await, [0; 0], "{policy:?}: the test can see it");
    }
}
