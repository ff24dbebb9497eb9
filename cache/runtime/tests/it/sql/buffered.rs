//! Buffered writes as a database gets them: many in one message, their values written out.

use std::sync::Arc;

use crate::sql::world::patient;

use lacuna_cache::sql::{Cache, DomainType, Schema, SqlValue, Table};
use lacuna_cache_protocol::Policy;
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_testkit::servers::{MariaDb, Postgres};

/// Texts that mean something to somebody on their way.
const TEXTS: [&str; 12] = [
    "plain",
    "O'Neill",
    "back\\slash",
    "\\'",
    "'; DROP TABLE things; --",
    "$1 ? ?1 :1",
    "E'\\x41' $$ $q$",
    "",
    "Größe 日本 \u{1F600}",
    "line\nbreak\ttab\r",
    "\"double\" `tick`",
    "/* -- # */ %_",
];

async fn open(url: &str, policy: Policy) -> (Cache, Table) {
    let options = patient(url).with_policy(policy).with_log_server(Arc::new(MemoryLog::default()));
    let cache = options.open().await.unwrap();
    let table =
        cache.table(Schema::new("things", "id").with_domain("id", DomainType::Integer)).await.unwrap();
    (cache, table)
}

fn row(id: i64, text: &str, round: i64) -> [(&'static str, SqlValue); 5] {
    let number = [i64::MIN, -1, 0, i64::MAX][usize::try_from(id % 4).unwrap()];
    let float = [-0.1, 1.5e300, 5e-324, 1.0 / 3.0][usize::try_from((id + round) % 4).unwrap()];
    let bytes = vec![0u8, 39, 92, 255, u8::try_from(round).unwrap()];
    [
        ("id", id.into()),
        ("name", SqlValue::Text(format!("{text}{round}"))),
        ("weight", SqlValue::Float(float)),
        ("number", if round == 1 { SqlValue::Null } else { number.into() }),
        ("raw", SqlValue::Blob(bytes)),
    ]
}

async fn arrive_as_they_were(url: &str, text: &str, bytes: &str) {
    let cache = patient(url).open().await.unwrap();
    let columns =
        format!("id BIGINT PRIMARY KEY, name {text}, weight DOUBLE PRECISION, number BIGINT, raw {bytes}");
    cache.run_sql(&format!("DROP TABLE IF EXISTS things; CREATE TABLE things ({columns})")).await.unwrap();
    cache.stop().await.unwrap();
    let (cache, things) = open(url, Policy::WriteBack).await;
    // With all rows shown, every write is certain, and goes through the log.
    assert!(things.get("id", 0..=99).await.unwrap().is_empty());
    for (id, text) in (1..).zip(TEXTS) {
        things.insert(row(id, text, 0)).await.unwrap();
    }
    for round in 1..=2 {
        for (id, text) in (1..).zip(TEXTS) {
            let known = things.known_row([("id", id.into())]).unwrap();
            things.update(&known, row(id, text, round).into_iter().skip(1)).await.unwrap();
        }
    }
    let gone = things.known_row([("id", 1.into())]).unwrap();
    things.delete(&gone).await.unwrap();
    let writes = 3 * TEXTS.len() as u64 + 1;
    assert!(things.counts().log_calls >= writes, "{:?}", things.counts());
    cache.stop().await.unwrap();
    let (cache, things) = open(url, Policy::WriteAround).await;
    let found = things.get("id", 0..=99).await.unwrap();
    assert_eq!(found.len(), TEXTS.len() - 1);
    for ((id, text), found) in (1..).zip(TEXTS).skip(1).zip(found.iter()) {
        assert_eq!(found.values(), row(id, text, 2).map(|(_, value)| value), "{text:?}");
    }
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_arrive_in_postgres_as_they_were() {
    let Some(server) = Postgres::start() else { return };
    arrive_as_they_were(&server.url(), "TEXT", "BYTEA").await;
    // In this mode a backslash in a plain literal means the next sign.
    let (cache, _) = open(&server.url(), Policy::WriteAround).await;
    cache.run_sql("ALTER ROLE postgres SET standard_conforming_strings = off").await.unwrap();
    cache.stop().await.unwrap();
    arrive_as_they_were(&server.url(), "TEXT", "BYTEA").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_arrive_in_mariadb_as_they_were() {
    let Some(server) = MariaDb::start() else { return };
    for mode in ["''", "'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'"] {
        let cache = patient(server.url()).open().await.unwrap();
        cache.run_sql(&format!("SET GLOBAL sql_mode = {mode}")).await.unwrap();
        cache.stop().await.unwrap();
        arrive_as_they_were(&server.url(), "VARCHAR(90) CHARACTER SET utf8mb4", "BLOB").await;
    }
}
