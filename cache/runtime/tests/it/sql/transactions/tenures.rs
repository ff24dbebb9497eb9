//! A transaction that is open when its owner loses its tenure: the next one waits for its end before it answers a request.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{DomainType, Options, Policy, Schema};
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};

use crate::sql::world::{AT_MOST, Place, patient};

/// How long no request may be answered while it is open: several tenures can begin in this time.
const THINKS: Duration = Duration::from_millis(1_500);

async fn no_request_is_answered_before_its_end(options: Options, server: &mut Redis, is_undone: bool) {
    let namespace = if is_undone { "undone" } else { "done" };
    let redis = RedisCache::new(&server.url(), namespace).unwrap();
    let cache =
        options.with_policy(Policy::WriteThrough).with_cache_server(Arc::new(redis)).open().await.unwrap();
    for sql in
        ["DROP TABLE IF EXISTS things", "CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, value BIGINT)"]
    {
        cache.run_sql(sql).await.unwrap();
    }
    let things =
        cache.table(Schema::new("things", "id").with_domain("id", DomainType::Integer)).await.unwrap();
    things.insert([("id", 1.into()), ("value", 10.into())]).await.unwrap();
    let tenures = things.counts().tenures;

    let mut open = cache.transaction().on(&things, "id", 1..=1).with_duration(AT_MOST).begin().await.unwrap();
    let row = open.get(&things, "id", 1..=1).await.unwrap().remove(0);
    open.update(&things, &row, [("value", 20.into())]).await.unwrap();
    server.kill();
    tokio::task::block_in_place(|| server.restart());
    // It is not held, and finds that the cache server has forgotten the tenure.
    let beside = tokio::spawn({
        let things = things.clone();
        async move { things.get("id", 5..=9).await.unwrap().len() }
    });
    let reading = tokio::spawn({
        let things = things.clone();
        async move { things.get("id", 1..=1).await.unwrap()[0].integer("value") }
    });
    // A writer would keep out a reader that comes later.
    tokio::time::sleep(THINKS / 2).await;
    let writing = tokio::spawn({
        let (things, row) = (things.clone(), row.clone());
        async move { things.update(&row, [("value", 30.into())]).await }
    });
    tokio::time::sleep(THINKS / 2).await;
    assert!(!reading.is_finished() && !writing.is_finished(), "no request is answered while it is open");
    if is_undone {
        open.rollback().await;
    } else {
        open.commit().await.unwrap();
    }
    let seen = reading.await.unwrap();
    let expected = if is_undone { [Some(10), Some(30)] } else { [Some(20), Some(30)] };
    assert!(expected.contains(&seen), "{seen:?}");
    writing.await.unwrap().unwrap();
    assert_eq!(things.get("id", 1..=1).await.unwrap()[0].integer("value"), Some(30));
    assert_eq!(beside.await.unwrap(), 0);
    assert!(things.counts().tenures > tenures, "its owner lost its tenure");
    cache.stop().await.unwrap();
}

async fn either_way(options: Options) {
    let Some(mut server) = Redis::cache() else { return };
    for is_undone in [false, true] {
        no_request_is_answered_before_its_end(options.clone(), &mut server, is_undone).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_answered_before_the_end_of_a_transaction_on_sqlite() {
    let place = Place::new();
    either_way(place.options(Policy::WriteThrough)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_answered_before_the_end_of_a_transaction_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    either_way(patient(server.url())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_answered_before_the_end_of_a_transaction_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    either_way(patient(server.url())).await;
}
