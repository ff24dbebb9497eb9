//! Texts of more than 65,535 bytes, as values by which rows are found and as other values.

use std::sync::Arc;

use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{Cache, DomainType, Options, Policy, Rows, Schema, Table, WriteError};
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};

use crate::sql::values::sqlite;
use crate::sql::world::{AT_MOST, Place, patient};

const LENGTHS: [usize; 4] = [65_535, 65_536, 70_000, 200_000];

/// Letters that do not compress, so that a database has to keep all of them.
fn texts() -> [String; 4] {
    let mut rng = effort::rng(511);
    LENGTHS
        .map(|len| (0..len).map(|_| char::from(b"0123456789abcdefghijklmnopqrstuv"[rng.index(32)])).collect())
}

/// A text that differs from this one in its last letter alone.
fn beside(text: &str) -> String {
    format!("{}!", &text[..text.len() - 1])
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

fn schema() -> Schema {
    Schema::new("things", "id").with_domain("name", DomainType::Text)
}

async fn opened(options: Options, columns: &str) -> (Cache, Table) {
    let cache = options.open().await.unwrap();
    cache.run_sql(&format!("DROP TABLE IF EXISTS things; CREATE TABLE things ({columns})")).await.unwrap();
    let things = cache.table(schema()).await.unwrap();
    (cache, things)
}

async fn named(things: &Table, name: &str) -> Rows {
    things.get("name", name..=name).await.unwrap()
}

/// Whether the only row of this name is the one with this number, and has the note of its name.
fn is_alone(found: &Rows, id: i64, name: &str) -> bool {
    match &found[..] {
        [row] => {
            let note = reversed(name);
            row.integer("id") == Some(id)
                && row.text("name") == Some(name)
                && row.text("note") == Some(note.as_str())
        }
        _ => false,
    }
}

/// Rows are put in, found, changed and deleted by long texts. Comparisons are not printed: they are long.
async fn long_texts_round_trip(options: Options, text: &str, what: &str) {
    let columns = format!("id BIGINT PRIMARY KEY, name {text}, note {text}");
    let (cache, things) = opened(options, &columns).await;
    for (id, name) in (1_i64..).zip(&texts()) {
        let what = format!("seed {}, {what}, {} bytes", effort::seed(), name.len());
        assert!(named(&things, name).await.is_empty(), "{what}: it is not there yet");
        let row = [("id", id.into()), ("name", name.as_str().into()), ("note", reversed(name).into())];
        things.insert(row).await.unwrap();
        for round in ["first", "second"] {
            assert!(is_alone(&named(&things, name).await, id, name), "{what}: the {round} read");
        }
        let other = beside(name);
        assert!(named(&things, &other).await.is_empty(), "{what}: it has another last letter");

        let row = named(&things, name).await.remove(0);
        let moved = [("name", other.as_str().into()), ("note", reversed(&other).into())];
        things.update(&row, moved).await.unwrap();
        assert!(named(&things, name).await.is_empty(), "{what}: it has left its place");
        assert!(is_alone(&named(&things, &other).await, id, &other), "{what}: it is at its new place");

        let row = named(&things, &other).await.remove(0);
        if id % 2 == 0 {
            things.delete(&row).await.unwrap();
            assert!(named(&things, &other).await.is_empty(), "{what}: it is deleted");
        }
    }
    let counts = things.counts();
    assert!(counts.hits > 0, "{what}: {counts:?}");
    let kept = things.get::<&str>("name", ..).await.unwrap();
    cache.stop().await.unwrap();
    assert_eq!(kept.len(), 2, "{what}");
}

/// Which texts the database takes as primary keys; a refusal says why.
async fn taken_as_primary_keys(options: Options, text: &str, what: &str) -> usize {
    let columns = format!("id {text} NOT NULL PRIMARY KEY, name BIGINT, note {text}");
    let cache = options.open().await.unwrap();
    cache.run_sql(&format!("DROP TABLE IF EXISTS things; CREATE TABLE things ({columns})")).await.unwrap();
    let schema = Schema::new("things", "id").with_domain("name", DomainType::Integer);
    let things = cache.table(schema).await.unwrap();
    let mut taken = 0;
    for (name, id) in (1_i64..).zip(&texts()) {
        let row = [("id", id.as_str().into()), ("name", name.into()), ("note", "old".into())];
        match things.insert(row).await {
            Ok(()) => {}
            Err(WriteError::Refused(why)) => {
                assert!(!why.to_string().is_empty(), "{what}");
                println!("{what}, {} bytes: {why}", id.len());
                assert!(things.get("name", name..=name).await.unwrap().is_empty(), "{what}");
                continue;
            }
            Err(other) => panic!("{what}, {} bytes: {other:?}", id.len()),
        }
        taken += 1;
        let row = things.get("name", name..=name).await.unwrap().remove(0);
        assert!(row.text("id") == Some(id.as_str()), "{what}, {} bytes", id.len());
        things.update(&row, [("note", "new".into())]).await.unwrap();
        let found = things.get("name", name..=name).await.unwrap();
        let notes: Vec<Option<&str>> = found.iter().map(|row| row.text("note")).collect();
        assert_eq!(notes, [Some("new")], "{what}, {} bytes", id.len());
        things.delete(&found[0]).await.unwrap();
        assert!(things.get("name", name..=name).await.unwrap().is_empty(), "{what}, {} bytes", id.len());
    }
    cache.stop().await.unwrap();
    taken
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_found_by_all_their_bytes_on_sqlite() {
    let policies = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];
    for (policy, is_in_redis) in policies.into_iter().flat_map(|policy| [(policy, false), (policy, true)]) {
        let place = Place::new();
        let mut options = place.options(policy);
        let server = if is_in_redis { Redis::cache() } else { None };
        if let Some(server) = &server {
            let redis = RedisCache::new(&server.url(), "long").unwrap();
            options = options.with_cache_server(Arc::new(redis.with_patience(AT_MOST)));
        }
        let what = format!("{policy:?}, in Redis: {}", server.is_some());
        long_texts_round_trip(options, "TEXT", &what).await;
    }
    let place = Place::new();
    let taken = taken_as_primary_keys(patient(sqlite(&place)), "TEXT", "SQLite").await;
    assert_eq!(taken, LENGTHS.len(), "SQLite has keys of any length");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_found_by_all_their_bytes_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    for policy in [Policy::WriteAround, Policy::WriteThrough] {
        let what = format!("PostgreSQL, {policy:?}");
        long_texts_round_trip(patient(server.url()).with_policy(policy), "TEXT", &what).await;
    }
    let taken = taken_as_primary_keys(patient(server.url()), "TEXT", "PostgreSQL").await;
    assert_eq!(taken, 0, "an index of PostgreSQL has no such long entries");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_found_by_all_their_bytes_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    let text = "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
    for policy in [Policy::WriteAround, Policy::WriteThrough] {
        let what = format!("MariaDB, {policy:?}");
        long_texts_round_trip(patient(server.url()).with_policy(policy), text, &what).await;
    }
    // A column that is too short for a text.
    let columns =
        "id BIGINT PRIMARY KEY, name TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, note BIGINT";
    let (cache, things) = opened(patient(server.url()), columns).await;
    let [longest, longer, ..] = texts();
    things.insert([("id", 1.into()), ("name", longest.as_str().into())]).await.unwrap();
    assert_eq!(named(&things, &longest).await.len(), 1);
    let refused = things.insert([("id", 2.into()), ("name", longer.as_str().into())]).await;
    let why = match refused {
        Err(WriteError::Refused(why)) => why.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(why.contains("name") || why.contains("too long"), "{why}");
    assert!(named(&things, &longer).await.is_empty());
    cache.stop().await.unwrap();
}
