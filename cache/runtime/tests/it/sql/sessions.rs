//! What statements of an application leave in their connections, which other statements take over; and settings of a server that
//! change what a read means.

use lacuna_cache::sql::{Cache, DomainType, Schema, SqlValue, Statement, Table, WriteError};
use lacuna_cache_protocol::ErrorKind;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::plain::Plain;
use crate::sql::values::{ids, sqlite, table};
use crate::sql::world::Place;

/// More than a pool has idle connections here.
const ROUNDS: i64 = 8;

fn by_value(domain: DomainType) -> Schema {
    Schema::new("things", "id").with_domain("value", domain)
}

/// The second of each row.
async fn written_and_read(cache: &Cache, things: &Table, setting: &str) {
    for id in 0..ROUNDS {
        cache.run_sql(setting).await.unwrap();
        let second = SqlValue::Timestamp(id * 1_000_000);
        things.insert([("id", id.into()), ("value", second.clone())]).await.unwrap();
        assert_eq!(ids(things.get("value", second.clone()..=second).await).await, [id], "{setting}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_statements_set_on_postgres_ends_with_them() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    for setting in ["SET TIME ZONE 'Asia/Tokyo'", "SET search_path = pg_catalog"] {
        let columns = "id BIGINT PRIMARY KEY, value TIMESTAMP";
        let (cache, things) = table(&url, columns, by_value(DomainType::Timestamp)).await;
        written_and_read(&cache, &things, setting).await;
        let refused = things.execute(
            &[],
            vec![Statement::new("UPDATE pg_settings SET setting = 'UTC' WHERE name = 'TimeZone'")],
        );
        let refused = refused.await;
        assert!(
            matches!(&refused, Err(WriteError::Refused(why)) if why.kind() == ErrorKind::InvalidInput),
            "{refused:?}"
        );
        cache.stop().await.unwrap();
        let mut plain = Plain::open(&url).await;
        let rows =
            plain.rows("SELECT id::text FROM things WHERE value = 'epoch'::timestamp + id * '1 s'::interval");
        assert_eq!(rows.await.len(), usize::try_from(ROUNDS).unwrap(), "{setting}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_statements_set_on_mariadb_ends_with_them() {
    let Some(server) = MariaDb::start() else { return };
    let columns = "id BIGINT PRIMARY KEY, value BIGINT, name VARCHAR(3)";
    let (cache, things) = table(&server.url(), columns, by_value(DomainType::Integer)).await;
    for id in 0..ROUNDS {
        cache.run_sql("SET sql_mode = ''").await.unwrap();
        let cut = things.insert([("id", id.into()), ("value", 1.into()), ("name", "Berta".into())]).await;
        assert!(matches!(cut, Err(WriteError::Refused(_))), "{cut:?}");
    }
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_statements_set_on_sqlite_ends_with_them_in_a_file() {
    let place = Place::new();
    let columns = "id BIGINT PRIMARY KEY, value BIGINT";
    let (cache, things) = table(&sqlite(&place), columns, by_value(DomainType::Integer)).await;
    for id in 0..ROUNDS {
        cache.run_sql("PRAGMA query_only = ON; BEGIN").await.unwrap();
        things.insert([("id", id.into()), ("value", 1.into())]).await.unwrap();
    }
    assert_eq!(ids(things.get("value", 1..=1).await).await.len(), usize::try_from(ROUNDS).unwrap());
    cache.stop().await.unwrap();
}

/// Two rows whose names differ after more bytes than a server sorts by, and one that is not committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_mariadb_change_no_order_and_show_nothing_uncommitted() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let mut plain = Plain::open(&url).await;
    plain.run("SET GLOBAL tx_isolation = 'READ-UNCOMMITTED', GLOBAL sort_buffer_size = 1024").await;
    let columns = "id BIGINT PRIMARY KEY, value BIGINT, name VARCHAR(3000) COLLATE utf8mb4_nopad_bin, note LONGTEXT, more TEXT, \
                   doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
    let schema = by_value(DomainType::Integer)
        .with_domain("name", DomainType::Text)
        .with_domain("doc", DomainType::Text);
    let (cache, things) = table(&url, columns, schema).await;
    for (id, last) in [(1, "b"), (2, "a"), (3, "c")] {
        let name = "x".repeat(2_900) + last;
        let doc = "y".repeat(16_000) + last;
        let row = [("id", id.into()), ("value", 1.into()), ("name", name.into()), ("doc", doc.into())];
        things.insert(row).await.unwrap();
    }
    assert_eq!(ids(things.first("name", ""..="z", 1).await).await, [2]);
    assert_eq!(ids(things.last("name", ""..="z", 2).await).await, [1, 3]);
    assert_eq!(ids(things.get("name", ""..="z").await).await, [2, 1, 3]);
    assert_eq!(ids(things.first("doc", ""..="z", 2).await).await, [2, 1], "documents");
    let sorted = "SELECT id FROM things WHERE value = 1 ORDER BY doc, note, more, name";
    let sorted = things.query(sorted, &[]).await.unwrap();
    assert_eq!(sorted.rows(), [[2.into()], [1.into()], [3.into()]], "by four long columns");
    // The order of a result that was patched.
    let row = things.get("value", 1..=1).await.unwrap().remove(2);
    things.update(&row, [("name", ("x".repeat(2_900) + "0").into())]).await.unwrap();
    assert_eq!(ids(things.get("name", ""..="z").await).await, [3, 2, 1]);
    plain.run("START TRANSACTION; UPDATE things SET note = 'dirty' WHERE id = 1").await;
    let seen = things.get("value", 0..=5).await.unwrap();
    let notes: Vec<Option<&str>> = seen.iter().map(|row| row.text("note")).collect();
    assert_eq!(notes, [None; 3], "nothing is committed");
    plain.run("ROLLBACK").await;
    cache.stop().await.unwrap();
}

/// A server that refuses to look at every row for a write, and one that ends connections with their transactions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_mariadb_refuse_no_write_of_a_range() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let mut plain = Plain::open(&url).await;
    plain.run("SET GLOBAL sql_safe_updates = 1, GLOBAL completion_type = 'RELEASE'").await;
    // No index serves the column.
    let columns = "id BIGINT PRIMARY KEY, value BIGINT, note BIGINT";
    let (cache, things) = table(&url, columns, by_value(DomainType::Integer)).await;
    for id in 0..ROUNDS {
        things.insert([("id", id.into()), ("value", id.into()), ("note", 1.into())]).await.unwrap();
    }
    things.update_range("value", 0..4, &[("note", "note + 1")]).await.unwrap();
    things.delete_range("value", 6..).await.unwrap();
    let raise = Statement::new("UPDATE things SET note = note + 1");
    things.execute(&[], vec![raise]).await.unwrap();
    let notes: Vec<Option<i64>> =
        things.get("value", 0..ROUNDS).await.unwrap().iter().map(|row| row.integer("note")).collect();
    assert_eq!(notes, [3, 3, 3, 3, 2, 2].map(Some));
    cache.stop().await.unwrap();
}
