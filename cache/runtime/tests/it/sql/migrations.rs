//! Columns that the database sets by itself, and columns that come while a cache is open.

use lacuna_cache::sql::{DomainType, Schema, SqlValue, Table, WriteError};
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::plain::Plain;
use crate::sql::values::{ids, sqlite, table};
use crate::sql::world::{Place, patient};

fn by_value() -> Schema {
    Schema::new("things", "id").with_domain("value", DomainType::Integer)
}

async fn insert(things: &Table, id: i64) -> Result<(), WriteError> {
    things.insert([("id", id.into()), ("value", id.into())]).await
}

/// With a default, with NULL, and at last with neither.
async fn columns_that_come_later_are_written(url: &str, count: &str) {
    let (cache, things) = table(url, "id BIGINT PRIMARY KEY, value BIGINT, note BIGINT", by_value()).await;
    assert!(ids(things.get("value", 0..=9).await).await.is_empty());
    insert(&things, 1).await.unwrap();
    let mut plain = Plain::open(url).await;
    plain.run("ALTER TABLE things ADD COLUMN bonus BIGINT DEFAULT 7").await;
    plain.run("ALTER TABLE things ADD COLUMN remark VARCHAR(9) NULL").await;
    insert(&things, 2).await.unwrap();
    let row = things.get("value", 1..=1).await.unwrap().remove(0);
    things.update(&row, [("value", 3.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 0..=9).await).await, [2, 1], "results go on to be right");

    plain.run("ALTER TABLE things ALTER COLUMN bonus DROP DEFAULT").await;
    plain.run("UPDATE things SET remark = 'r'").await;
    let required = if url.starts_with("postgres") {
        "ALTER TABLE things ALTER COLUMN bonus SET NOT NULL"
    } else {
        "ALTER TABLE things MODIFY COLUMN bonus BIGINT NOT NULL"
    };
    plain.run(required).await;
    let refused = insert(&things, 4).await;
    let why = format!("{refused:?}");
    assert!(
        matches!(refused, Err(WriteError::Refused(_))) && why.contains("bonus"),
        "it names the column: {why}"
    );
    // Named, it is written without opening the table again.
    let row = [("id", 4.into()), ("value", 4.into()), ("bonus", 9.into()), ("remark", "new".into())];
    things.insert(row).await.unwrap();
    let found = things.get("value", 0..=9).await.unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found[2].get("bonus"), None, "it is not read until the table is opened again");
    things.update(&found[2], [("bonus", 10.into()), ("value", 5.into())]).await.unwrap();
    assert!(ids(things.get("value", 4..=4).await).await.is_empty());
    assert_eq!(ids(things.get("value", 5..=5).await).await, [4]);
    assert_eq!(plain.value(count).await.as_deref(), Some("24"), "7, 7 and 10");
    // Where names are found in any spelling, this is the registered column.
    let row = things.get("value", 5..=5).await.unwrap().remove(0);
    if things.update(&row, [("VALUE", 6.into())]).await.is_ok() {
        assert_eq!(ids(things.get("value", 5..=6).await).await, [4]);
        assert_eq!(things.get("value", 5..=6).await.unwrap()[0].integer("value"), Some(6));
    }
    let unknown = things.insert([("id", 5.into()), ("value", 5.into()), ("nothing", 1.into())]).await;
    assert!(matches!(unknown, Err(WriteError::Refused(_))), "{unknown:?}");
    cache.stop().await.unwrap();
    let cache = patient(url).open().await.unwrap();
    let things = cache.table(by_value()).await.unwrap();
    assert_eq!(things.get("value", 0..=9).await.unwrap().last().unwrap().integer("bonus"), Some(10));
    cache.stop().await.unwrap();
}

