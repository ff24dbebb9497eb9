//! Many clients at once, and a checker over what they saw.

use std::sync::Arc;

use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;

use crate::sql::world::{Place, World};

const CLIENTS: u64 = 12;

/// Clients read and write; then nothing is stale, nothing is lost, and the run meant something.
async fn clients_see_nothing_stale(policy: Policy) {
    let place = Place::new();
    let world = World::open(place.options(policy)).await;
    let operations = effort::short_or_long(1_500, 9_000);
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(Arc::clone(&world).client(effort::rng(900 + client), operations, 93));
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let counts = world.table.counts();
    println!("{policy:?}: {counts:?}");
    world.cached_is_fresh().await;
    // Under write-back the file has everything only now.
    world.cache.stop().await.unwrap();
    world.means_something(counts.reads, counts.hits);
    world.check(place.options(policy)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_around_shows_clients_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteAround).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_through_shows_clients_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteThrough).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_back_shows_clients_nothing_stale() {
    clients_see_nothing_stale(Policy::WriteBack).await;
}
