//! Tenures that end in an unusual way, or begin anew, while requests go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lacuna_cache::sql::{DomainType, Schema, Table};
use lacuna_cache::{Error, RangeCache, Result, Servers, WriteError};
use lacuna_cache_protocol::embedded::{MemoryCache, SingleProcess, SteadyClock};
use lacuna_cache_protocol::ports::{CacheServer, Reply, Seen, SeenTogether};
use lacuna_cache_protocol::{
    Application, CacheCall, CacheReply, Command, Config, Epoch, Policy, Query, RangeId, Value,
};
use tokio::time::timeout;

use crate::sql::world::{AT_MOST, Place};

/// Much less than a request may wait, and what a busy machine may take.
const SOON: Duration = Duration::from_secs(10);

fn schema() -> Schema {
    Schema::new("people", "id").with_domain("age", DomainType::Integer)
}

/// Panics at the next write.
#[derive(Debug, Clone)]
struct Fragile(Arc<AtomicBool>);

impl Application for Fragile {
    fn numbers_domains_of(&self, _: &Command) -> bool {
        assert!(!self.0.swap(false, Ordering::SeqCst), "the application is to panic here");
        true
    }

    fn empty(&self, _: &Query) -> Value {
        Value::new(b"")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_panics_is_followed_by_another_that_knows_nothing_of_it() {
    let place = Place::new();
    let cache = place.open(Policy::WriteThrough).await;
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)").await.unwrap();
    let panics = Arc::new(AtomicBool::new(false));
    let servers = Servers {
        caches: vec![Arc::new(MemoryCache::new(1 << 20))],
        store: cache.store(schema()).await.unwrap(),
        logs: Vec::new(),
        coordinator: Arc::new(SingleProcess::above(Epoch(0), 1)),
        clock: Arc::new(SteadyClock::default()),
    };
    let config = Config { max_gaps: 0, ..Config::new(Policy::WriteThrough) };
    let range = RangeCache::start(servers, RangeId(0), config, Fragile(panics.clone()));
    let people = cache.table_over(schema(), Arc::new(range.clone())).await.unwrap();
    let person = |id: i64| [("id", id.into()), ("age", (10 * id).into())];
    people.insert(person(1)).await.unwrap();
    for id in 2..5 {
        let found = people.get("age", 0..100).await.unwrap().len();
        assert_eq!(i64::try_from(found).unwrap(), id - 1);
        panics.store(true, Ordering::SeqCst);
        let unknown = people.insert(person(9)).await;
        assert!(matches!(unknown, Err(WriteError::Unknown)), "{unknown:?}");
        assert!(!panics.load(Ordering::SeqCst), "it has panicked");
        people.insert(person(id)).await.unwrap();
    }
    assert_eq!(people.get("age", 0..100).await.unwrap().len(), 4);
    assert_eq!(range.counts().tenures, 4, "the first, and one after each panic");
    // One that panics while it stops.
    panics.store(true, Ordering::SeqCst);
    let (unknown, stopped) = tokio::join!(people.insert(person(9)), range.stop());
    assert!(unknown.is_err(), "{unknown:?}");
    timeout(AT_MOST, async { stopped }).await.unwrap().unwrap();
}

/// A cache server that is there or not.
#[derive(Debug)]
struct Wavering {
    cache: MemoryCache,
    is_away: AtomicBool,
}

impl Wavering {
    fn answer<'a, T: Send + 'a>(&'a self, answer: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            if self.is_away.load(Ordering::SeqCst) {
                return Err(Error::unavailable("the cache server is away"));
            }
            answer.await
        })
    }
}

impl CacheServer for Wavering {
    fn get<'a>(&'a self, range: RangeId, epoch: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        self.answer(self.cache.get(range, epoch, query))
    }

    fn get_together<'a>(
        &'a self,
        range: RangeId,
        epoch: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        self.answer(self.cache.get_together(range, epoch, queries))
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        self.answer(self.cache.call(range, epoch, call))
    }

    fn probe(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        self.answer(self.cache.probe(range, epoch))
    }
}

async fn read_until(people: &Table, about: &str, is_it: impl Fn(&Table) -> bool) -> Result<()> {
    let reading = async {
        while !is_it(people) {
            people.get("age", 0..10).await?;
        }
        Ok(())
    };
    timeout(AT_MOST, reading).await.expect(about)
}

/// An owner that waits for a lease to end serves no request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cache_server_that_is_back_delays_no_reads_while_a_transaction_is_open() {
    let place = Place::new();
    let server = Arc::new(Wavering { cache: MemoryCache::new(1 << 20), is_away: AtomicBool::new(false) });
    let cache = place.options(Policy::WriteThrough).with_cache_server(server.clone()).open().await.unwrap();
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)").await.unwrap();
    let people = cache.table(schema()).await.unwrap();
    people.insert([("id", 1.into()), ("age", 5.into())]).await.unwrap();
    read_until(&people, "it is cached", |people| people.counts().hits > 0).await.unwrap();
    server.is_away.store(true, Ordering::SeqCst);
    let row = people.get("age", 0..10).await.unwrap().remove(0);
    people.update(&row, [("age", 6.into())]).await.unwrap();
    read_until(&people, "it goes past the cache", |people| people.counts().bypasses > 0).await.unwrap();

    let mut open = cache.transaction().on(&people, "age", 50..60).begin().await.unwrap();
    server.is_away.store(false, Ordering::SeqCst);
    // It is probed four times a second. The lease on the range, which this transaction keeps from being renewed, lasts for longer.
    tokio::time::sleep(Duration::from_millis(700)).await;
    let hits = people.counts().hits;
    let rows = timeout(SOON, people.get("age", 0..10)).await.expect("the transaction is about other rows");
    assert_eq!(rows.unwrap().len(), 1);
    assert_eq!(people.counts().hits, hits, "the range is not given up meanwhile");
    open.insert(&people, [("id", 2.into()), ("age", 55.into())]).await.unwrap();
    open.commit().await.unwrap();
    read_until(&people, "it is used again", |people| people.counts().hits > hits).await.unwrap();
    assert_eq!(people.get("age", 0..100).await.unwrap().len(), 2);
    cache.stop().await.unwrap();
}
