//! The storm, and who breaks what while it lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache::sql::{Options, Policy};
use lacuna_cache_protocol::Flaw;
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{CLIENTS, Shop, is_what_the_database_has, seeded};
use crate::sql::nemesis::{CacheFault, Faults, cut_connections, rest};
use crate::sql::world::{AT_MOST, Dialect, Place, patient};

const POLICIES: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

/// How far a storm is: things may break once the tables are there.
#[derive(Debug, Default)]
struct Course {
    has_begun: Notify,
    is_over: AtomicBool,
}

/// Clients at work until it is over; the number of steps that failed.
async fn storm(options: Options, again: Options, url: String, course: Arc<Course>) -> Result<u64, String> {
    let is_calm = course.is_over.load(Ordering::Relaxed);
    let dialect = match url.split(':').next() {
        Some("postgres") => Dialect::Postgres,
        Some("mysql") => Dialect::MariaDb,
        _ => Dialect::Sqlite,
    };
    let shop = Arc::new(Shop::open(options, dialect).await);
    course.has_begun.notify_one();
    let (mut faults, mut round) = (0, 0);
    while round == 0 || !course.is_over.load(Ordering::Relaxed) {
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..CLIENTS {
            clients.spawn(shop.clone().client(seeded(CLIENTS * round + client)));
        }
        while let Some(client) = clients.join_next().await {
            faults += client.unwrap()?;
        }
        round += 1;
    }
    let (reads, counts) = (shop.reads.load(Ordering::Relaxed), shop.orders.counts());
    println!("{reads} reads, {faults} steps failed; {counts:?}");
    let hits_of_a_hundred = if is_calm { 20 } else { 2 };
    assert!(reads > 0 && counts.hits * 100 > hits_of_a_hundred * reads, "some are hits: {counts:?}");
    let found = shop.all().await;
    shop.cache.stop().await.unwrap();
    is_what_the_database_has(found, again, &url, dialect).await.map(|()| faults)
}

fn calm() -> Arc<Course> {
    Arc::new(Course { is_over: AtomicBool::new(true), ..Course::default() })
}

fn assert_right(seen: Result<u64, String>, policy: Policy) -> u64 {
    seen.unwrap_or_else(|what| panic!("seed {}, {policy:?}: {what}", effort::seed()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_two_tables_on_sqlite_are_true() {
    for policy in POLICIES {
        let place = Place::new();
        let seen = storm(place.options(policy), place.options(policy), "sqlite".to_owned(), calm()).await;
        assert_eq!(assert_right(seen, policy), 0, "nothing breaks: {policy:?}");
    }
}

async fn is_found(flaw: Flaw, policy: Policy) {
    for _ in 0..100 {
        let place = Place::new();
        let flawed = place.options(policy).with_flaw(flaw);
        if let Err(what) = storm(flawed, place.options(policy), "sqlite".to_owned(), calm()).await {
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

/// Every policy in turn at a database server, whose connections are cut meanwhile; so are tenures, with their cache server.
async fn at_a_server(url: &str) {
    let Some(log) = Redis::log() else { return };
    let Some(mut caches) = Redis::cache().map(|cache| [cache]) else { return };
    for policy in POLICIES {
        let namespace = format!("joined-{policy:?}");
        let cache = RedisCache::new(&caches[0].url(), &namespace).unwrap();
        let mut options = patient(url).with_policy(policy).with_cache_server(Arc::new(cache));
        if policy == Policy::WriteBack {
            options = options.with_log_server(Arc::new(RedisLog::new(&log.url(), "joined").unwrap()));
        }
        let course = Arc::new(Course::default());
        let working = tokio::spawn(storm(options.clone(), options, url.to_owned(), course.clone()));
        let faults = Faults::default();
        timeout(AT_MOST, course.has_begun.notified()).await.expect("tables are made");
        for times in 0..effort::short_or_long(1, 60) * CacheFault::ALL.len() as u64 {
            if CacheFault::strike_in_turn(usize::try_from(times).unwrap(), &mut caches, &faults).await {
                cut_connections(url, &faults).await;
            }
            rest(true).await;
            cut_connections(url, &faults).await;
        }
        course.is_over.store(true, Ordering::Relaxed);
        let failed = assert_right(working.await.unwrap(), policy);
        println!("{policy:?}: {faults:?}, {failed} steps failed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_two_tables_on_postgres_are_true_though_connections_and_tenures_break() {
    let Some(server) = Postgres::start() else { return };
    at_a_server(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_two_tables_on_mariadb_are_true_though_connections_and_tenures_break() {
    let Some(server) = MariaDb::start() else { return };
    at_a_server(&server.url()).await;
}
