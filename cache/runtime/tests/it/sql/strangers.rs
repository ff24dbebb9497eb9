//! Whoever writes past the cache is found: by the log of the server, or by hits that are looked at once more.

mod definitions;
mod lost;
mod triggers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::sql::{
    Cache, DomainType, Notice, Options, Policy, Schema, SqlValue, Statement, Table, open,
};
use lacuna_cache_protocol::ErrorKind;
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::world::{AT_MOST, patient};

/// Longer than the watchdog takes to look, several times.
const LOOKS: Duration = Duration::from_secs(1);
const PEOPLE: &str = "CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT NOT NULL, note TEXT)";
const OTHERS: &str = "CREATE TABLE others (id BIGINT PRIMARY KEY)";

/// Makes tables, and waits until watchdogs have heard of it: what is told by its words may be about any table.
async fn make(cache: &Cache, sql: &str) {
    cache.run_sql(sql).await.unwrap();
    tokio::time::sleep(LOOKS).await;
}

fn schema(table: &str) -> Schema {
    Schema::new(table, "id").with_domain("age", DomainType::Integer)
}

fn row(id: i64, age: i64) -> [(&'static str, SqlValue); 2] {
    [("id", id.into()), ("age", age.into())]
}

async fn count(table: &Table) -> usize {
    table.get("age", 0..=1_000).await.unwrap().len()
}

/// Until so many rows are seen; what was cached is another number.
async fn until_there_are(table: &Table, rows: usize) {
    let start = Instant::now();
    while count(table).await != rows {
        assert!(
            start.elapsed() < AT_MOST,
            "{} rows instead of {rows}: {:?}",
            count(table).await,
            table.counts()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Every way to write through the cache; 11 rows are there afterwards, of ages below 200.
async fn write_in_every_way(cache: &Cache, people: &Table) {
    for id in 0..10 {
        people.insert(row(id, 10 * id)).await.unwrap();
    }
    let first = people.first("age", 0.., 1).await.unwrap().remove(0);
    people.update(&first, [("age", 5.into())]).await.unwrap();
    let last = people.last("age", ..=90, 1).await.unwrap().remove(0);
    people.delete(&last).await.unwrap();
    people.update_range("age", 0..=50, &[("note", "CONCAT('of age ', age)")]).await.unwrap();
    people.delete_range("age", 80..=80).await.unwrap();
    let both = ["UPDATE people SET note = 'a' WHERE id = 1", "UPDATE people SET note = 'b' WHERE id = 2"];
    people.execute(&[], both.map(Statement::new).to_vec()).await.unwrap();
    let mut transaction = cache.transaction().on_all(people).begin().await.unwrap();
    let youngest = transaction.get(people, "age", 0..=5).await.unwrap().remove(0);
    transaction.update(people, &youngest, [("note", "of a transaction".into())]).await.unwrap();
    transaction.commit().await.unwrap();
    let mut load = people.bulk_load(Duration::from_secs(60)).await.unwrap();
    load.insert((20..23).map(|id| row(id, 8 * id))).await.unwrap();
    load.finish().await.unwrap();
}

/// A cache is never taken for a stranger, and a stranger always for one.
async fn strangers_are_told_from_caches(options: Options, url: &str) -> (Cache, Cache, Table) {
    let stranger = open(url).await.unwrap();
    let cache = options.with_watchdog().open().await.unwrap();
    make(&cache, PEOPLE).await;
    let people = cache.table(schema("people")).await.unwrap();
    let mut notices = people.notices();
    write_in_every_way(&cache, &people).await;
    until_there_are(&people, 11).await;
    tokio::time::sleep(LOOKS).await;
    assert_eq!(people.counts().foreign_writes, 0, "it is opened, and writes");
    make(&stranger, OTHERS).await;
    let made = people.counts().foreign_writes;
    // Nobody can tell what a definition changes that is told by its words.
    assert_eq!(made > 0, url.starts_with("mysql"), "{made}");
    stranger.run_sql("INSERT INTO others VALUES (1)").await.unwrap();
    tokio::time::sleep(LOOKS).await;
    assert_eq!(people.counts().foreign_writes, made, "another table");
    // A process that is out of breath may just have no lease.
    let (start, hits) = (Instant::now(), people.counts().hits);
    while people.counts().hits == hits {
        assert_eq!(count(&people).await, 11);
        assert!(start.elapsed() < AT_MOST, "nothing is cached: {:?}", people.counts());
    }

    stranger.run_sql("INSERT INTO people VALUES (100, 100, NULL)").await.unwrap();
    until_there_are(&people, 12).await;
    stranger.run_sql("UPDATE people SET age = 2000 WHERE id = 100").await.unwrap();
    until_there_are(&people, 11).await;
    assert!(people.counts().foreign_writes >= made + 2);
    while !matches!(notices.recv().await, Ok(Notice::BypassDetected(_))) {}
    (cache, stranger, people)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_postgres_tells_strangers_from_caches() {
    let Some(server) = Postgres::logged() else { return };
    let (cache, stranger, people) =
        strangers_are_told_from_caches(patient(server.url()), &server.url()).await;
    stranger.run_sql("TRUNCATE others, people").await.unwrap();
    until_there_are(&people, 0).await;

    // A connection that is lost, and a stranger while nobody looks.
    let cut = "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots";
    stranger.run_sql(&format!("{cut}; INSERT INTO people VALUES (1, 1, NULL)")).await.unwrap();
    until_there_are(&people, 1).await;
    stranger.run_sql("INSERT INTO people VALUES (2, 2, NULL)").await.unwrap();
    until_there_are(&people, 2).await;
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_postgres_tells_strangers_from_buffered_writes() {
    let Some(server) = Postgres::logged() else { return };
    let log = Arc::new(MemoryLog::default());
    let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log);
    let (cache, ..) = strangers_are_told_from_caches(options, &server.url()).await;
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_mariadb_tells_strangers_from_caches() {
    let Some(server) = MariaDb::logged() else { return };
    let (cache, stranger, people) =
        strangers_are_told_from_caches(patient(server.url()), &server.url()).await;
    stranger.run_sql("TRUNCATE people").await.unwrap();
    until_there_are(&people, 0).await;
    for id in 1..4 {
        stranger.run_sql("FLUSH BINARY LOGS").await.unwrap();
        stranger.run_sql(&format!("INSERT INTO people VALUES ({id}, {id}, NULL)")).await.unwrap();
        until_there_are(&people, id).await;
    }
    // The file that is followed is gone.
    stranger
        .run_sql("FLUSH BINARY LOGS; RESET MASTER; INSERT INTO people VALUES (9, 9, NULL)")
        .await
        .unwrap();
    until_there_are(&people, 4).await;
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_mariadb_tells_strangers_from_buffered_writes() {
    let Some(server) = MariaDb::logged() else { return };
    let log = Arc::new(MemoryLog::default());
    let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log);
    let (cache, ..) = strangers_are_told_from_caches(options, &server.url()).await;
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_watchdog_needs_is_said() {
    let refused = async |options: Options| options.with_watchdog().open().await.unwrap_err();
    let none = refused(Options::new("sqlite::memory:")).await;
    assert!(
        none.kind() == ErrorKind::Unsupported && none.to_string().contains("with_verified_hits"),
        "{none}"
    );
    if let Some(server) = Postgres::start() {
        let none = refused(patient(server.url())).await;
        assert!(none.kind() == ErrorKind::InvalidInput && none.to_string().contains("wal_level"), "{none}");
    }
    if let Some(server) = MariaDb::start() {
        let none = refused(patient(server.url())).await;
        assert!(none.kind() == ErrorKind::InvalidInput && none.to_string().contains("log_bin"), "{none}");
    }
    if let Some(server) = Postgres::logged() {
        let cache = patient(server.url()).with_watchdog().open().await.unwrap();
        cache
            .run_sql("CREATE UNLOGGED TABLE scratch (id BIGINT PRIMARY KEY, age BIGINT NOT NULL)")
            .await
            .unwrap();
        let none = cache.table(schema("scratch")).await.unwrap_err();
        assert!(none.kind() == ErrorKind::InvalidInput && none.to_string().contains("unlogged"), "{none}");
    }
}

#[tokio::test]
async fn hits_that_are_looked_at_once_more_find_who_writes_past_the_cache() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let cache =
            Options::new("sqlite::memory:").with_policy(policy).with_verified_hits(50).open().await.unwrap();
        cache.run_sql(PEOPLE).await.unwrap();
        let people = cache.table(schema("people")).await.unwrap();
        people.insert(row(1, 1)).await.unwrap();
        for _ in 0..20 {
            assert_eq!(count(&people).await, 1);
        }
        let counts = people.counts();
        assert!(counts.verified >= 8 && counts.foreign_writes == 0, "{policy:?}: {counts:?}");
        cache.run_sql("INSERT INTO people VALUES (2, 2, NULL)").await.unwrap();
        until_there_are(&people, 2).await;
        for _ in 0..20 {
            assert_eq!(count(&people).await, 2);
        }
        let counts = people.counts();
        assert!(counts.foreign_writes == 1 && counts.hits > counts.verified, "{policy:?}: {counts:?}");
        cache.stop().await.unwrap();
    }
}
