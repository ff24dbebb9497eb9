//! Strangers are found by whoever may show their rows, and while the log cannot be followed.

use std::time::Instant;

use lacuna_cache::sql::{Table, open};
use lacuna_testkit::servers::Postgres;

use super::{LOOKS, OTHERS, PEOPLE, count, make, row, schema, until_there_are};
use crate::sql::world::{AT_MOST, patient};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_outlives_its_cache_is_watched() {
    let Some(server) = Postgres::logged() else { return };
    let stranger = open(&server.url()).await.unwrap();
    let cache = patient(server.url()).with_watchdog().open().await.unwrap();
    make(&cache, PEOPLE).await;
    let people = cache.table(schema("people")).await.unwrap();
    drop(cache);
    people.insert(row(1, 1)).await.unwrap();
    assert_eq!(count(&people).await, 1);
    stranger.run_sql("INSERT INTO people VALUES (2, 2, NULL)").await.unwrap();
    until_there_are(&people, 2).await;
    assert!(people.counts().foreign_writes >= 1, "{:?}", people.counts());
}

/// Until the alarm is raised no more.
async fn until_all_is_quiet(table: &Table) {
    let start = Instant::now();
    loop {
        let before = table.counts().foreign_writes;
        tokio::time::sleep(3 * LOOKS).await;
        if table.counts().foreign_writes == before {
            return;
        }
        assert!(start.elapsed() < AT_MOST, "{before} alarms, and more");
    }
}

/// A slot is made when all transactions have ended that are open. Until then every stranger is found all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_are_found_while_an_open_transaction_holds_up_the_log() {
    let Some(server) = Postgres::logged() else { return };
    let (stranger, idler) = (open(&server.url()).await.unwrap(), open(&server.url()).await.unwrap());
    let cache = patient(server.url()).with_watchdog().open().await.unwrap();
    make(&cache, PEOPLE).await;
    make(&cache, OTHERS).await;
    let people = cache.table(schema("people")).await.unwrap();
    assert_eq!(count(&people).await, 0);
    let open_until_told = "BEGIN; INSERT INTO others VALUES (1); \
        DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM others WHERE id = 2) LOOP PERFORM pg_sleep(0.05); END LOOP; END $$; \
        COMMIT";
    let idling = tokio::spawn(async move { idler.run_sql(open_until_told).await });
    tokio::time::sleep(LOOKS).await;
    assert_eq!(people.counts().foreign_writes, 0);
    let cut = "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots";
    stranger.run_sql(cut).await.unwrap();
    for id in 1..4 {
        stranger.run_sql(&format!("INSERT INTO people VALUES ({id}, {id}, NULL)")).await.unwrap();
        until_there_are(&people, id).await;
    }
    assert!(!idling.is_finished(), "the transaction is open");
    stranger.run_sql("INSERT INTO others VALUES (2)").await.unwrap();
    idling.await.unwrap().unwrap();

    until_all_is_quiet(&people).await;
    stranger.run_sql("INSERT INTO people VALUES (4, 4, NULL)").await.unwrap();
    until_there_are(&people, 4).await;
    cache.stop().await.unwrap();
}
