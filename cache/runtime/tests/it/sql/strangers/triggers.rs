//! A write through the cache of one table that changes another is a stranger's to the other, and to no more.

use lacuna_cache::sql::{Cache, SqlValue, Statement, open};
use lacuna_testkit::servers::{MariaDb, Postgres};

use super::{LOOKS, OTHERS, PEOPLE, count, make, row, schema, until_there_are};
use crate::sql::world::patient;

/// Whoever orders becomes one of the people.
async fn a_trigger_is_a_stranger_to_what_it_changes(cache: Cache, trigger: &str) {
    make(&cache, PEOPLE).await;
    make(&cache, "CREATE TABLE orders (id BIGINT PRIMARY KEY, age BIGINT NOT NULL)").await;
    make(&cache, trigger).await;
    let people = cache.table(schema("people")).await.unwrap();
    let orders = cache.table(schema("orders")).await.unwrap();
    people.insert(row(1, 1)).await.unwrap();
    tokio::time::sleep(LOOKS).await;
    assert_eq!((count(&people).await, count(&orders).await), (1, 0));
    assert_eq!(people.counts().foreign_writes, 0);
    orders.insert(row(2, 2)).await.unwrap();
    until_there_are(&people, 2).await;
    let gone = Statement::new("DELETE FROM people WHERE id = 1");
    orders.execute(&[], vec![gone]).await.unwrap();
    until_there_are(&people, 1).await;
    tokio::time::sleep(LOOKS).await;
    let found = (people.counts().foreign_writes, orders.counts().foreign_writes);
    assert!(found.0 >= 2 && found.1 == 0, "{found:?}");
    assert_eq!(count(&orders).await, 1);
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_of_postgres_is_a_stranger_to_what_it_changes() {
    let Some(server) = Postgres::logged() else { return };
    let cache = patient(server.url()).with_watchdog().open().await.unwrap();
    let trigger = "CREATE FUNCTION add_person() RETURNS trigger LANGUAGE plpgsql AS \
                   $$ BEGIN INSERT INTO people VALUES (NEW.id, NEW.age, NULL); RETURN NEW; END $$; \
                   CREATE TRIGGER orders_add AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION add_person()";
    a_trigger_is_a_stranger_to_what_it_changes(cache, trigger).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_of_mariadb_is_a_stranger_to_what_it_changes() {
    let Some(server) = MariaDb::logged() else { return };
    let cache = patient(server.url()).with_watchdog().open().await.unwrap();
    let trigger = "CREATE TRIGGER orders_add AFTER INSERT ON orders FOR EACH ROW \
                   INSERT INTO people VALUES (NEW.id, NEW.age, NULL)";
    a_trigger_is_a_stranger_to_what_it_changes(cache, trigger).await;
}

/// Its parameters are in the log as they are; and a savepoint is told by its words.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_text_and_what_ends_no_transaction_is_no_stranger() {
    let Some(server) = MariaDb::logged() else { return };
    let stranger = open(&server.url()).await.unwrap();
    let cache = patient(server.url()).with_watchdog().open().await.unwrap();
    make(&cache, "CREATE TABLE files (id BIGINT PRIMARY KEY, age BIGINT NOT NULL, body BLOB)").await;
    make(&stranger, OTHERS).await;
    let files = cache.table(schema("files")).await.unwrap();
    for id in 0..3_i64 {
        let body = SqlValue::Blob(vec![0xC3, 0x28, 0xFF, 0, b'\'', b'\\']);
        files.insert([("id", id.into()), ("age", id.into()), ("body", body)]).await.unwrap();
    }
    assert_eq!(count(&files).await, 3);
    let transaction = "BEGIN; INSERT INTO others VALUES (1); SAVEPOINT a; INSERT INTO others VALUES (2); \
                       ROLLBACK TO a; SAVEPOINT b; INSERT INTO others VALUES (3); COMMIT";
    stranger.run_sql(transaction).await.unwrap();
    tokio::time::sleep(LOOKS).await;
    assert_eq!((count(&files).await, files.counts().foreign_writes), (3, 0));
    stranger.run_sql("INSERT INTO files VALUES (7, 7, X'FF')").await.unwrap();
    until_there_are(&files, 4).await;
    cache.stop().await.unwrap();
}
