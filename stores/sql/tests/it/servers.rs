//! PostgreSQL and MariaDB: the same clients and the same checker, and two processes that want one table.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_core::ErrorKind;
use lacuna_range_cache::Policy;
use lacuna_store_redis::{RedisCache, RedisLog};
use lacuna_store_sql::{Options, WriteError};
use lacuna_test_servers::{MariaDb, Postgres, Redis};
use lacuna_testkit::effort;

use crate::world::{Dialect, World};

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
        let mut options = Options::new(url).policy(policy);
        if let (Policy::WriteBack, Some(cache)) = (policy, &cache) {
            options = options.cache_server(Arc::new(RedisCache::new(&cache.url(), "test").unwrap()));
            for log in &logs {
                options = options.log_server(Arc::new(RedisLog::new(&log.url(), "test").unwrap()));
            }
        }
        let fresh = Options::new(url).open().await.unwrap();
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

/// The second is told that the table is another's, and has it soon after the first is gone.
async fn two_processes_want_one_table(url: &str) {
    let first = World::open_in(Dialect::Postgres, Options::new(url)).await;
    let row = |place: i64| [("place", place.into()), ("version", 1.into()), ("other", 1.into())];
    first.table.insert(row(1_000)).await.unwrap();
    let second = World::open_in(Dialect::Postgres, Options::new(url)).await;
    let refused = second.table.insert(row(1_001)).await;
    assert!(matches!(refused, Err(WriteError::NotDone(_))), "{refused:?}");
    assert_eq!(second.table.get("place", 1_000..).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(first.table.get("place", 1_000..).await.unwrap().len(), 1, "the first goes on");
    first.cache.stop().await.unwrap();
    let start = Instant::now();
    second.table.insert(row(1_001)).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(3), "it was given back: {:?}", start.elapsed());
    assert_eq!(second.table.get("place", 1_000..).await.unwrap().len(), 2);
    second.cache.stop().await.unwrap();
}
