//! One of three log servers is gone while dendrites buffer writes, and later a dendrite with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;

use crate::team::{AT_MOST, Leases, Process, Team};
use crate::world::{Dialect, KEYS, World, make_tables, patient, schema};

const CLIENTS: u64 = 6;
/// How long clients wait for what is broken.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until so many more writes were acknowledged.
async fn acknowledged(world: &World, more: u64) {
    let (start, before) = (Instant::now(), world.table.counts().writes);
    while world.table.counts().writes < before + more {
        assert!(start.elapsed() < AT_MOST, "writes are acknowledged: {:?}", world.table.counts());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn work(world: &Arc<World>, is_over: &Arc<AtomicBool>) -> tokio::task::JoinSet<()> {
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let (world, is_over, mut rng) = (world.clone(), is_over.clone(), effort::rng(800 + client));
        clients.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                world.client_among(&mut rng, 20, 70, 0..KEYS).await;
            }
        });
    }
    clients
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_server_that_dies_under_load_loses_nothing() {
    let Some(team) = Team::new(Policy::WriteBack, Leases::Database) else { return };
    let mut team = team.with_logs(3);
    let options = patient(team.store.url());
    let cache = options.clone().open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let mut dendrites = [team.start_somewhere(), team.start_somewhere()];
    let client = team.client(&dendrites.each_ref().map(Process::address)).await.with_patience(PATIENCE);
    let table = cache.table_over(schema(), Arc::new(client)).await.unwrap();
    let world = World::over(cache, table, Dialect::Postgres);
    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = work(&world, &is_over);
    let more = effort::short_or_long(100, 2_000);
    acknowledged(&world, more).await;
    team.logs[0].kill();
    acknowledged(&world, more).await;
    // What the other two logs have is what its ranges begin with.
    dendrites[1].kill();
    acknowledged(&world, more).await;
    tokio::task::block_in_place(|| team.logs[0].restart());
    dendrites[1] = tokio::task::block_in_place(|| team.start_again(&dendrites[1]));
    acknowledged(&world, more).await;
    is_over.store(true, Ordering::Relaxed);
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    world.cached_is_fresh().await;
    for dendrite in &mut dendrites {
        let ended = tokio::task::block_in_place(|| dendrite.stop());
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    println!("{:?}, {} unknown", world.table.counts(), world.unknown.load(Ordering::Relaxed));
    world.cache.stop().await.unwrap();
    world.check(options).await;
}
