//! A joined table whose buffered write the database has not taken yet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::sql::{DomainType, DomainValue, Options, Policy, Schema, SqlValue, Statement};
use lacuna_cache_protocol::Flaw;
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_testkit::servers::Postgres;

use crate::sql::plain::Plain;
use crate::sql::world::{AT_MOST, patient};

/// What a reader finds that had the stamp of `users` before a user was renamed, and the orders after one came that was
/// made later still. The database takes the new name only when the reader has an answer, or has waited for a while.
async fn found_while_the_name_is_buffered(url: &str, flaw: Option<Flaw>) -> Vec<Vec<SqlValue>> {
    let options = patient(url).with_policy(Policy::WriteBack).with_log_server(Arc::new(MemoryLog::default()));
    let options = flaw.into_iter().fold(options, Options::with_flaw);
    let cache = options.open().await.unwrap();
    for sql in [
        "DROP TABLE IF EXISTS orders; DROP TABLE IF EXISTS users",
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, day BIGINT, user_id BIGINT)",
        "CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT); INSERT INTO users VALUES (1, 'old')",
    ] {
        cache.run_sql(sql).await.unwrap();
    }
    let schema = |table, domain| Schema::new(table, "id").with_domain(domain, DomainType::Integer);
    let orders = cache.table(schema("orders", "day")).await.unwrap();
    let users = cache.table(schema("users", "id")).await.unwrap();
    let mut order = cache.transaction().on(&orders, "day", 5..=5).begin().await.unwrap();
    let reader = orders.clone();
    let sql = "SELECT o.id, u.name FROM orders o JOIN users u ON u.id = o.user_id WHERE o.day = 5";
    let mut reading = tokio::spawn(async move { reader.query(sql, &[]).await });
    let start = Instant::now();
    while users.counts().store_queries == 0 {
        assert!(start.elapsed() < AT_MOST, "the reader has a stamp");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut lock = Plain::open(url).await;
    lock.run("BEGIN; LOCK TABLE users IN EXCLUSIVE MODE").await;
    let mut touched = users.write_set("id").unwrap();
    touched.before(DomainValue::Integer(1)).unwrap();
    let rename = Statement::new("UPDATE users SET name = 'new' WHERE id = 1").never_refused();
    users.execute(&[touched], vec![rename]).await.unwrap();
    let row = [("id", 1.into()), ("day", 5.into()), ("user_id", 1.into())];
    order.insert(&orders, row).await.unwrap();
    order.commit().await.unwrap();
    let early = tokio::time::timeout(Duration::from_secs(1), &mut reading).await;
    lock.run("COMMIT").await;
    let found = match early {
        Ok(found) => found,
        Err(_) => reading.await,
    };
    cache.stop().await.unwrap();
    found.unwrap().unwrap().rows().to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_never_shown_with_its_user_as_it_was_before() {
    let Some(server) = Postgres::start() else { return };
    let found = found_while_the_name_is_buffered(&server.url(), None).await;
    assert_eq!(found, [[1.into(), "new".into()]]);
    let torn = found_while_the_name_is_buffered(&server.url(), Some(Flaw::StampOnce)).await;
    assert_eq!(torn, [[1.into(), "old".into()]], "stamps that are read once do not show it");
}
