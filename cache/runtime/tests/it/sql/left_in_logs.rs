//! Acknowledged writes that are in the logs alone: they are applied, or refused with a reason, and never void.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::cluster::{Dendrite, Membership, Net, Secret};
use lacuna_cache::sql::{Cache, DomainType, ErrorKind, Options, Rows, Schema, SqlValue, Table};
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_cache_protocol::{Policy, Result};
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::world::{AT_MOST, patient};

async fn things(cache: &Cache) -> Table {
    cache.table(Schema::new("things", "id").with_domain("id", DomainType::Integer)).await.unwrap()
}

async fn ids(things: &Table) -> Vec<i64> {
    let rows = things.get("id", 0..=99).await.unwrap();
    rows.iter().map(|row| row.integer("id").unwrap()).collect()
}

/// Acknowledges three writes while `lock` keeps the database from taking them, and dies.
fn dies_with_buffered_writes(options: Options, url: &str, lock: &str) {
    let runtime = runtime();
    let stranger = runtime.block_on(patient(url).open()).unwrap();
    runtime.block_on(stranger.run_sql("CREATE TABLE things (id BIGINT PRIMARY KEY, n BIGINT)")).unwrap();
    let (cache, table) = runtime.block_on(async {
        let cache = options.open().await.unwrap();
        let table = things(&cache).await;
        assert!(ids(&table).await.is_empty());
        (cache, table)
    });
    let lock = lock.to_owned();
    runtime.spawn(async move { stranger.run_sql(&lock).await });
    runtime.block_on(async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let start = Instant::now();
        for id in 1..=3 {
            table.insert([("id", id.into()), ("n", 0.into())]).await.unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(3), "they were buffered");
    });
    runtime.shutdown_background();
    drop((cache, table));
}

