//! Dendrites over PostgreSQL, Redis and three members of etcd, some of which die.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::WriteError;
use lacuna_cache::cluster::{Dendrite, Membership};
use lacuna_cache::etcd::{EtcdCoordinator, EtcdOptions, Map};
use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{Cache, DomainType, Options, Schema, Table};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::CacheServer as _;
use lacuna_cache_protocol::{Epoch, Interval, Query, RangeId, StoreCall, StoreReply};
use lacuna_testkit::servers::{Etcd, Postgres, Redis};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::sleep;

use crate::etcd::local_transport::LocalTransport;

const LEASE_S: u64 = 4;
/// What a busy machine may take.
pub(crate) const AT_MOST: Duration = Duration::from_secs(120);

/// Servers that all dendrites of a test share.
pub(crate) struct SharedServers {
    postgres: Postgres,
    pub(crate) redis: Redis,
    etcd: Etcd,
    pub(crate) transport: Arc<LocalTransport>,
}

/// A dendrite and the servers below it.
pub(crate) struct Member {
    cache: Cache,
    pub(crate) coordinator: Arc<EtcdCoordinator>,
    pub(crate) dendrite: Dendrite,
    pub(crate) table: Arc<Table>,
    /// Where all this runs.
    runtime: Handle,
}

fn schema() -> Schema {
    Schema::new("slots", "place").with_domain("place", DomainType::Integer)
}

impl SharedServers {
    pub(crate) async fn new() -> Option<Arc<Self>> {
        let (postgres, redis, etcd) = (Postgres::start()?, Redis::cache()?, Etcd::start(3)?);
        let first = Options::new(postgres.url()).open().await.unwrap();
        first.run_sql("CREATE TABLE slots (place BIGINT PRIMARY KEY, version BIGINT)").await.unwrap();
        first.stop().await.unwrap();
        Some(Arc::new(Self { postgres, redis, etcd, transport: Arc::default() }))
    }

    fn redis(&self) -> RedisCache {
        RedisCache::new(&self.redis.url(), "slots").unwrap().with_patience(AT_MOST)
    }

    /// A dendrite at `address` of a table that is cut at 500.
    pub(crate) async fn member(&self, address: &str) -> Member {
        let options = Options::new(self.postgres.url()).with_patience(AT_MOST);
        let cache = options.with_cache_server(Arc::new(self.redis())).open().await.unwrap();
        let options = EtcdOptions::new(self.etcd.url(), "slots").with_address(address).with_lease_s(LEASE_S);
        let options =
            options.with_range_table(schema().cut_before(&[500.into()]).unwrap()).without_foreign_routes();
        let options = options.with_fences_of(cache.store(schema()).await.unwrap()).with_uncached_fallback();
        let coordinator = Arc::new(crate::etcd::claims::open(options).await);
        let (directory, transport) = (coordinator.clone(), self.transport.clone());
        let membership = Membership { directory, transport, address: address.to_owned() };
        let dendrite = cache.dendrite(schema(), coordinator.clone(), membership).await.unwrap();
        let runtime = Handle::current();
        self.transport.add(address, runtime.clone(), dendrite.clone());
        let table = Arc::new(cache.table_over(schema(), Arc::new(dendrite.clone())).await.unwrap());
        Member { cache, coordinator, dendrite, table, runtime }
    }
}

impl Member {
    async fn put(&self, place: i64) -> Result<(), WriteError> {
        let table = self.table.clone();
        let row = [("place", place.into()), ("version", 1.into())];
        self.runtime.spawn(async move { table.insert(row).await }).await.expect("its runtime lives")
    }

    pub(crate) async fn count(&self, lo: i64, hi: i64) -> Result<usize> {
        let table = self.table.clone();
        let counted =
            self.runtime.spawn(async move { table.get("place", lo..=hi).await.map(|rows| rows.len()) });
        counted.await.expect("its runtime lives")
    }

