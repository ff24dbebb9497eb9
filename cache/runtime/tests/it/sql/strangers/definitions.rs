//! Who defines a table anew changes its rows without a row in the log of PostgreSQL.

use lacuna_cache::sql::open;
use lacuna_testkit::servers::Postgres;

use super::{LOOKS, count, make, row, schema, until_there_are};
use crate::sql::world::patient;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_that_come_and_go_are_found() {
    let Some(server) = Postgres::logged() else { return };
    let stranger = open(&server.url()).await.unwrap();
    let cache = patient(server.url()).with_watchdog().open().await.unwrap();
    let columns = "id BIGINT PRIMARY KEY, age BIGINT NOT NULL";
    make(&cache, &format!("CREATE TABLE \"some: parts\" ({columns}) PARTITION BY RANGE (id)")).await;
    let parts = cache.table(schema("some: parts")).await.unwrap();
    assert_eq!(count(&parts).await, 0);
    let low = "CREATE TABLE low PARTITION OF \"some: parts\" FOR VALUES FROM (0) TO (100)";
    stranger.run_sql(low).await.unwrap();
    let attached = "ALTER TABLE \"some: parts\" ATTACH PARTITION low FOR VALUES FROM (0) TO (100)";
    let changes = [
        ("INSERT INTO low VALUES (7, 7)", 1),
        ("ALTER TABLE \"some: parts\" DETACH PARTITION low", 0),
        (attached, 1),
        ("DROP TABLE low", 0),
    ];
    for (sql, rows) in changes {
        stranger.run_sql(sql).await.unwrap();
        until_there_are(&parts, rows).await;
    }
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_defined_anew_is_found() {
    let Some(server) = Postgres::logged() else { return };
    let stranger = open(&server.url()).await.unwrap();
    let cache = patient(server.url()).with_watchdog().open().await.unwrap();
    let columns = "id BIGINT PRIMARY KEY, age BIGINT NOT NULL, spare BIGINT NOT NULL DEFAULT 5000";
    make(&cache, &format!("CREATE TABLE people ({columns})")).await;
    let people = cache.table(schema("people")).await.unwrap();
    people.insert(row(1, 1)).await.unwrap();
    people.insert(row(2, 2)).await.unwrap();
    assert_eq!(count(&people).await, 2);
    let swapped = "ALTER TABLE people RENAME age TO aside; ALTER TABLE people RENAME spare TO age; \
                   ALTER TABLE people RENAME aside TO spare";
    let replaced = "CREATE TABLE later (LIKE people INCLUDING ALL); \
                    INSERT INTO later (id, age) VALUES (1, 1), (2, 2), (3, 3); \
                    ALTER TABLE people RENAME TO former; ALTER TABLE later RENAME TO people";
    let changes = [
        ("ALTER TABLE people ALTER age TYPE BIGINT USING age + 2000", 0),
        ("ALTER TABLE people ALTER age TYPE BIGINT USING age - 2000", 2),
        (swapped, 0),
        (swapped, 2),
        (replaced, 3),
    ];
    for (sql, rows) in changes {
        stranger.run_sql(sql).await.unwrap();
        until_there_are(&people, rows).await;
    }
    // Its caches are known as before.
    tokio::time::sleep(LOOKS).await;
    let found = people.counts().foreign_writes;
    people.insert(row(4, 4)).await.unwrap();
    tokio::time::sleep(LOOKS).await;
    assert_eq!((count(&people).await, people.counts().foreign_writes), (4, found));
    cache.stop().await.unwrap();
}
