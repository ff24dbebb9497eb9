//! The storm, and who breaks what while it lasts.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use lacuna_cache::sql::{Options, Policy};
use lacuna_cache_protocol::Flaw;
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres};

use super::{CLIENTS, Shop, is_what_the_database_has, seeded};
use crate::sql::storms::{Course, POLICIES, assert_right, at_a_server, work};
use crate::sql::world::{AT_MOST, Dialect, Place};

/// Clients at work until it is over; the number of steps that failed.
async fn storm(options: Options, again: Options, url: String, course: Arc<Course>) -> Result<u64, String> {
    let is_calm = course.is_over();
    let dialect = match url.split(':').next() {
        Some("postgres") => Dialect::Postgres,
        Some("mysql") => Dialect::MariaDb,
        _ => Dialect::Sqlite,
    };
    let shop = Arc::new(Shop::open(options, dialect).await);
    let mut faults = work(&course, CLIENTS, |number| shop.clone().client(seeded(number))).await?;
    // For ten seconds after a cache server had no room no result is kept, and by then all the clients may be done.
    let (hits_of_a_hundred, nothing_breaks) = (if is_calm { 20 } else { 2 }, Instant::now());
    loop {
        let (reads, counts) = (shop.reads.load(Ordering::Relaxed), shop.orders.counts());
        println!("{reads} reads, {faults} steps failed; {counts:?}");
        if counts.hits * 100 > hits_of_a_hundred * reads {
            break;
        }
        assert!(!is_calm && nothing_breaks.elapsed() < AT_MOST, "results are shown again: {counts:?}");
        faults += work(&course, CLIENTS, |number| shop.clone().client(seeded(number))).await?;
    }
    let found = shop.all().await;
    shop.cache.stop().await.unwrap();
    is_what_the_database_has(found, again, &url, dialect).await.map(|()| faults)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_two_tables_on_sqlite_are_true() {
    for policy in POLICIES {
        let place = Place::new();
        let seen =
            storm(place.options(policy), place.options(policy), "sqlite".to_owned(), Course::calm().into())
                .await;
        assert_eq!(assert_right(seen, policy), 0, "nothing breaks: {policy:?}");
    }
}

async fn is_found(flaw: Flaw, policy: Policy) {
    for _ in 0..100 {
        let place = Place::new();
        let flawed = place.options(policy).with_flaw(flaw);
        if let Err(what) =
            storm(flawed, place.options(policy), "sqlite".to_owned(), Course::calm().into()).await
        {
            return println!("{policy:?}: found: {what}");
        }
    }
    panic!("seed {}, {policy:?}: {flaw:?} was not found", effort::seed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_stay_though_joined_tables_change_are_found() {
    for policy in POLICIES {
        is_found(Flaw::KeepStamps, policy).await;
    }
}

async fn at_server(url: &str) {
    at_a_server(url, "joined", 1, |options, again, course| storm(options, again, url.to_owned(), course))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_two_tables_on_postgres_are_true_though_connections_and_tenures_break() {
    let Some(server) = Postgres::start() else { return };
    at_server(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_two_tables_on_mariadb_are_true_though_connections_and_tenures_break() {
    let Some(server) = MariaDb::start() else { return };
    at_server(&server.url()).await;
}
