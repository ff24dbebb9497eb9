//! What changes rows besides what a write says, in places where the catalogue does not show it at once; and settings of
//! servers that change what a write means.

use std::str::FromStr as _;
use std::sync::Arc;

use lacuna_cache::sql::{Cache, DomainType, Options, Schema, Table, WriteError};
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_cache_protocol::{ErrorKind, Policy};
use lacuna_testkit::servers::{MariaDb, Postgres};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, MySqlConnection, SqliteConnection};

use crate::sql::values::sqlite;
use crate::sql::world::{Place, patient};

const TABLE: &str = "CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT, name VARCHAR(20)); \
                     INSERT INTO people VALUES (1, 20, 'Anna'), (2, 30, 'Bela')";

fn schema() -> Schema {
    Schema::new("people", "id").with_domain("age", DomainType::Integer)
}

async fn made(url: &str, sql: &str) {
    let cache = patient(url).open().await.unwrap();
    cache.run_sql(sql).await.unwrap();
    cache.stop().await.unwrap();
}

async fn opened(options: &Options) -> (Cache, Table) {
    let cache = options.clone().open().await.unwrap();
    let people = cache.table(schema()).await.unwrap();
    (cache, people)
}

/// Identifiers and ages, in the order of the ages.
async fn ages(people: &Table) -> Vec<(i64, i64)> {
    let rows = people.get("age", 0..=1_000).await.unwrap();
    rows.iter().map(|row| (row.integer("id").unwrap(), row.integer("age").unwrap())).collect()
}

/// Row 1 is updated and then deleted, while ranges with and without it are cached: the cache shows what the database has,
/// and ages above 100, which triggers make.
async fn results_follow(options: Options) -> Vec<(i64, i64)> {
    let (cache, people) = opened(&options).await;
    let beyond = async || people.get("age", 100..=200).await.unwrap().len();
    assert_eq!((ages(&people).await.len(), beyond().await), (2, 0));
    let row = people.get("age", 20..=20).await.unwrap().remove(0);
    people.update(&row, [("name", "Anne".into()), ("age", 21.into())]).await.unwrap();
    let (cached, above) = (ages(&people).await, beyond().await);
    cache.stop().await.unwrap();
    let (cache, people) = opened(&options).await;
    assert_eq!(cached, ages(&people).await, "after an update");
    assert_eq!(above, cached.iter().filter(|(_, age)| (100..=200).contains(age)).count());
    let row =
        people.get("age", 0..=1_000).await.unwrap().into_iter().find(|row| row.integer("id") == Some(1));
    // A trigger may keep the row; then the deletion is refused.
    match people.delete(&row.unwrap()).await {
        Ok(()) | Err(WriteError::Refused(_)) => {}
        Err(error) => panic!("{error}"),
    }
    let cached = ages(&people).await;
    cache.stop().await.unwrap();
    let (cache, people) = opened(&options).await;
    assert_eq!(cached, ages(&people).await, "after a deletion");
    cache.stop().await.unwrap();
    cached
}

async fn results_follow_under_all(url: &str, sql: &str) {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        made(url, &format!("DROP TABLE IF EXISTS people; {sql}")).await;
        results_follow(patient(url).with_policy(policy).with_log_server(Arc::new(MemoryLog::default())))
            .await;
    }
}

