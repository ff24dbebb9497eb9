//! Keys in another form than the one that a result shows: a write finds its row by them, so results follow it.

use std::sync::Arc;

use lacuna_cache::sql::{DomainType, Options, Schema, SqlValue, WriteError};
use lacuna_cache_protocol::Policy;
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::values::sqlite;
use crate::sql::world::{Place, patient};

/// Type of the key, its value in SQL, and the same in another form.
type Case = (&'static str, &'static str, SqlValue);

fn decimal(text: &str) -> SqlValue {
    SqlValue::decimal(text).unwrap()
}

fn schema() -> Schema {
    Schema::new("things", "id").with_domain("place", DomainType::Integer)
}

async fn names(options: &Options) -> Vec<String> {
    let cache = options.clone().open().await.unwrap();
    let rows = cache.table(schema()).await.unwrap().get("place", 0..=9).await.unwrap();
    cache.stop().await.unwrap();
    rows.iter().map(|row| row.text("name").unwrap().to_owned()).collect()
}

/// An update and a deletion of a row that is named in another form either change the results that show it, or nothing.
async fn writes_show(url: &str, (column, stored, form): Case, policy: Policy) {
    let what = format!("{column} {stored}, named {form:?}, {policy:?}");
    let options = patient(url).with_policy(policy).with_log_server(Arc::new(MemoryLog::default()));
    let cache = options.clone().open().await.unwrap();
    let sql = format!(
        "DROP TABLE IF EXISTS things; CREATE TABLE things (id {column} NOT NULL PRIMARY KEY, place BIGINT, name VARCHAR(20)); \
         INSERT INTO things VALUES ({stored}, 5, 'old')"
    );
    cache.run_sql(&sql).await.unwrap();
    let things = cache.table(schema()).await.unwrap();
    assert_eq!(things.get("place", 0..=9).await.unwrap()[0].text("name"), Some("old"), "{what}");
    let row = things.known_row([("id", form), ("place", 5.into())]).unwrap();
    let is_refused = |written: Result<(), WriteError>| match written {
        Ok(()) => false,
        Err(WriteError::Refused(_)) => true,
        Err(error) => panic!("{what}: {error}"),
    };
    let updated = is_refused(things.update(&row, [("name", "new".into())]).await);
    let cached = things.get("place", 0..=9).await.unwrap();
    let cached: Vec<Option<&str>> = cached.iter().map(|row| row.text("name")).collect();
    assert_eq!(cached, [Some(if updated { "old" } else { "new" })], "{what}");
    let deleted = is_refused(things.delete(&row).await);
    assert_eq!(things.get("place", 0..=9).await.unwrap().is_empty(), !deleted, "{what}");
    cache.stop().await.unwrap();
    assert_eq!(names(&options).await.is_empty(), !deleted, "{what}: what the database has");
}

async fn all_writes_show(url: &str, cases: &[Case]) {
    for case in cases {
        for policy in [Policy::WriteThrough, Policy::WriteBack] {
            writes_show(url, case.clone(), policy).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_named_in_another_form_is_changed_in_results_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    let cases = [
        ("BIGINT", "7", "7".into()),
        ("BIGINT", "7", SqlValue::Unsigned(7)),
        ("BIGINT", "7", decimal("7.0")),
        ("NUMERIC", "1.00", decimal("1.0")),
        ("NUMERIC(10,2)", "1.00", "1.0".into()),
        ("DOUBLE PRECISION", "0", (-0.0).into()),
        ("DATE", "'2024-05-01'", "2024-05-01".into()),
        ("UUID", "'00000000-0000-4000-8000-00000000000a'", "00000000-0000-4000-8000-00000000000A".into()),
        ("INET", "'10.0.0.1'", "10.0.0.1/32".into()),
    ];
    all_writes_show(&server.url(), &cases).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_named_in_another_form_is_changed_in_results_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    let cases = [
        ("BIGINT", "7", "7".into()),
        ("BIGINT UNSIGNED", "7", SqlValue::Unsigned(7)),
        ("BIGINT", "7", decimal("7.0")),
        ("DECIMAL(10,2)", "1.00", "1.0".into()),
        ("DOUBLE", "0", (-0.0).into()),
        ("DATE", "'2024-05-01'", "2024-05-01".into()),
        ("VARCHAR(20)", "'Anna'", "anna".into()),
        ("VARCHAR(20)", "'Anna'", "Anna ".into()),
        ("CHAR(36)", "'x'", "X".into()),
    ];
    all_writes_show(&server.url(), &cases).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_named_in_another_form_is_changed_in_results_on_sqlite() {
    let cases = [
        ("INTEGER", "7", "7".into()),
        ("INTEGER", "7", 7.0.into()),
        ("REAL", "7", 7.into()),
        ("REAL", "0", (-0.0).into()),
        ("NUMERIC", "7", "7.0".into()),
        ("TEXT", "'7'", 7.into()),
        ("TEXT COLLATE NOCASE", "'Anna'", "anna".into()),
    ];
    let place = Place::new();
    all_writes_show(&sqlite(&place), &cases).await;
}
