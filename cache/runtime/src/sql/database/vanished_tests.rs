//! A database whose host vanishes, and round trips that are dropped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache_protocol::embedded::SteadyClock;
use lacuna_cache_protocol::ports::{Coordinator as _, Tenure};
use lacuna_cache_protocol::{ErrorKind, RangeId, Result};
use lacuna_testkit::servers::{MariaDb, Postgres, Wire};

use super::{Database, FailureKind, Statement, open, open_alone};
use crate::sql::fenced::prepare;
use crate::sql::sql_value::SqlValue;
use crate::sql::table_claim::TableClaims;
use crate::sql::table_lease::TableLease;

/// What a busy machine may take for a step that has a time limit.
const AT_MOST: Duration = Duration::from_secs(60);
const RANGE: RangeId = RangeId(1);

async fn in_time<T>(what: &str, asked: impl Future<Output = T>) -> T {
    tokio::time::timeout(AT_MOST, asked).await.unwrap_or_else(|_| panic!("{what} waits for ever"))
}

async fn lease(database: &Arc<dyn Database>) -> TableLease {
    prepare(&**database).await.unwrap();
    TableLease::new(database.clone(), Arc::new(SteadyClock::new()), 1).await.unwrap()
}

async fn claimed(lease: &TableLease) -> Tenure {
    loop {
        if let Some(tenure) = lease.claim(RANGE, None).await.unwrap() {
            return tenure;
        }
    }
}

/// Tries until it succeeds: the first tries find connections that are dead.
async fn succeeds<T>(what: &str, mut attempt: impl AsyncFnMut() -> Result<T>) -> T {
    let start = Instant::now();
    loop {
        match in_time(what, attempt()).await {
            Ok(done) => return done,
            Err(why) => assert!(start.elapsed() < AT_MOST, "{what}: {why}"),
        }
    }
}

async fn a_claim_ends(url: &str) {
    let (wire, url) = Wire::before(url);
    let database = open(&url).await.unwrap();
    let lease = lease(&database).await;
    let tenure = claimed(&lease).await;
    wire.vanish();
    let lost = in_time("a renewal", lease.renew(RANGE, tenure.epoch)).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Unavailable, "{lost}");
    let lost = in_time("a claim", lease.claim(RANGE, None)).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Unavailable, "{lost}");
    wire.come_back();
    let again = succeeds("a claim", async || lease.claim(RANGE, None).await).await;
    assert!(again.is_some_and(|again| again.epoch > tenure.epoch));
}

/// More round trips than a pool has connections get no answer.
async fn a_pool_recovers(url: &str) {
    let (wire, url) = Wire::before(url);
    let database = open(&url).await.unwrap();
    let lease = Arc::new(lease(&database).await);
    let tenure = claimed(&lease).await;
    wire.delay(Duration::from_millis(200));
    let mut renewals = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let lease = lease.clone();
        let reading = lease.clone();
        renewals.spawn(async move { lease.renew(RANGE, tenure.epoch).await.map(drop) });
        renewals.spawn(async move { reading.lease(RANGE).await.map(drop) });
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    wire.vanish();
    in_time("a renewal", async { while renewals.join_next().await.is_some() {} }).await;
    wire.delay(Duration::ZERO);
    wire.come_back();
    assert!(succeeds("a renewal", async || lease.renew(RANGE, tenure.epoch).await).await);
}

async fn claims_over_one_connection_end(url: &str) {
    let (wire, url) = Wire::before(url);
    let database = open(&url).await.unwrap();
    database.run("CREATE TABLE IF NOT EXISTS things (id BIGINT PRIMARY KEY)").await.unwrap();
    let claims = TableClaims::open(&url).await.unwrap();
    let claim = claims.claim("things").await.unwrap();
    wire.vanish();
    let lost = in_time("a renewal", claims.renew(claim)).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Unavailable, "{lost}");
    let lost = in_time("rows", claims.rows(&Statement::new("SELECT 1"))).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Unavailable, "{lost}");
    wire.come_back();
    assert!(succeeds("a renewal", async || claims.renew(claim).await).await);
}

/// A dropped query leaves its reply, or a part of it, on the wire.
async fn dropped_queries_answer_no_others(database: &dyn Database) {
    let number = |number: i64| Statement::new(format!("SELECT {number} AS n{number}"));
    for round in 0..60 {
        // At any step: prepared, asked, half answered.
        let patience = Duration::from_micros(500 * (u64::try_from(round).unwrap() % 40));
        drop(tokio::time::timeout(patience, database.query(&number(1_000 + round))).await);
        for next in [2_000 + round, 3_000 + round] {
            let found = in_time("a query", database.query(&number(next))).await;
            assert_eq!(found.unwrap(), [[SqlValue::Integer(next)]], "round {round}");
        }
    }
}