#[tokio::test]
async fn a_trigger_whose_table_is_spelled_otherwise_is_found_on_sqlite() {
    let place = Place::new();
    let trigger = "CREATE TRIGGER more AFTER UPDATE ON PEOPLE WHEN NEW.age < 100 BEGIN \
                   UPDATE people SET age = NEW.age + 100 WHERE id = NEW.id; END";
    results_follow_under_all(&sqlite(&place), &format!("{TABLE}; {trigger}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn triggers_of_partitions_and_rules_are_found_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    let more = "CREATE OR REPLACE FUNCTION more() RETURNS trigger AS 'BEGIN NEW.age = NEW.age + 100; RETURN NEW; END' \
                LANGUAGE plpgsql";
    let parts = "CREATE TABLE people (id BIGINT PRIMARY KEY, age BIGINT, name VARCHAR(20)) PARTITION BY RANGE (id); \
                 CREATE TABLE part PARTITION OF people FOR VALUES FROM (0) TO (100); \
                 INSERT INTO people VALUES (1, 20, 'Anna'), (2, 30, 'Bela')";
    let trigger = "CREATE TRIGGER more BEFORE UPDATE ON part FOR EACH ROW EXECUTE FUNCTION more()";
    results_follow_under_all(&server.url(), &format!("{more}; {parts}; {trigger}")).await;
    let rule = "CREATE RULE soft AS ON DELETE TO people DO INSTEAD UPDATE people SET age = age + 100 WHERE id = OLD.id";
    results_follow_under_all(&server.url(), &format!("{TABLE}; {rule}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_marks_a_row_in_place_of_deleting_it_leaves_nothing_stale_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    let soft = "CREATE OR REPLACE FUNCTION soft() RETURNS trigger AS \
                'BEGIN UPDATE people SET age = OLD.age + 100 WHERE id = OLD.id; RETURN NULL; END' LANGUAGE plpgsql; \
                CREATE TRIGGER soft BEFORE DELETE ON people FOR EACH ROW EXECUTE FUNCTION soft()";
    results_follow_under_all(&server.url(), &format!("{TABLE}; {soft}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_the_user_may_not_see_is_expected_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    // Every user has all privileges in the database `test`.
    made(&server.url(), "CREATE DATABASE shop").await;
    let url = server.url().replace("/test", "/shop");
    // Opened once, so that the tables of the cache are there, too.
    made(&url, TABLE).await;
    let (cache, _) = opened(&patient(&url)).await;
    let user = "CREATE TRIGGER more BEFORE UPDATE ON people FOR EACH ROW SET NEW.age = NEW.age + 100; \
                CREATE USER worker@'127.0.0.1'";
    cache.run_sql(user).await.unwrap();
    cache.stop().await.unwrap();
    made(&url, "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON shop.* TO worker@'127.0.0.1'").await;
    let (_, rest) = url.split_once('@').expect("a user");
    let left =
        results_follow(patient(format!("mysql://worker@{rest}")).with_policy(Policy::WriteThrough)).await;
    assert_eq!(left, [(2, 30)], "the trigger ran, and the row was found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_is_committed_when_it_is_answered_without_autocommit_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    made(&server.url(), &format!("{TABLE}; SET GLOBAL autocommit = 0")).await;
    let (cache, people) = opened(&patient(server.url()).with_policy(Policy::WriteThrough)).await;
    let row = people.get("age", 20..=20).await.unwrap().remove(0);
    people.update(&row, [("name", "Anne".into())]).await.unwrap();
    let mut other = MySqlConnection::connect(&server.url()).await.unwrap();
    let seen: String =
        sqlx::query_scalar("SELECT name FROM people WHERE id = 1").fetch_one(&mut other).await.unwrap();
    assert_eq!(seen, "Anne");
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn texts_of_a_file_in_utf_16_are_no_ranges_on_sqlite() {
    let place = Place::new();
    let options = SqliteConnectOptions::from_str(&sqlite(&place)).unwrap().create_if_missing(true);
    let options = options.pragma("encoding", "'UTF-16le'");
    let mut file = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age BIGINT, name TEXT)")
        .execute(&mut file)
        .await
        .unwrap();
    file.close().await.unwrap();
    let cache = patient(sqlite(&place)).open().await.unwrap();
    let by_name = Schema::new("people", "id").with_domain("name", DomainType::Text);
    let refused = cache.table(by_name).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("UTF-16"), "{refused}");
    let people = cache.table(schema()).await.unwrap();
    people.insert([("id", 1.into()), ("age", 20.into()), ("name", "ā".into())]).await.unwrap();
    assert_eq!(ages(&people).await, [(1, 20)]);
    cache.stop().await.unwrap();
}