async fn are_kept_for_who_has_the_logs(url: &str, lock: &'static str) {
    let log = Arc::new(MemoryLog::default());
    let with_logs = || patient(url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let (options, place) = (with_logs(), url.to_owned());
    tokio::task::spawn_blocking(move || dies_with_buffered_writes(options, &place, lock)).await.unwrap();
    for policy in [Policy::WriteThrough, Policy::WriteAround] {
        let without = Options::new(url).with_policy(policy).open().await.unwrap();
        let table = things(&without).await;
        let refused = table.get("id", 0..=99).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        assert!(refused.to_string().contains("the same log servers"), "{refused}");
        let written = table.insert([("id", 9.into()), ("n", 0.into())]).await.unwrap_err();
        assert!(written.to_string().contains("the same log servers"), "{written}");
        without.stop().await.unwrap();
    }
    let cache = with_logs().open().await.unwrap();
    assert_eq!(ids(&things(&cache).await).await, [1, 2, 3], "none is void");
    cache.stop().await.unwrap();
    // After an end in order no logs are needed.
    let without = patient(url).open().await.unwrap();
    let table = things(&without).await;
    table.insert([("id", 4.into()), ("n", 0.into())]).await.unwrap();
    assert_eq!(ids(&table).await, [1, 2, 3, 4]);
    without.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_postgres_lacks_is_kept_for_who_has_the_logs() {
    let Some(server) = Postgres::start() else { return };
    let lock = "BEGIN; LOCK TABLE things IN EXCLUSIVE MODE; SELECT pg_sleep(4); COMMIT";
    are_kept_for_who_has_the_logs(&server.url(), lock).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_mariadb_lacks_is_kept_for_who_has_the_logs() {
    let Some(server) = MariaDb::start() else { return };
    let lock = "LOCK TABLES things WRITE; DO SLEEP(4); UNLOCK TABLES";
    are_kept_for_who_has_the_logs(&server.url(), lock).await;
}

/// It waits for a database that is started again, and says so if that takes too long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_without_the_database_says_that_writes_are_left() {
    let Some(mut server) = Postgres::start() else { return };
    let (url, log) = (server.url(), Arc::new(MemoryLog::default()));
    let options = || patient(&url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options().open().await.unwrap();
    cache.run_sql("CREATE TABLE things (id BIGINT PRIMARY KEY, n BIGINT)").await.unwrap();
    let table = things(&cache).await;
    assert!(ids(&table).await.is_empty());
    server.kill();
    for id in 1..=3 {
        table.insert([("id", id.into()), ("n", 0.into())]).await.unwrap();
    }
    let start = Instant::now();
    let left = cache.stop().await.unwrap_err();
    assert!(left.kind() == ErrorKind::Unavailable && left.to_string().contains("stay in the logs"), "{left}");
    assert!((5..AT_MOST.as_secs()).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    server.restart();
    let cache = options().open().await.unwrap();
    assert_eq!(ids(&things(&cache).await).await, [1, 2, 3]);
    cache.stop().await.unwrap();
}

fn schema() -> Schema {
    Schema::new("things", "id").with_domain("id", DomainType::Integer)
}

/// A dendrite of a process of its own, and the table as clients of that process see it.
async fn dendrite(options: Options, address: &str) -> (Cache, Dendrite, Table) {
    let cache = options.open().await.unwrap();
    cache.run_sql("CREATE TABLE IF NOT EXISTS things (id BIGINT PRIMARY KEY, n BIGINT)").await.unwrap();
    let cuts = schema().cut_before(&[SqlValue::Integer(1_000)]).unwrap();
    let ranges = Arc::new(cache.shared_ranges("things", &cuts, address).await.unwrap());
    let transport =
        Arc::new(Net::new(Secret::new(b"what all dendrites of the tests know").unwrap(), "things"));
    let membership = Membership { directory: ranges.clone(), transport, address: address.to_owned() };
    let dendrite = cache.dendrite(schema(), ranges, membership).await.unwrap();
    let table = cache.table_over(schema(), Arc::new(dendrite.clone())).await.unwrap();
    (cache, dendrite, table)
}

/// It has lost its lease before it is stopped, and no claim succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dendrite_that_lost_its_lease_says_that_writes_are_left() {
    let Some(mut server) = Postgres::start() else { return };
    let (url, log) = (server.url(), Arc::new(MemoryLog::default()));
    let options = || patient(&url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let start = || dendrite(options(), "127.0.0.1:1");
    let (cache, dendrite, table) = start().await;
    assert!(ids(&table).await.is_empty());
    server.kill();
    for id in 1..=3 {
        table.insert([("id", id.into()), ("n", 0.into())]).await.unwrap();
    }
    // The lease is lost after three seconds, and the claim that follows has five.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let left = dendrite.stop().await.unwrap_err();
    assert!(left.to_string().contains("stay in the logs"), "{left}");
    drop((table, cache));
    server.restart();
    let (cache, dendrite, table) = start().await;
    assert_eq!(ids(&table).await, [1, 2, 3]);
    drop(table);
    dendrite.stop().await.unwrap();
    cache.stop().await.unwrap();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A dendrite has buffered writes and dies.
fn a_dendrite_dies_with_buffered_writes(options: Options, server: &mut Postgres) {
    let runtime = runtime();
    let (cache, dendrite, table) = runtime.block_on(dendrite(options, "127.0.0.1:1"));
    assert!(runtime.block_on(ids(&table)).is_empty());
    server.kill();
    for id in 1..=3 {
        runtime.block_on(table.insert([("id", id.into()), ("n", 0.into())])).unwrap();
    }
    runtime.shutdown_background();
    drop((cache, dendrite, table));
    server.restart();
}

/// Asks until the answer is one that is waited for.
async fn until<T>(table: &Table, wanted: impl Fn(Result<Rows>) -> Result<T>) -> T {
    let start = Instant::now();
    loop {
        match wanted(table.get("id", 0..=99).await) {
            Ok(found) => return found,
            Err(why) => assert!(start.elapsed() < AT_MOST, "{why}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// It may not serve, and keeps the range from no other, however often it is asked.
async fn leaves_the_range(url: &str, with_logs: Options) {
    let without = Options::new(url).with_patience(Duration::from_secs(1));
    let (without, poor, shown) = dendrite(without, "127.0.0.1:2").await;
    let refused = until(&shown, |read| match read {
        Err(why) if why.kind() == ErrorKind::Conflict => Ok(why),
        other => Err(other.expect_err("it has no logs")),
    });
    let refused = refused.await;
    assert!(refused.to_string().contains("the same log servers"), "{refused}");
    let asking = shown.clone();
    let asked = tokio::spawn(async move {
        loop {
            drop(asking.get("id", 0..=99).await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let (cache, rich, table) = dendrite(with_logs, "127.0.0.1:3").await;
    assert_eq!(ids(&table).await, [1, 2, 3], "none is void");
    rich.stop().await.unwrap();
    asked.abort();
    // After an end in order no logs are needed.
    assert_eq!(until(&shown, |read| read).await.len(), 3);
    drop((table, shown));
    poor.stop().await.unwrap();
    cache.stop().await.unwrap();
    without.stop().await.unwrap();
}

#[test]
fn a_dendrite_without_logs_leaves_a_range_to_one_that_has_them() {
    let Some(mut server) = Postgres::start() else { return };
    let (url, log) = (server.url(), Arc::new(MemoryLog::default()));
    let with_logs = || patient(&url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    // The server goes with the thread that starts it.
    a_dendrite_dies_with_buffered_writes(with_logs(), &mut server);
    runtime().block_on(leaves_the_range(&url, with_logs()));
}
