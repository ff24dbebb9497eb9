//! Dendrites over PostgreSQL, Redis and three members of etcd, some of which die.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lacuna_cache_shell::{Answer, Around, Dendrite, Neighbours, Reach, WriteError, Written};
use lacuna_core::{Error, Result};
use lacuna_range_cache::ports::{CacheServer as _, Reply};
use lacuna_range_cache::{
    CallId, Epoch, Interval, PeerCall, PeerId, PeerReply, Query, RangeId, StoreCall, StoreReply, Value, Write,
};
use lacuna_store_etcd::{EtcdCoordinator, EtcdOptions};
use lacuna_store_redis::RedisCache;
use lacuna_store_sql::{Cache, DomainType, Options, Schema, Table};
use lacuna_test_servers::{Etcd, Postgres, Redis};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::sleep;

const LEASE_S: u64 = 4;
/// What a busy machine may take.
const AT_MOST: Duration = Duration::from_secs(60);

/// Dendrites of one process, each in a runtime of its own, which reach each other by their addresses as strangers do.
#[derive(Debug, Default)]
struct Street(Mutex<BTreeMap<String, (Handle, Dendrite)>>);

fn gone() -> Error {
    Error::unavailable("nobody lives there")
}

fn moved() -> Error {
    Error::unavailable("the owner is elsewhere")
}

impl Street {
    /// Has the dendrite at `address` do something, in its own runtime.
    async fn at<T: Send + 'static, F>(&self, address: &str, what: impl FnOnce(Dendrite) -> F) -> Result<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let (runtime, dendrite) = self.0.lock().unwrap().get(address).cloned().ok_or_else(gone)?;
        runtime.spawn(what(dendrite)).await.map_err(|_| gone())
    }
}

impl Neighbours for Street {
    fn read<'a>(&'a self, address: &'a str, query: &'a Query, within: Duration) -> Reply<'a, Value> {
        let query = query.clone();
        Box::pin(async move {
            let read = |there: Dendrite| async move { there.read(&query, within, Reach::Here).await };
            match self.at(address, read).await?? {
                Answer::Is(value) => Ok(value),
                Answer::At(..) => Err(moved()),
            }
        })
    }

    fn write<'a>(&'a self, address: &'a str, write: &'a Write, within: Duration) -> Written<'a> {
        let write = write.clone();
        Box::pin(async move {
            if !self.0.lock().unwrap().contains_key(address) {
                return Err(WriteError::NotDone(gone()));
            }
            let put = |there: Dendrite| async move { there.write(&write, within, Reach::Here).await };
            match self.at(address, put).await.map_err(|_| WriteError::Unknown)?? {
                Answer::Is(()) => Ok(()),
                Answer::At(..) => Err(WriteError::NotDone(moved())),
            }
        })
    }

    fn peer<'a>(
        &'a self,
        address: &'a str,
        range: RangeId,
        peer: PeerId,
        call: CallId,
        what: PeerCall,
    ) -> Reply<'a, PeerReply> {
        Box::pin(async move {
            self.at(address, |there| async move { there.peer(range, peer, call, what).await }).await?
        })
    }
}

/// Servers that all dendrites of a test share.
struct Ground {
    postgres: Postgres,
    redis: Redis,
    etcd: Etcd,
    street: Arc<Street>,
}

/// A dendrite and what it stands on.
struct House {
    cache: Cache,
    coordinator: Arc<EtcdCoordinator>,
    dendrite: Dendrite,
    table: Arc<Table>,
    /// Where all this runs.
    runtime: Handle,
}

fn schema() -> Schema {
    Schema::new("slots", "place").domain("place", DomainType::Integer)
}

impl Ground {
    async fn new() -> Option<Arc<Self>> {
        let (postgres, redis, etcd) = (Postgres::start()?, Redis::cache()?, Etcd::start(3)?);
        let first = Options::new(postgres.url()).open().await.unwrap();
        first.run_sql("CREATE TABLE slots (place BIGINT PRIMARY KEY, version BIGINT)").await.unwrap();
        first.stop().await.unwrap();
        Some(Arc::new(Self { postgres, redis, etcd, street: Arc::default() }))
    }