    /// Claims both ranges where the map says they belong, so that each dendrite of two has one.
    pub(crate) async fn settle(&self, others: &[&Self]) {
        let (start, members) = (Instant::now(), others.len() + 1);
        for member in others {
            member.map_with(|map| map.members().len() == members).await;
        }
        while !self.coordinator.seen().owner(RangeId(0)).is_some_and(|lower| {
            let upper = self.coordinator.seen().owner(RangeId(1)).map(|owned| owned.holder);
            upper.is_some_and(|upper| members == 1 || upper != lower.holder)
        }) {
            assert!(start.elapsed() < AT_MOST, "ranges are claimed, and spread");
            for member in [self].into_iter().chain(others.iter().copied()) {
                drop(member.count(0, 9).await);
                drop(member.count(900, 909).await);
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// What etcd says, once it answers and this is so.
    pub(crate) async fn map_with(&self, is_so: impl Fn(&Map) -> bool) -> Arc<Map> {
        let start = Instant::now();
        loop {
            if let Ok(map) = self.coordinator.map().await
                && is_so(&map)
            {
                return map;
            }
            assert!(start.elapsed() < AT_MOST, "{:?}", self.coordinator.seen());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Puts a row, however often that takes: one whose outcome was unknown may be there already.
    pub(crate) async fn put_surely(&self, place: i64) {
        let start = Instant::now();
        while !matches!(self.put(place).await, Ok(()) | Err(WriteError::Refused(_))) {
            assert!(start.elapsed() < AT_MOST, "the range is served again");
        }
    }
}

/// A dendrite in a runtime of its own, with one thread, which can be stopped dead or for a while.
pub(crate) async fn apart(servers: &Arc<SharedServers>, address: &'static str) -> (Runtime, Member) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let servers = servers.clone();
    let member = runtime.spawn(async move { servers.member(address).await }).await.unwrap();
    (runtime, member)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ranges_of_a_dead_dendrite_are_served_again() {
    let Some(servers) = SharedServers::new().await else { return };
    let b = servers.member("b").await;
    let (runtime, a) = apart(&servers, "a").await;
    a.settle(&[&b]).await;
    let map =
        b.map_with(|map| [RangeId(0), RangeId(1)].iter().all(|range| map.owner(*range).is_some())).await;
    let owner = |range| map.owner(range).unwrap().holder;
    assert_ne!(owner(RangeId(0)), owner(RangeId(1)), "ranges spread over both");
    let orphan = if owner(RangeId(0)) == a.coordinator.holder() { 0 } else { 900 };
    b.put_surely(orphan).await;
    assert_eq!(b.count(orphan, orphan + 9).await.unwrap(), 1);
    // As kill -9 does: nothing is given back, nothing is finished.
    servers.transport.remove("a");
    runtime.shutdown_background();
    let start = Instant::now();
    while b.count(orphan, orphan + 9).await.ok() != Some(1) {
        assert!(start.elapsed() < AT_MOST, "the range is served again");
        sleep(Duration::from_millis(10)).await;
    }
    println!("served again {:?} after its dendrite was killed, with a lease of {LEASE_S} s", start.elapsed());
    b.put_surely(orphan + 1).await;
    assert_eq!(b.count(orphan, orphan + 9).await.unwrap(), 2);
    std::mem::forget(a);
    b.dendrite.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_dendrite_wakes_up_fenced() {
    let Some(servers) = SharedServers::new().await else { return };
    let b = servers.member("b").await;
    let (runtime, a) = apart(&servers, "a").await;
    a.settle(&[&b]).await;
    let map =
        b.map_with(|map| [RangeId(0), RangeId(1)].iter().all(|range| map.owner(*range).is_some())).await;
    let range = [RangeId(0), RangeId(1)]
        .into_iter()
        .find(|range| map.owner(*range).unwrap().holder == a.coordinator.holder());
    let range = range.expect("ranges spread over both");
    let (place, old) = (if range == RangeId(0) { 0 } else { 900 }, map.owner(range).unwrap().epoch);
    assert_eq!(a.count(place, place + 9).await.unwrap(), 0);
    assert_eq!(a.count(place, place + 9).await.unwrap(), 0);
    // Its only thread hears nothing for longer than the lease.
    servers.transport.remove("a");
    runtime.spawn(async { std::thread::sleep(Duration::from_secs(LEASE_S + 4)) });
    let start = Instant::now();
    b.put_surely(place).await;
    println!("written {:?} after its dendrite was paused, with a lease of {LEASE_S} s", start.elapsed());
    // What it still has on the way is refused by the cache server and by the store.
    let query = Query::all(0, Interval::closed(0.into(), 9.into()).unwrap());
    let fence = || async { servers.redis().get(range, old, &query).await.unwrap().map(|seen| seen.fence) };
    while fence().await <= Some(old) {
        // A server that a busy machine keeps waiting is passed over for a while.
        assert!(start.elapsed() < AT_MOST, "the cache server knows the new owner");
        drop(b.count(place, place + 9).await);
    }
    let store = b.cache.store(schema()).await.unwrap();
    for late in [StoreCall::Fence, StoreCall::Recovered] {
        assert_eq!(store.call(range, old, late).await.unwrap().reply, StoreReply::Fenced);
    }
    // When it wakes up it says what is so, or nothing.
    let woken = a.count(place, place + 9).await;
    assert!(!matches!(woken, Ok(0)), "an old result: {woken:?}");
    assert!(old < b.map_with(|_| true).await.owner(range).map_or(Epoch(u64::MAX), |owned| owned.epoch));
    runtime.shutdown_background();
    std::mem::forget(a);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_etcd_requests_go_on_against_the_store() {
    let Some(mut servers) = SharedServers::new().await else { return };
    let a = servers.member("a").await;
    a.settle(&[]).await;
    while a.table.counts().hits < 2 {
        assert_eq!(a.count(0, 9).await.unwrap(), 0);
    }
    let etcd = &mut Arc::get_mut(&mut servers).expect("the only one").etcd;
    let leader = etcd.leader();
    [leader, (leader + 1) % 3].iter().for_each(|place| etcd.kill(*place));
    let (start, mut written, mut longest, mut last) = (Instant::now(), 0, Duration::ZERO, Instant::now());
    let mut hits_after_lease = None;
    while start.elapsed() < Duration::from_secs(LEASE_S + 3) || written <= 10 {
        assert!(start.elapsed() < AT_MOST, "requests go on");
        // Whoever is told that an outcome is unknown looks it up.
        match a.put(written).await {
            Ok(()) => written += 1,
            Err(WriteError::Refused(_)) => written += 1,
            Err(_) => {}
        }
        if let Ok(count) = a.count(0, 499).await {
            assert!(i64::try_from(count).unwrap() >= written, "{count} of {written}");
            (longest, last) = (longest.max(last.elapsed()), Instant::now());
        }
        if start.elapsed() > Duration::from_secs(LEASE_S) {
            let hits = a.table.counts().hits;
            assert_eq!(*hits_after_lease.get_or_insert(hits), hits, "no hits without a lease");
        }
        sleep(Duration::from_millis(20)).await;
    }
    println!("{written} writes while etcd was away, never longer than {longest:?} without an answer");
    [leader, (leader + 1) % 3].iter().for_each(|place| etcd.restart(*place));
    let (back, hits) = (Instant::now(), a.table.counts().hits);
    while a.table.counts().hits < hits + 3 {
        assert!(back.elapsed() < AT_MOST, "the cache is used again");
        drop(a.count(0, 9).await);
        sleep(Duration::from_millis(20)).await;
    }
    println!("hits again {:?} after the members were started", back.elapsed());
    a.dendrite.stop().await.unwrap();
}
