//! Tenures that end in an unusual way, or begin anew, while requests go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lacuna_cache::sql::{DomainType, Schema, Table};
use lacuna_cache::{Error, ErrorKind, RangeCache, Requests, Result, Servers, WriteError};
use lacuna_cache_protocol::embedded::{MemoryCache, SingleProcess, SteadyClock};
use lacuna_cache_protocol::ports::{Answer, CacheServer, Coordinator, DataStore};
use lacuna_cache_protocol::ports::{Reply, Seen, SeenTogether, Tenure};
use lacuna_cache_protocol::{
    Application, CacheCall, CacheReply, Command, Config, Epoch, Interval, Policy, Query, RangeId, StoreCall,
    Value, Write,
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
    let range = RangeCache::start(servers, RangeId(0), config, Fragile(panics.clone())).unwrap();
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

/// Grants tenures without a cache server while it is away, as a coordinator does for the last owner of a range.
#[derive(Debug)]
struct Returning {
    granted: AtomicU64,
    is_away: AtomicBool,
}

impl Coordinator for Returning {
    fn claim(&self, _: RangeId, _: Option<usize>) -> Reply<'_, Option<Tenure>> {
        let epoch = Epoch(1 + self.granted.fetch_add(1, Ordering::SeqCst));
        let cache = if self.is_away.load(Ordering::SeqCst) { usize::MAX } else { 0 };
        let (lease_ms, before, table) = (Some(600_000), None, None);
        let tenure = Tenure { epoch, cache, serve_after_ms: 0, before, lease_ms, table };
        Box::pin(async move { Ok(Some(tenure)) })
    }

    fn renew(&self, _: RangeId, _: Epoch) -> Reply<'_, bool> {
        Box::pin(async { Ok(true) })
    }

    fn has_cache_again(&self, _: RangeId, _: Epoch) -> bool {
        !self.is_away.load(Ordering::SeqCst)
    }

    fn release(&self, _: RangeId, _: Epoch) -> Reply<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

/// Keeps writes waiting.
#[derive(Debug)]
struct Slow {
    store: Arc<dyn DataStore>,
    waits: AtomicBool,
    has_write: AtomicBool,
}

impl DataStore for Slow {
    fn call(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Reply<'_, Answer> {
        Box::pin(async move {
            let is_write = matches!(call, StoreCall::Write(_));
            while is_write && self.waits.load(Ordering::SeqCst) {
                self.has_write.store(true, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            self.store.call(range, epoch, call).await
        })
    }

    fn largest_epoch(&self) -> Reply<'_, Epoch> {
        self.store.largest_epoch()
    }
}

/// Has entries dropped by every write that touches them.
#[derive(Debug, Clone)]
struct Plain;

impl Application for Plain {
    fn empty(&self, _: &Query) -> Value {
        Value::new(b"")
    }
}

fn servers(store: Arc<dyn DataStore>, coordinator: Arc<dyn Coordinator>) -> Servers {
    let (caches, logs) = (vec![Arc::new(MemoryCache::new(1 << 20)) as Arc<dyn CacheServer>], Vec::new());
    Servers { caches, store, logs, coordinator, clock: Arc::new(SteadyClock::default()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_is_under_way_when_the_coordinator_is_back_has_a_known_outcome() {
    let place = Place::new();
    let cache = place.open(Policy::WriteThrough).await;
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)").await.unwrap();
    let coordinator = Arc::new(Returning { granted: AtomicU64::new(0), is_away: AtomicBool::new(true) });
    let store = cache.store(schema()).await.unwrap();
    let slow = Arc::new(Slow { store, waits: AtomicBool::new(false), has_write: AtomicBool::new(false) });
    let servers = servers(slow.clone(), coordinator.clone());
    let config = Config { max_gaps: 0, call_timeout: 600_000, ..Config::new(Policy::WriteThrough) };
    let range = RangeCache::start(servers, RangeId(0), config, Plain).unwrap();
    let people = cache.table_over(schema(), Arc::new(range.clone())).await.unwrap();
    people.insert([("id", 1.into()), ("age", 5.into())]).await.unwrap();
    assert_eq!((range.counts().tenures, range.counts().bypasses), (1, 1));
    slow.waits.store(true, Ordering::SeqCst);
    let table = people.clone();
    let writing = tokio::spawn(async move { table.insert([("id", 2.into()), ("age", 6.into())]).await });
    let sent = async {
        while !slow.has_write.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(AT_MOST, sent).await.expect("the store is sent the write");
    coordinator.is_away.store(false, Ordering::SeqCst);
    // It is asked four times a second.
    tokio::time::sleep(Duration::from_millis(700)).await;
    slow.waits.store(false, Ordering::SeqCst);
    writing.await.unwrap().unwrap();
    read_until(&people, "the cache is used again", |people| people.counts().hits > 0).await.unwrap();
    assert_eq!(people.get("age", 0..10).await.unwrap().len(), 2);
    assert_eq!((range.counts().tenures, range.counts().bypasses), (2, 1));
    range.stop().await.unwrap();
}

/// Each domain of the owner is found by its number.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_domain_that_the_cache_does_not_have_is_refused_and_ends_no_tenure() {
    let place = Place::new();
    let cache = place.open(Policy::WriteThrough).await;
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)").await.unwrap();
    let store = cache.store(schema()).await.unwrap();
    let servers = servers(store, Arc::new(SingleProcess::above(Epoch(0), 1)));
    let config = Config { max_gaps: 0, ..Config::new(Policy::WriteThrough) };
    let never = Config { domain_count: 0, ..config.clone() };
    let why = RangeCache::start(servers.clone(), RangeId(0), never, Plain).unwrap_err();
    assert!(why.kind() == ErrorKind::InvalidInput && why.to_string().contains("domain_count"), "{why}");
    let range = RangeCache::start(servers, RangeId(0), config, Plain).unwrap();
    let people = cache.table_over(schema(), Arc::new(range.clone())).await.unwrap();
    people.insert([("id", 1.into()), ("age", 5.into())]).await.unwrap();
    let query = || Query::all(1, Interval::all());
    let write = || Write { touched: vec![(1, Interval::point(5.into()))], command: Command::new(b"raise") };
    let refused = [
        range.read(query()).await.map(drop),
        Requests::read_all(&range, vec![query()]).await.map(drop),
        Requests::hold(&range, write(), SOON).await.map(drop),
    ];
    for refused in refused {
        let why = refused.unwrap_err();
        assert!(why.kind() == ErrorKind::InvalidInput && why.to_string().contains("no domain 1"), "{why}");
    }
    let refused = Requests::write(&range, write()).await.unwrap_err();
    assert!(matches!(refused, WriteError::Refused(_)) && refused.to_string().contains("no domain 1"));
    assert_eq!(people.get("age", 0..10).await.unwrap().len(), 1);
    assert_eq!(range.counts().tenures, 1);
    range.stop().await.unwrap();
}