    fn redis(&self) -> RedisCache {
        RedisCache::new(&self.redis.url(), "slots").unwrap()
    }

    /// A dendrite at `address` of a table that is cut at 500.
    async fn house(&self, address: &str) -> House {
        let cache =
            Options::new(self.postgres.url()).cache_server(Arc::new(self.redis())).open().await.unwrap();
        let options = EtcdOptions::new(self.etcd.url(), "slots").address(address).lease_s(LEASE_S);
        let options = options.table(schema().cut_before(&[500.into()]).unwrap()).keeping_routes();
        let options = options.above_fences_of(cache.store(schema()).await.unwrap()).going_past_the_cache();
        let coordinator = Arc::new(options.open().await.unwrap());
        let (directory, neighbours) = (coordinator.clone(), self.street.clone());
        let around = Around { directory, neighbours, address: address.to_owned() };
        let dendrite = cache.dendrite(schema(), coordinator.clone(), around).await.unwrap();
        let runtime = Handle::current();
        let door = (runtime.clone(), dendrite.clone());
        self.street.0.lock().unwrap().insert(address.to_owned(), door);
        let table = Arc::new(cache.table_over(schema(), Arc::new(dendrite.clone())).await.unwrap());
        House { cache, coordinator, dendrite, table, runtime }
    }
}

impl House {
    async fn put(&self, place: i64) -> Result<(), WriteError> {
        let table = self.table.clone();
        let row = [("place", place.into()), ("version", 1.into())];
        self.runtime.spawn(async move { table.insert(row).await }).await.expect("its runtime lives")
    }

    async fn count(&self, lo: i64, hi: i64) -> Result<usize> {
        let table = self.table.clone();
        let counted =
            self.runtime.spawn(async move { table.get("place", lo..=hi).await.map(|rows| rows.len()) });
        counted.await.expect("its runtime lives")
    }

    /// Claims both ranges where the map says they belong, so that each dendrite of two has one.
    async fn settle(&self, others: &[&Self]) {
        let start = Instant::now();
        for house in others {
            assert_eq!(house.coordinator.map().await.unwrap().members().len(), others.len() + 1);
        }
        while self.coordinator.seen().owner(RangeId(0)).is_none()
            || self.coordinator.seen().owner(RangeId(1)).is_none()
        {
            assert!(start.elapsed() < AT_MOST, "ranges are claimed");
            for house in [self].into_iter().chain(others.iter().copied()) {
                drop(house.count(0, 9).await);
                drop(house.count(900, 909).await);
            }
        }
    }
}

