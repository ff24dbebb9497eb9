//! Clients at work while dendrites are killed, paused beyond their lease and cut off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_range_cache::Policy;
use lacuna_store_sql::{Cache, Table, WriteError};
use lacuna_test_servers::free_port;
use lacuna_testkit::effort;

use crate::relay::{Mood, Relay};
use crate::team::{AT_MOST, Leases, Process, Team};
use crate::world::{Dialect, World, make_tables, patient, schema};

const CLIENTS: u64 = 8;
/// Clients go on until they have read so much, however slow the machine is.
const FEWEST_READS: u64 = 4_000;
/// How long clients wait for what is broken.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longer than others wait before they take the ranges of a dendrite that says nothing.
const PAUSE: Duration = Duration::from_millis(6_500);

/// All ranges are asked for before anything is broken, so that they have spread over the dendrites by then.
async fn own_a_range_each(team: &Team, cache: &Cache, addresses: &[String]) {
    for (address, place) in addresses.iter().zip([5_i64, 20, 35]) {
        let client = Arc::new(team.client(std::slice::from_ref(address)).await);
        let table = cache.table_over(schema(), client).await.unwrap();
        assert!(table.get("place", place..=place).await.unwrap().is_empty());
    }
}

/// Clients work until it is over, each with a seed of its own.
async fn work(world: &Arc<World>, is_over: &AtomicBool) {
    let mut round = 0;
    while !is_over.load(Ordering::Relaxed) || world.table.counts().reads < FEWEST_READS {
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..CLIENTS {
            clients.spawn(Arc::clone(world).client(effort::rng(700 + CLIENTS * round + client), 60, 94));
        }
        while let Some(client) = clients.join_next().await {
            client.unwrap();
        }
        round += 1;
    }
}

