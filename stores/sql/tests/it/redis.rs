//! Redis as cache servers and logs, killed, emptied and stalled while clients are at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lacuna_range_cache::Policy;
use lacuna_store_redis::{RedisCache, RedisLog};
use lacuna_store_sql::Options;
use lacuna_test_servers::Redis;
use lacuna_testkit::effort;

use crate::world::{Place, World};

const CLIENTS: u64 = 8;
/// Clients start again until so much has been broken, however fast they are.
const FEWEST_FAULTS: u64 = 6;

fn with_servers(mut options: Options, caches: &[Redis], logs: &[Redis]) -> Options {
    for server in caches {
        options = options.cache_server(Arc::new(RedisCache::new(&server.url(), "test").unwrap()));
    }
    for server in logs {
        options = options.log_server(Arc::new(RedisLog::new(&server.url(), "test").unwrap()));
    }
    options
}

/// What breaks while clients are at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Kill,
    Empty,
    Stall,
}

async fn command(server: &Redis, words: &[&str]) {
    let client = redis::Client::open(server.url()).unwrap();
    let Ok(mut connection) = client.get_multiplexed_async_connection().await else { return };
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    drop(command.query_async::<redis::Value>(&mut connection).await);
}

/// Breaks servers in turn until `is_over`, and counts how often.
async fn break_servers(servers: &mut [Redis], is_over: &AtomicBool, faults: &AtomicU64) {
    while !is_over.load(Ordering::Relaxed) {
        let times = faults.load(Ordering::Relaxed);
        let place = usize::try_from(times).unwrap() % servers.len();
        let server = &mut servers[place];
        match [Fault::Kill, Fault::Empty, Fault::Stall][usize::try_from(times).unwrap() % 3] {
            Fault::Kill => {
                server.kill();
                tokio::time::sleep(Duration::from_millis(60)).await;
                tokio::task::block_in_place(|| server.restart());
            }
            Fault::Empty => command(server, &["FLUSHALL"]).await,
            Fault::Stall => command(server, &["CLIENT", "PAUSE", "400", "ALL"]).await,
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
        faults.fetch_add(1, Ordering::Relaxed);
    }
}

/// Clients at work together, each with a seed of its own.
async fn work(world: &Arc<World>, round: u64, operations: u64) {
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(Arc::clone(world).client(effort::rng(300 + CLIENTS * round + client), operations, 93));
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
}

async fn clients_see_nothing_stale(policy: Policy, has_faults: bool) {
    let place = Place::new();
    let Some(caches) = (0..2).map(|_| Redis::cache()).collect::<Option<Vec<Redis>>>() else { return };
    let log_count = if policy == Policy::WriteBack { 3 } else { 0 };
    let Some(logs) = (0..log_count).map(|_| Redis::log()).collect::<Option<Vec<Redis>>>() else { return };
    let world = World::open(with_servers(place.options(policy), &caches, &logs)).await;
    let operations = effort::short_or_long(if has_faults { 500 } else { 700 }, 12_000);
    let is_over = Arc::new(AtomicBool::new(!has_faults));
    let faults = Arc::new(AtomicU64::new(0));
    let nemesis = tokio::spawn({
        let (is_over, faults, mut caches) = (Arc::clone(&is_over), Arc::clone(&faults), caches);
        async move {
            break_servers(&mut caches, &is_over, &faults).await;
            caches
        }
    });
    let mut round = 0;
    while round == 0 || (has_faults && faults.load(Ordering::Relaxed) < FEWEST_FAULTS) {
        work(&world, round, operations).await;
        round += 1;
    }
    is_over.store(true, Ordering::Relaxed);
    let _caches = nemesis.await.unwrap();
    let faults = faults.load(Ordering::Relaxed);
    world.cached_is_fresh().await;
    let counts = world.table.counts();
    println!("{policy:?}, {faults} faults: {counts:?}");
    world.cache.stop().await.unwrap();
    if has_faults {
        assert!(counts.tenures > 2, "{faults} faults: {counts:?}");
    } else {
        assert!(counts.hits * 2 >= counts.reads, "half of the reads are hits: {counts:?}");
        // A server that is waited for longer than a quarter of a second is passed over, as on a machine that is out of breath.
        assert!(counts.tenures * 50 < counts.reads, "tenures go on: {counts:?}");
    }
    world.check(place.options(policy)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_around_over_redis_shows_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteAround, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_through_over_redis_shows_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteThrough, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_back_over_redis_shows_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteBack, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_cache_servers_show_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteAround, true).await;
    clients_see_nothing_stale(Policy::WriteThrough, true).await;
    clients_see_nothing_stale(Policy::WriteBack, true).await;
}

/// Counts hundredths of a second as this process gets to see them: on a machine that is busy with other things they are longer,
/// and so is what they measure.
struct Pulse {
    beats: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Pulse {
    fn start() -> Self {
        let beats = Arc::new(AtomicU64::new(0));
        let task = tokio::spawn({
            let beats = Arc::clone(&beats);
            async move {
                loop {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    beats.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Self { beats, task }
    }

    fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_go_on_without_any_cache_server() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        let place = Place::new();
        let Some(mut server) = Redis::cache() else { return };
        let world =
            World::open(with_servers(place.options(policy), std::slice::from_ref(&server), &[])).await;
        let row = |place: i64| [("place", place.into()), ("version", 1.into()), ("other", 1.into())];
        world.table.insert(row(1)).await.unwrap();
        assert_eq!(world.table.get("place", 0..=9).await.unwrap().len(), 1);
        server.kill();
        let pulse = Pulse::start();
        assert_eq!(world.table.get("place", 0..=9).await.unwrap().len(), 1);
        world.table.insert(row(2)).await.unwrap();
        assert_eq!(world.table.get("place", 0..=9).await.unwrap().len(), 2);
        assert!(pulse.beats() < 1_500, "{policy:?}: {} hundredths of a second", pulse.beats());
        server.restart();
        // Once it is back, results are cached again.
        let (pulse, mut is_back) = (Pulse::start(), false);
        while !is_back && pulse.beats() < 6_000 {
            world.table.get("place", 0..=9).await.unwrap();
            let before = world.table.counts();
            world.table.get("place", 0..=9).await.unwrap();
            is_back = world.table.counts().hits > before.hits;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(is_back, "{policy:?}: {:?}", world.table.counts());
        assert_eq!(world.table.get("place", 0..=9).await.unwrap().len(), 2);
        world.cache.stop().await.unwrap();
    }
}