/// A dendrite in a runtime of its own, with one thread, which can be stopped dead or for a while.
async fn apart(ground: &Arc<Ground>, address: &'static str) -> (Runtime, House) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let ground = ground.clone();
    let house = runtime.spawn(async move { ground.house(address).await }).await.unwrap();
    (runtime, house)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ranges_of_a_dead_dendrite_are_served_again() {
    let Some(ground) = Ground::new().await else { return };
    let b = ground.house("b").await;
    let (runtime, a) = apart(&ground, "a").await;
    a.settle(&[&b]).await;
    let map = b.coordinator.map().await.unwrap();
    let owner = |range| map.owner(range).unwrap().holder;
    assert_ne!(owner(RangeId(0)), owner(RangeId(1)), "ranges spread over both");
    let orphan = if owner(RangeId(0)) == a.coordinator.holder() { 0 } else { 900 };
    b.put(orphan).await.unwrap();
    assert_eq!(b.count(orphan, orphan + 9).await.unwrap(), 1);
    // As kill -9 does: nothing is given back, nothing is finished.
    ground.street.0.lock().unwrap().remove("a");
    runtime.shutdown_background();
    let start = Instant::now();
    while b.count(orphan, orphan + 9).await.ok() != Some(1) {
        assert!(start.elapsed() < AT_MOST, "the range is served again");
        sleep(Duration::from_millis(10)).await;
    }
    println!("served again {:?} after its dendrite was killed, with a lease of {LEASE_S} s", start.elapsed());
    b.put(orphan + 1).await.unwrap();
    assert_eq!(b.count(orphan, orphan + 9).await.unwrap(), 2);
    std::mem::forget(a);
    b.dendrite.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_dendrite_wakes_up_fenced() {
    let Some(ground) = Ground::new().await else { return };
    let b = ground.house("b").await;
    let (runtime, a) = apart(&ground, "a").await;
    a.settle(&[&b]).await;
    let map = b.coordinator.map().await.unwrap();
    let range = [RangeId(0), RangeId(1)]
        .into_iter()
        .find(|range| map.owner(*range).unwrap().holder == a.coordinator.holder());
    let range = range.expect("ranges spread over both");
    let (place, old) = (if range == RangeId(0) { 0 } else { 900 }, map.owner(range).unwrap().epoch);
    assert_eq!(a.count(place, place + 9).await.unwrap(), 0);
    assert_eq!(a.count(place, place + 9).await.unwrap(), 0);
    // Its only thread hears nothing for longer than the lease.
    ground.street.0.lock().unwrap().remove("a");
    runtime.spawn(async { std::thread::sleep(Duration::from_secs(LEASE_S + 4)) });
    let start = Instant::now();
    // One whose outcome was unknown may have put the row there already.
    while !matches!(b.put(place).await, Ok(()) | Err(WriteError::Refused(_))) {
        assert!(start.elapsed() < AT_MOST, "the range is served again");
    }
    println!("written {:?} after its dendrite was paused, with a lease of {LEASE_S} s", start.elapsed());
    // What it still has on the way is refused by the cache server and by the store.
    let query = Query::all(0, Interval::closed(0.into(), 9.into()).unwrap());
    let seen = ground.redis().get(range, old, &query).await.unwrap().unwrap();
    assert!(seen.fence > old, "{seen:?} instead of {old:?}");
    let store = b.cache.store(schema()).await.unwrap();
    for late in [StoreCall::Fence, StoreCall::Recovered] {
        assert_eq!(store.call(range, old, late).await.unwrap().reply, StoreReply::Fenced);
    }
    // When it wakes up it says what is so, or nothing.
    let woken = a.count(place, place + 9).await;
    assert!(!matches!(woken, Ok(0)), "an old result: {woken:?}");
    assert!(
        old < b.coordinator.map().await.unwrap().owner(range).map_or(Epoch(u64::MAX), |owned| owned.epoch)
    );
    runtime.shutdown_background();
    std::mem::forget(a);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_etcd_requests_go_on_against_the_store() {
    let Some(mut ground) = Ground::new().await else { return };
    let a = ground.house("a").await;
    a.settle(&[]).await;
    for _ in 0..3 {
        assert_eq!(a.count(0, 9).await.unwrap(), 0);
    }
    assert!(a.table.counts().hits > 0);
    let etcd = &mut Arc::get_mut(&mut ground).expect("the only one").etcd;
    let leader = etcd.leader().unwrap();
    [leader, (leader + 1) % 3].iter().for_each(|place| etcd.kill(*place));
    let (start, mut written, mut longest, mut last) = (Instant::now(), 0, Duration::ZERO, Instant::now());
    let mut hits_after_lease = None;
    while start.elapsed() < Duration::from_secs(LEASE_S + 3) {
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
    assert!(written > 10 && last.elapsed() < Duration::from_secs(6), "requests go on");
    [leader, (leader + 1) % 3].iter().for_each(|place| etcd.restart(*place));
    let (back, hits) = (Instant::now(), a.table.counts().hits);
    while a.table.counts().hits < hits + 3 {
        assert!(back.elapsed() < AT_MOST, "the cache is used again");
        drop(a.count(0, 9).await);
        sleep(Duration::from_millis(20)).await;
    }
    println!("hits again {:?} after the members were started", back.elapsed());
    a.dendrite.stop().await;
}
