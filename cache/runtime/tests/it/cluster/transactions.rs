//! Transactions of clients, and of dendrites, over a table whose ranges two dendrites own.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache::sql::{Policy, Table, WriteError};
use lacuna_testkit::servers::Postgres;

use crate::cluster::dendrites::{AT_MOST, CUT, Dendrites, connected, places, schema, slot};
use crate::cluster::relay::{Mood, Relay};
use crate::cluster::rights::{client, served};

/// Moves a slot to the other side of the cut, whichever it is on.
async fn move_over(dendrites: &Dendrites, table: &Table, id: i64) {
    let mut open = dendrites.cache.transaction().on(table, "place", 0..2 * CUT).begin().await.unwrap();
    let rows = open.get(table, "place", 0..2 * CUT).await.unwrap();
    let row = rows.iter().find(|row| row.integer("id") == Some(id)).unwrap();
    let place = (row.integer("place").unwrap() + CUT) % (2 * CUT);
    open.update(table, row, [("place", place.into())]).await.unwrap();
    open.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_over_two_dendrites_move_rows_that_are_always_in_one_place() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        let dendrites = Dendrites::open(2, policy).await;
        dendrites.claim_both_ranges().await;
        let client = dendrites.client().await;
        let (far, near) = (dendrites.table_of(&client).await, dendrites.table_at(1).await);
        for id in 0..2 {
            far.insert(slot(id, 10 * id)).await.unwrap();
        }
        let movers = async {
            for round in 0..20 {
                move_over(&dendrites, if round % 2 == 0 { &far } else { &near }, round % 2).await;
            }
        };
        let readers = async {
            for _ in 0..60 {
                for table in [&far, &near] {
                    let low = table.condition("place", ..CUT).unwrap();
                    let high = table.condition("place", CUT..).unwrap();
                    assert_eq!(table.get_any(&[low, high]).await.unwrap().len(), 2, "{policy:?}");
                }
            }
        };
        tokio::join!(movers, readers);
        assert_eq!(places(&far.get("place", ..CUT).await.unwrap()), [0, 10], "each moved ten times");
        dendrites.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_whose_client_was_cut_off_holds_nothing_and_commits_nothing_late() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    dendrites.claim_both_ranges().await;
    let client = dendrites.client().await;
    let near = dendrites.table_of(&client).await;
    near.insert(slot(1, 50)).await.unwrap();
    let relay = Relay::to(&dendrites.addresses[0]).await;
    let far = dendrites.table_of(&connected(&[&relay.address]).await.with_patience(AT_MOST)).await;
    let begin = dendrites.cache.transaction().on_all(&far).with_duration(Duration::from_secs(2));
    let mut open = begin.begin().await.unwrap();
    let row = open.get(&far, "place", 0..2 * CUT).await.unwrap().remove(0);
    relay.set(Mood::Cut);
    // It has locked the fences at the database: new tenures wait for its end, and so does every read.
    let reading = tokio::spawn({
        let near = near.clone();
        async move { places(&near.get("place", 0..2 * CUT).await.unwrap()) }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    open.update(&far, &row, [("place", 150.into())]).await.unwrap();
    match open.commit().await {
        Ok(()) => assert_eq!(reading.await.unwrap(), [150]),
        Err(WriteError::NotDone(_)) => assert_eq!(reading.await.unwrap(), [50]),
        other => panic!("{other:?}"),
    }
    dendrites.stop().await;
}

/// A program that begins as many transactions as it has connections, before it knows the fences, waits for none of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_transaction_begins_over_the_last_connection() {
    // A program has 16 connections to its database.
    const HELD: i64 = 15;
    let Some(postgres) = Postgres::start() else { return };
    let (admin, server, address) = served(&postgres.url()).await;
    let (cache, known) = client(&postgres.url(), &address).await;
    let mut held = Vec::new();
    for place in 0..HELD {
        let begin = cache.transaction().on(&known, "place", place..=place);
        held.push(begin.with_duration(Duration::from_secs(600)).begin().await.unwrap());
    }
    let client = connected(&[&address]).await.with_patience(AT_MOST);
    let first = cache.table_over(schema(), Arc::new(client)).await.unwrap();
    let open = cache.transaction().on(&first, "place", HELD..=HELD).begin().await;
    open.expect("it needs one connection").commit().await.unwrap();
    for open in held {
        open.rollback().await;
    }
    cache.stop().await.unwrap();
    server.stop().await.unwrap();
    admin.stop().await.unwrap();
}
