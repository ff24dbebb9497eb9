//! Redis as cache servers and logs, killed, emptied and stalled while clients are at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache::sql::{Compressed, Hashed, Options};
use lacuna_cache_protocol::Policy;
use lacuna_cache_protocol::ports::CacheServer;
use lacuna_testkit::effort;
use lacuna_testkit::servers::Redis;

use crate::sql::nemesis::{CacheFault, Faults, MIN_OF_EACH, break_log, read_percent, rest};
use crate::sql::world::{AT_MOST, Place, World};

const CLIENTS: u64 = 8;
/// Clients start again until so much has been broken, however fast they are.
const MIN_FAULTS: u64 = 10;
/// And until it has ended tenures: not every cache server that breaks is waited for at that moment.
const MIN_TENURES: u64 = 3;
/// Kinds of faults of log servers.
const LOG_FAULTS: usize = 2;

/// Which cache server a result lies on.
#[derive(Debug, Clone, Copy)]
enum Placement {
    OfRange,
    /// By its query, and compressed there.
    Hashed,
}

fn with_servers(mut options: Options, placement: Placement, caches: &[Redis], logs: &[Redis]) -> Options {
    let servers = caches.iter().map(|server| RedisCache::new(&server.url(), "test").unwrap());
    options = match placement {
        Placement::OfRange => {
            servers.fold(options, |options, server| options.with_cache_server(Arc::new(server)))
        }
        Placement::Hashed => {
            let compressed = servers.map(|server| Compressed::new(Arc::new(server)));
            let servers = compressed.map(|server| -> Arc<dyn CacheServer> { Arc::new(server) });
            options.with_cache_server(Arc::new(Hashed::new(servers.collect()).unwrap()))
        }
    };
    for server in logs {
        options = options.with_log_server(Arc::new(RedisLog::new(&server.url(), "test").unwrap()));
    }
    options
}

/// Clients at work together, each with a seed of its own.
async fn work(world: &Arc<World>, round: u64, operations: u64, read_percent: u64) {
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(Arc::clone(world).client(
            effort::rng(300 + CLIENTS * round + client),
            operations,
            read_percent,
        ));
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
}

async fn clients_see_nothing_stale(policy: Policy, placement: Placement) {
    let place = Place::new();
    let Some(caches) = (0..2).map(|_| Redis::cache()).collect::<Option<Vec<Redis>>>() else { return };
    let Some(logs) = log_servers(policy) else { return };
    let world = World::open(with_servers(place.options(policy), placement, &caches, &logs)).await;
    work(&world, 0, effort::short_or_long(700, 12_000), 93).await;
    world.cached_is_fresh().await;
    let counts = world.table.counts();
    println!("{policy:?}: {counts:?}");
    world.cache.stop().await.unwrap();
    assert!(counts.hits * 2 >= counts.reads, "half of the reads are hits: {counts:?}");
    // A server that is waited for longer than a quarter of a second is passed over, as on a machine that is out of breath.
    assert!(counts.tenures * 50 < counts.reads, "tenures go on: {counts:?}");
    world.check(place.options(policy)).await;
}

fn log_servers(policy: Policy) -> Option<Vec<Redis>> {
    let count = if policy == Policy::WriteBack { 3 } else { 0 };
    (0..count).map(|_| Redis::log()).collect()
}

/// Breaks cache servers in turn, and now and then a log server, until there was enough of everything.
async fn break_servers(world: &World, caches: &mut [Redis], logs: &mut [Redis], faults: &Faults) {
    let kinds = CacheFault::ALL.len() + if logs.is_empty() { 0 } else { LOG_FAULTS };
    let is_enough = || {
        let of_each = faults.rarest(kinds) >= effort::short_or_long(0, MIN_OF_EACH);
        let counts = world.table.counts();
        faults.total() >= MIN_FAULTS
            && of_each
            && counts.reads >= min_reads()
            && counts.tenures >= MIN_TENURES
    };
    let mut times = 0;
    while !is_enough() {
        let has_all_struck = CacheFault::strike_in_turn(times, caches, faults).await;
        if effort::is_long() && has_all_struck && !logs.is_empty() {
            let log = times % logs.len();
            break_log(&mut logs[log], faults).await;
        }
        rest(has_all_struck).await;
        times += 1;
    }
}

fn min_reads() -> u64 {
    effort::short_or_long(0, 100_000)
}