/// What is done to the second, third and first of three dendrites.
async fn break_dendrites(team: &Team, dendrites: &mut [Process], relay: &Relay) -> u64 {
    let mut faults = 0;
    for _ in 0..effort::short_or_long(1, 20) {
        tokio::time::sleep(Duration::from_millis(800)).await;
        for _ in 0..3 {
            relay.set(Mood::Cut);
            tokio::time::sleep(Duration::from_millis(30)).await;
            relay.set(Mood::Passing);
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        dendrites[1].signal("STOP");
        dendrites[2].kill();
        tokio::time::sleep(PAUSE).await;
        dendrites[1].signal("CONT");
        dendrites[2] = tokio::task::block_in_place(|| team.start_again(&dendrites[2]));
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        faults += 5;
    }
    faults
}

async fn clients_see_nothing_stale(policy: Policy, leases: Leases) {
    let Some(team) = Team::new(policy, leases) else { return };
    let options = patient(team.postgres.url());
    let cache = options.clone().open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let port = free_port();
    let relay = Relay::to(&format!("127.0.0.1:{port}")).await;
    let mut dendrites =
        vec![team.start(port, Some(relay.address.clone())), team.start_somewhere(), team.start_somewhere()];
    let addresses: Vec<String> = dendrites.iter().map(Process::address).collect();
    own_a_range_each(&team, &cache, &addresses).await;
    let client = team.client(&addresses).await.with_patience(PATIENCE);
    let table = cache.table_over(schema(), Arc::new(client)).await.unwrap();
    let world = World::over(cache, table, Dialect::Postgres);
    let is_over = Arc::new(AtomicBool::new(false));
    let working = tokio::spawn({
        let (world, is_over) = (world.clone(), is_over.clone());
        async move { work(&world, &is_over).await }
    });
    let faults = break_dendrites(&team, &mut dendrites, &relay).await;
    is_over.store(true, Ordering::Relaxed);
    working.await.unwrap();
    world.cached_is_fresh().await;
    let ended: Vec<_> =
        dendrites.iter_mut().map(|dendrite| tokio::task::block_in_place(|| dendrite.stop())).collect();
    let seen = world.table.counts();
    println!(
        "{policy:?}, {faults} faults, {} unknown, {seen:?}: {ended:#?}",
        world.unknown.load(Ordering::Relaxed)
    );
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:?}");
    let sum = |name: &str| ended.iter().map(|ended| ended.counts[name].as_u64().unwrap()).sum::<u64>();
    let (reads, hits, tenures) = (sum("reads"), sum("hits"), sum("tenures"));
    assert!(hits * 4 >= reads && reads > FEWEST_READS / 4, "reads are hits: {hits} of {reads}");
    assert!((reads - hits) * 10 >= reads, "and a tenth are not: {hits} of {reads}");
    // Each may miss once a tenure without any write: of those there are enough, too.
    let writes = sum("writes");
    assert!(writes * 50 >= reads, "one of fifty is a write: {writes} beside {reads}");
    // Whoever was killed took its counts with it; its ranges are others' since.
    assert!(sum("peer_calls") > 0 && tenures >= 3, "{ended:?}");
    world.cache.stop().await.unwrap();
    world.check(options).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_dendrites_show_nothing_stale_under_write_through() {
    clients_see_nothing_stale(Policy::WriteThrough, Leases::Etcd).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_dendrites_show_nothing_stale_under_write_back() {
    clients_see_nothing_stale(Policy::WriteBack, Leases::Database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_dendrites_show_nothing_stale_under_write_around() {
    if effort::is_long() {
        clients_see_nothing_stale(Policy::WriteAround, Leases::Etcd).await;
    }
}

/// A dendrite that has returned owns a range some time later, though nobody asks it.
async fn gets_its_share(team: &Team, before: &Process, table: &Table) {
    let mut back = tokio::task::block_in_place(|| team.start_again(before));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        assert_eq!(table.get("place", 0..40).await.unwrap().len(), 3);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ended = tokio::task::block_in_place(|| back.stop());
    assert!(ended.counts["tenures"].as_u64() > Some(0), "{ended:?}");
    assert_eq!(table.get("place", 0..40).await.unwrap().len(), 3, "without it again");
}

/// The ranges of a dendrite that is killed are served again soon after its lease.
async fn ranges_are_served_again(leases: Leases) {
    let Some(team) = Team::new(Policy::WriteThrough, leases) else { return };
    let cache = patient(team.postgres.url()).open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let (mut first, mut second) = (team.start_somewhere(), team.start_somewhere());
    let only_first =
        cache.table_over(schema(), Arc::new(team.client(&[first.address()]).await)).await.unwrap();
    for place in [1, 20, 30] {
        let row = || [("place", place.into()), ("version", 1.into()), ("other", 0.into())];
        // One whose outcome was unknown may have put the row there already.
        while matches!(only_first.insert(row()).await, Err(WriteError::Unknown | WriteError::NotDone(_))) {}
    }
    let both = team.client(&[first.address(), second.address()]).await;
    let both = cache.table_over(schema(), Arc::new(both)).await.unwrap();
    assert_eq!(both.get("place", 0..40).await.unwrap().len(), 3);
    first.kill();
    let start = Instant::now();
    assert_eq!(both.get("place", 0..10).await.unwrap().len(), 1, "of one range");
    println!("{leases:?}: served again after {:?}", start.elapsed());
    assert_eq!(both.get("place", 0..40).await.unwrap().len(), 3, "over all ranges");
    // The bar: a second beyond the lease, of which others wait for 3.5 and 5 seconds.
    let bar = Duration::from_millis(if leases == Leases::Etcd { 6_000 } else { 4_500 });
    let verdict = if start.elapsed() <= bar { "PASS" } else { "FAIL" };
    println!("{leases:?}: all ranges after {:?}, at most {bar:?}: {verdict}", start.elapsed());
    assert!(start.elapsed() < AT_MOST, "{:?}", start.elapsed());
    if effort::is_long() {
        gets_its_share(&team, &first, &both).await;
    }
    let ended = second.stop();
    assert!(ended.code == Some(0) && ended.counts["tenures"].as_u64() >= Some(3), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranges_of_a_killed_dendrite_are_served_again() {
    ranges_are_served_again(Leases::Database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranges_of_a_killed_dendrite_are_served_again_under_etcd() {
    ranges_are_served_again(Leases::Etcd).await;
}
