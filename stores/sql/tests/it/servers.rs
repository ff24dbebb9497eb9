//! PostgreSQL and MariaDB: the same clients and the same checker, and two processes that want one table.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_core::ErrorKind;
use lacuna_range_cache::Policy;
use lacuna_store_redis::{RedisCache, RedisLog};
use lacuna_store_sql::{Options, WriteError};
use lacuna_test_servers::{MariaDb, Postgres, Redis};
use lacuna_testkit::effort;

use crate::world::{AT_MOST, Dialect, World, patient};

const CLIENTS: u64 = 8;

async fn clients_see_nothing_stale(dialect: Dialect, options: Options) {
    let world = World::open_in(dialect, options.clone()).await;
    let operations = effort::short_or_long(300, 12_000);
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(Arc::clone(&world).client(effort::rng(500 + client), operations, 93));
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let counts = world.table.counts();
    println!("{dialect:?}: {counts:?}");
    assert!(counts.hits * 2 >= counts.reads, "half of the reads are hits: {counts:?}");
    world.cached_is_fresh().await;
    world.cache.stop().await.unwrap();
    world.check(options).await;
}

/// Write-around and write-through with memory, write-back with Redis; each after the other in one database.
async fn every_policy(dialect: Dialect, url: &str) {
    let cache = Redis::cache();
    let logs: Vec<Redis> = (0..2).filter_map(|_| Redis::log()).collect();
    let drop_tables = "DROP TABLE IF EXISTS slots; DROP TABLE IF EXISTS states";
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let mut options = patient(url).policy(policy);
        if let (Policy::WriteBack, Some(cache)) = (policy, &cache) {
            options = options.cache_server(Arc::new(RedisCache::new(&cache.url(), "test").unwrap()));
            for log in &logs {
                options = options.log_server(Arc::new(RedisLog::new(&log.url(), "test").unwrap()));
            }
        }
        let fresh = patient(url).open().await.unwrap();
        fresh.run_sql(drop_tables).await.unwrap();
        fresh.stop().await.unwrap();
        clients_see_nothing_stale(dialect, options).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_shows_nothing_stale() {
    let Some(server) = Postgres::start() else { return };
    every_policy(Dialect::Postgres, &server.url()).await;
    two_processes_want_one_table(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_shows_nothing_stale() {
    let Some(server) = MariaDb::start() else { return };
    every_policy(Dialect::MariaDb, &server.url()).await;
}

/// The second is told that the table is another's, and has it once the first is gone. Where the first was out of breath for
/// longer than its lease, the second has it before: whether that was so is not to be seen, so another try is made.
async fn two_processes_want_one_table(url: &str) {
    for round in 0..5 {
        if is_refused_until_it_is_free(url, 1_000 * (round + 1)).await {
            return;
        }
    }
    panic!("a second process has had the table five times");
}

async fn is_refused_until_it_is_free(url: &str, place: i64) -> bool {
    let first = World::open_in(Dialect::Postgres, patient(url)).await;
    let row = |place: i64| [("place", place.into()), ("version", 1.into()), ("other", 1.into())];
    let is_done =
        |done: Result<(), WriteError>| !matches!(done, Err(WriteError::NotDone(_) | WriteError::Unknown));
    first.table.insert(row(place)).await.unwrap();
    let hasty = Options::new(url).patience(Duration::from_secs(2));
    let second = World::open_in(Dialect::Postgres, hasty).await;
    let refused = second.table.insert(row(place + 1)).await;
    let is_refused = matches!(refused, Err(WriteError::NotDone(_)))
        && second
            .table
            .get("place", place..)
            .await
            .is_err_and(|error| error.kind() == ErrorKind::Unavailable);
    if is_refused {
        assert_eq!(first.table.get("place", place..).await.unwrap().len(), 1, "the first goes on");
    }
    first.cache.stop().await.unwrap();
    let start = Instant::now();
    while !is_done(second.table.insert(row(place + 2)).await) {
        assert!(start.elapsed() < AT_MOST, "it was given back");
    }
    println!("another process has the table after {:?}", start.elapsed());
    let found = loop {
        match second.table.get("place", place + 2..).await {
            Ok(found) => break found,
            Err(error) => assert!(start.elapsed() < AT_MOST, "{error}"),
        }
    };
    assert_eq!(found.len(), 1);
    second.cache.stop().await.unwrap();
    is_refused
}