/// They are read and not written, and a write of other columns changes them.
async fn generated_columns_are_read(url: &str, twice: &str) {
    let columns = format!("id BIGINT PRIMARY KEY, value BIGINT, twice {twice}");
    let schema = by_value().with_domain("twice", DomainType::Integer);
    let (cache, things) = table(url, &columns, schema).await;
    assert!(ids(things.get("twice", 0..=9).await).await.is_empty());
    insert(&things, 2).await.unwrap();
    assert_eq!(ids(things.get("twice", 4..=4).await).await, [2]);
    let row = things.get("value", 2..=2).await.unwrap().remove(0);
    assert_eq!(row.integer("twice"), Some(4));
    things.update(&row, [("value", 3.into())]).await.unwrap();
    assert!(ids(things.get("twice", 4..=4).await).await.is_empty());
    let row = things.get("twice", 6..=6).await.unwrap().remove(0);
    let refused = things.update(&row, [("twice", 1.into())]).await;
    assert!(format!("{refused:?}").contains("database alone"), "{refused:?}");
    things.delete(&row).await.unwrap();
    assert!(ids(things.get("twice", 6..=6).await).await.is_empty());
    cache.stop().await.unwrap();
}

/// Keys that the database counts up.
async fn identities_are_read(url: &str, id: &str, is_always: bool) {
    let schema = by_value().with_domain("id", DomainType::Integer);
    let (cache, things) = table(url, &format!("id {id}, value BIGINT"), schema).await;
    assert!(ids(things.get("id", 0..=9).await).await.is_empty());
    for value in 1..=2i64 {
        things.insert([("value", SqlValue::Integer(value))]).await.unwrap();
    }
    assert_eq!(ids(things.get("id", 0..=9).await).await, [1, 2]);
    let given = insert(&things, 7).await;
    assert_eq!(given.is_err(), is_always, "{given:?}");
    let row = things.get("id", 1..=1).await.unwrap().remove(0);
    things.update(&row, [("value", 5.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 5..=5).await).await, [1]);
    let known = things.known_row([("id", 2.into()), ("value", 2.into())]).unwrap();
    things.update(&known, [("value", 6.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 5..=6).await).await, [1, 2]);
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_of_postgres_that_others_set_are_seen() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    columns_that_come_later_are_written(&url, "SELECT SUM(bonus)::text FROM things").await;
    generated_columns_are_read(&url, "BIGINT GENERATED ALWAYS AS (value * 2) STORED").await;
    identities_are_read(&url, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", true).await;
    identities_are_read(&url, "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", false).await;
    identities_are_read(&url, "BIGSERIAL PRIMARY KEY", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_of_mariadb_that_others_set_are_seen() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    columns_that_come_later_are_written(&url, "SELECT CAST(SUM(bonus) AS CHAR) FROM things").await;
    generated_columns_are_read(&url, "BIGINT AS (value * 2) STORED").await;
    generated_columns_are_read(&url, "BIGINT AS (value * 2) VIRTUAL").await;
    identities_are_read(&url, "BIGINT AUTO_INCREMENT PRIMARY KEY", false).await;
}

/// A name that is no column any more is an error. Taken for a text, it would be read, or be above all numbers in a comparison.
#[tokio::test]
async fn columns_of_sqlite_that_were_renamed_are_errors() {
    let place = Place::new();
    let columns = "id INTEGER PRIMARY KEY, value INTEGER, note TEXT";
    let (cache, things) = table(&sqlite(&place), columns, by_value()).await;
    insert(&things, 1).await.unwrap();
    insert(&things, 2).await.unwrap();
    cache.run_sql("ALTER TABLE things RENAME COLUMN note TO remark").await.unwrap();
    let found = things.get("value", 0..=9).await;
    assert!(found.is_err(), "{found:?}");
    cache.run_sql("ALTER TABLE things RENAME COLUMN value TO worth").await.unwrap();
    assert!(things.delete_range("value", 5..).await.is_err());
    assert!(things.update_range("value", 5.., &[("note", "'all'")]).await.is_err());
    cache.run_sql("ALTER TABLE things RENAME COLUMN worth TO value").await.unwrap();
    cache.run_sql("ALTER TABLE things RENAME COLUMN remark TO note").await.unwrap();
    assert_eq!(ids(things.get("value", 0..=9).await).await, [1, 2], "none was deleted");
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn columns_of_sqlite_that_others_set_are_seen() {
    let place = Place::new();
    generated_columns_are_read(&sqlite(&place), "BIGINT AS (value * 2) STORED").await;
    generated_columns_are_read(&sqlite(&place), "BIGINT AS (value * 2) VIRTUAL").await;
    identities_are_read(&sqlite(&place), "INTEGER PRIMARY KEY AUTOINCREMENT", false).await;
}