async fn clients_of_broken_servers_see_nothing_stale(policy: Policy, placement: Placement) {
    let place = Place::new();
    let Some(mut caches) = (0..2).map(|_| Redis::cache()).collect::<Option<Vec<Redis>>>() else { return };
    let Some(mut logs) = log_servers(policy) else { return };
    let world = World::open(with_servers(place.options(policy), placement, &caches, &logs)).await;
    let (is_over, faults) = (Arc::new(AtomicBool::new(false)), Faults::default());
    let working = tokio::spawn({
        let (world, is_over) = (world.clone(), is_over.clone());
        async move {
            let mut round = 0;
            while round == 0 || !is_over.load(Ordering::Relaxed) {
                work(&world, round, 500, read_percent()).await;
                round += 1;
            }
        }
    });
    break_servers(&world, &mut caches, &mut logs, &faults).await;
    is_over.store(true, Ordering::Relaxed);
    working.await.unwrap();
    world.cached_is_fresh().await;
    let (counts, behind, unknown) =
        (world.table.counts(), world.behind_writes(), world.unknown.load(Ordering::Relaxed));
    println!("{policy:?}, {faults:?}: {counts:?}, {behind} reads behind a write, {unknown} writes unknown");
    world.cache.stop().await.unwrap();
    if effort::is_long() {
        world.means_something(counts.reads, counts.hits);
    }
    world.check(place.options(policy)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_around_over_redis_shows_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteAround, Placement::OfRange).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_through_over_redis_shows_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteThrough, Placement::OfRange).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_back_over_redis_shows_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteBack, Placement::OfRange).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cache_servers_that_share_results_show_nothing_stale() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        clients_see_nothing_stale(policy, Placement::Hashed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_cache_servers_that_share_results_show_nothing_stale() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        clients_of_broken_servers_see_nothing_stale(policy, Placement::Hashed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_cache_servers_show_nothing_stale() {
    clients_of_broken_servers_see_nothing_stale(Policy::WriteAround, Placement::OfRange).await;
    clients_of_broken_servers_see_nothing_stale(Policy::WriteThrough, Placement::OfRange).await;
    clients_of_broken_servers_see_nothing_stale(Policy::WriteBack, Placement::OfRange).await;
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
        let world = World::open(with_servers(
            place.options(policy),
            Placement::OfRange,
            std::slice::from_ref(&server),
            &[],
        ))
        .await;
        let row = |place: i64| [("place", place.into()), ("version", 1.into()), ("other", 1.into())];
        world.table.insert(row(1)).await.unwrap();
        assert_eq!(world.table.get("place", 0..=9).await.unwrap().len(), 1);
        server.kill();
        let (pulse, start) = (Pulse::start(), Instant::now());
        assert_eq!(world.table.get("place", 0..=9).await.unwrap().len(), 1);
        world.table.insert(row(2)).await.unwrap();
        assert_eq!(world.table.get("place", 0..=9).await.unwrap().len(), 2);
        let verdict = if start.elapsed() <= Duration::from_secs(1) { "PASS" } else { "FAIL" };
        println!("{policy:?}: requests go on after {:?}, at most a second: {verdict}", start.elapsed());
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_go_on_past_servers_that_share_results_until_all_are_back() {
    for lost in 0..2 {
        let place = Place::new();
        let Some(mut servers) = (0..2).map(|_| Redis::cache()).collect::<Option<Vec<Redis>>>() else {
            return;
        };
        let options = with_servers(place.options(Policy::WriteThrough), Placement::Hashed, &servers, &[]);
        let world = World::open(options).await;
        let row = |place: i64| [("place", place.into()), ("version", 1.into()), ("other", 1.into())];
        world.table.insert(row(0)).await.unwrap();
        // Of so many, some are on either server.
        let all_show = async |count: usize| {
            for end in 100..108 {
                assert_eq!(world.table.get("place", 0..=end).await.unwrap().len(), count);
            }
        };
        all_show(1).await;
        servers[lost].kill();
        for added in 1..=60_u8 {
            world.table.insert(row(added.into())).await.unwrap();
            all_show(1 + usize::from(added)).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let counts = world.table.counts();
        println!("without server {lost} for three seconds: {counts:?}");
        assert!(counts.bypasses >= 1 && counts.tenures <= 5, "it is not tried in vain: {counts:?}");
        servers[lost].restart();
        let start = Instant::now();
        while world.table.counts().hits == counts.hits {
            assert_eq!(world.table.get("place", 0..=100).await.unwrap().len(), 61);
            assert!(start.elapsed() < AT_MOST, "{:?}", world.table.counts());
        }
        world.cache.stop().await.unwrap();
    }
}