async fn dropped_queries_over_a_wire(url: &str) {
    let (wire, url) = Wire::before(url);
    let database = open_alone(&url).await.unwrap();
    wire.delay(Duration::from_millis(3));
    dropped_queries_answer_no_others(&*database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_ends_when_the_host_of_postgres_vanishes() {
    let Some(server) = Postgres::start() else { return };
    a_claim_ends(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_ends_when_the_host_of_mariadb_vanishes() {
    let Some(server) = MariaDb::start() else { return };
    a_claim_ends(&server.url()).await;
}

/// A server does not notice that its client has given up while it waits for a lock: each renewal would leave a connection there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewals_that_wait_for_a_lock_end_at_postgres_too() {
    let Some(server) = Postgres::start() else { return };
    let database = open(&server.url()).await.unwrap();
    let lease = lease(&database).await;
    let tenure = claimed(&lease).await;
    let mut stranger = database.begin().await.unwrap();
    stranger.query(&Statement::new("SELECT range_id FROM lacuna_lease FOR UPDATE")).await.unwrap();
    for _ in 0..2 {
        let renewed = in_time("a renewal", lease.renew(RANGE, tenure.epoch)).await;
        assert!(renewed.is_err(), "{renewed:?}");
    }
    let waiting = Statement::new("SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    let waiting = database.query(&waiting).await.unwrap();
    assert!(waiting.is_empty(), "{waiting:?}");
    stranger.rollback().await;
    assert!(lease.renew(RANGE, tenure.epoch).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_recovers_when_the_host_of_postgres_is_back() {
    let Some(server) = Postgres::start() else { return };
    a_pool_recovers(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_recovers_when_the_host_of_mariadb_is_back() {
    let Some(server) = MariaDb::start() else { return };
    a_pool_recovers(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_over_one_connection_end_when_a_host_vanishes() {
    let (Some(postgres), Some(mariadb)) = (Postgres::start(), MariaDb::start()) else { return };
    claims_over_one_connection_end(&postgres.url()).await;
    claims_over_one_connection_end(&mariadb.url()).await;
}

/// The connection of a query that was dropped is not used again, and does not keep its place in the pool.
async fn a_dropped_query_closes_its_connection(url: &str, own: &str, sleep: &str) {
    let database = open_alone(url).await.unwrap();
    let (own, sleep) = (Statement::new(own), Statement::new(sleep));
    let before = database.query(&own).await.unwrap();
    drop(tokio::time::timeout(Duration::from_millis(300), database.query(&sleep)).await);
    let after =
        tokio::time::timeout(Duration::from_secs(20), database.query(&own)).await.expect("a connection");
    assert_ne!(before, after.unwrap());
    // Nor does that of a transaction commit what it was not asked for any more.
    database.run("CREATE TABLE IF NOT EXISTS dropped (id BIGINT)").await.unwrap();
    let mut open = database.begin().await.unwrap();
    open.execute(&Statement::new("INSERT INTO dropped VALUES (1)")).await.unwrap();
    drop(tokio::time::timeout(Duration::from_millis(300), open.query(&sleep)).await);
    let refused = open.commit().await.unwrap_err();
    assert_eq!((refused.kind, refused.error.kind()), (FailureKind::Later, ErrorKind::Unavailable));
    assert!(
        in_time("rows", database.query(&Statement::new("SELECT id FROM dropped"))).await.unwrap().is_empty()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_query_of_a_server_closes_its_connection() {
    let (Some(postgres), Some(mariadb)) = (Postgres::start(), MariaDb::start()) else { return };
    let own = "SELECT CAST(pg_backend_pid() AS BIGINT)";
    a_dropped_query_closes_its_connection(&postgres.url(), own, "SELECT CAST(pg_sleep(25) AS TEXT)").await;
    a_dropped_query_closes_its_connection(&mariadb.url(), "SELECT CONNECTION_ID()", "SELECT SLEEP(25)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_query_of_postgres_answers_no_other() {
    let Some(server) = Postgres::start() else { return };
    dropped_queries_over_a_wire(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_query_of_mariadb_answers_no_other() {
    let Some(server) = MariaDb::start() else { return };
    dropped_queries_over_a_wire(&server.url()).await;
}

/// A database in memory belongs to its connection, which must outlive a dropped query.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_query_of_sqlite_answers_no_other() {
    let database = open("sqlite::memory:").await.unwrap();
    database.run("CREATE TABLE things (id INTEGER)").await.unwrap();
    dropped_queries_answer_no_others(&*database).await;
    assert!(database.query(&Statement::new("SELECT id FROM things")).await.unwrap().is_empty());
}
