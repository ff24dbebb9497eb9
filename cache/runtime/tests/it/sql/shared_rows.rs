//! Storms of writers that share rows, on every database, under every policy, with and without faults.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache::sql::{Compressed, Hashed, Notice, Options, Rows, Table, WriteError};
use lacuna_cache_protocol::ports::CacheServer;
use lacuna_cache_protocol::{Flaw, Policy};
use lacuna_testkit::effort;
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};
use tokio::time::timeout;

use crate::sql::nemesis::{CacheFault, Faults, break_log, cut_connections, rest};
use crate::sql::shared::{IDS, Keys, Shared, make_table, schema};
use crate::sql::storms::{Course, POLICIES};
use crate::sql::world::{AT_MOST, Dialect, Place, patient};

const WRITERS: u64 = 8;

/// What writers do until enough has been broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Reads, mostly.
    Steady,
    /// In turn mostly reads and mostly writes of rows that are in many results: the range is to choose its β.
    Changing,
}

impl Load {
    /// Reads of a round, in percent.
    const fn read_percent(self, round: u64) -> u64 {
        if matches!(self, Self::Changing) && round % 2 == 1 { 5 } else { 80 }
    }

    fn writers(self, keys: Keys) -> Arc<Shared> {
        let shared = Shared::with_keys(keys);
        Arc::new(if self == Self::Changing { shared.with_overlaps() } else { shared })
    }
}

/// What a storm is to show beside that nothing is wrong.
#[derive(Debug)]
struct Seen {
    set_aside: u64,
    hits: u64,
    reads: u64,
    log_calls: u64,
}

/// The rows that the database has, read by a process of its own so to speak.
async fn last_rows(again: Options, keys: Keys) -> Rows {
    let cache = again.with_policy(Policy::WriteAround).open().await.unwrap();
    let rows = all(&cache.table(keys.schema()).await.unwrap(), keys).await.unwrap();
    cache.stop().await.unwrap();
    rows
}

async fn all(table: &Table, keys: Keys) -> lacuna_cache_protocol::Result<Rows> {
    table.get("id", keys.value(0)..keys.value(IDS)).await
}

/// Writers at work until it is over, and at least one round of them.
async fn storm(
    options: Options,
    again: Options,
    (dialect, keys, load): (Dialect, Keys, Load),
    rounds: u64,
    course: &Course,
) -> Result<Seen, String> {
    let cache = options.open().await.unwrap();
    keys.make_table(&cache, dialect).await;
    let table = cache.table(keys.schema()).await.unwrap();
    let mut notices = table.notices();
    let shared = load.writers(keys);
    let (mut round, mut least_beta) = (0, 100);
    while round < rounds || !course.is_over() {
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..WRITERS {
            let rng = effort::rng(7_000 + WRITERS * round + writer);
            let shared = Arc::clone(&shared);
            writers.spawn(shared.client(table.clone(), dialect, rng, 250, load.read_percent(round)));
        }
        while let Some(writer) = writers.join_next().await {
            writer.unwrap();
        }
        let gauges = cache.gauges().await.unwrap();
        least_beta = gauges.iter().map(|range| range.beta_percent).fold(least_beta, u64::min);
        // Things break once the range has chosen to put results together, if it is to choose.
        if least_beta == 0 || load == Load::Steady {
            course.has_begun.notify_one();
        }
        round += 1;
    }
    let counts = table.counts();
    let mut seen = Seen { set_aside: 0, hits: counts.hits, reads: counts.reads, log_calls: counts.log_calls };
    // Whatever is still buffered shows itself when the database gets it.
    all(&table, keys).await.map_err(|error| error.to_string())?;
    while let Ok(notice) = notices.try_recv() {
        seen.set_aside += u64::from(matches!(notice, Notice::SetAside(_)));
    }
    let [done, refused, unknown] =
        [&shared.done, &shared.refused, &shared.unknown].map(|count| count.load(Ordering::Relaxed));
    println!("{dialect:?}: {done} writes done, {refused} refused, {unknown} unknown; {seen:?}");
    assert!(done > 0 && refused > 0, "writers meet: {done} done, {refused} refused");
    let before = all(&table, keys).await.map_err(|error| error.to_string())?;
    let fresh = shared.is_fresh(&table, &before).await;
    cache.stop().await.unwrap();
    let rows = last_rows(again, keys).await;
    if seen.set_aside > 0 {
        return Err(format!("{} notices of acknowledged writes that were set aside", seen.set_aside));
    }
    let last: Vec<_> = rows.iter().map(|row| keys.shown(row)).collect();
    shared.check(&last).and(fresh)?;
    if before == rows { Ok(seen) } else { Err(format!("{before:?} was shown of {rows:?}")) }
}

fn assert_right(seen: Result<Seen, String>, policy: Policy) {
    let seen = seen.unwrap_or_else(|what| panic!("seed {}, {policy:?}: {what}", effort::seed()));
    if policy != Policy::WriteAround {
        assert!(seen.hits * 2 >= seen.reads, "half of the reads are hits: {seen:?}");
    }
    if policy == Policy::WriteBack {
        assert!(seen.log_calls > 100, "writes are buffered: {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_shared_rows_lose_nothing_on_sqlite() {
    for (policy, beta) in POLICIES.into_iter().flat_map(|policy| [(policy, 100), (policy, 0)]) {
        let place = Place::new();
        let rounds = effort::short_or_long(2, 60);
        let options = place.options(policy).with_beta(beta);
        let keys = (Dialect::Sqlite, Keys::Integer, Load::Steady);
        let seen = storm(options.clone(), options, keys, rounds, &Course::calm()).await;
        assert_right(seen, policy);
    }
}

/// The rule before: a condition is believed when the write is acknowledged, and found broken when the store gets it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_p14_a_storm_of_shared_rows_finds_lost_writes() {
    for keys in [Keys::Integer, Keys::Text] {
        finds(Flaw::BufferInDoubt, Policy::WriteBack, keys).await;
    }
}

/// Notes of one byte and of two: a patch may fit into the place of an older one, but not into that of the last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_patch_in_the_first_place_of_its_row_is_found_by_a_storm_of_shared_rows() {
    for policy in [Policy::WriteThrough, Policy::WriteBack] {
        finds(Flaw::PatchEarlier, policy, Keys::Integer).await;
    }
}

async fn finds(flaw: Flaw, policy: Policy, keys: Keys) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        let place = Place::new();
        let options = place.options(policy);
        let flawed = options.clone().with_flaw(flaw);
        let found = storm(flawed, options, (Dialect::Sqlite, keys, Load::Steady), 1, &Course::calm()).await;
        if let Err(what) = found {
            println!("{flaw:?}, {policy:?}, {keys:?} keys: found after {:?}: {what}", start.elapsed());
            return;
        }
    }
    panic!("seed {}, {keys:?} keys: {flaw:?} was not found in a minute", effort::seed());
}

/// What breaks in a storm: cache servers, log servers, and connections to the database with this URL.
type Breaking<'a> = (&'a mut [Redis], &'a mut [Redis], Option<&'a str>);

/// A storm while everything breaks, one after the other.
async fn storm_of_faults(
    options: Options,
    again: Options,
    place: (Dialect, Keys, Load),
    policy: Policy,
    (caches, logs, url): &mut Breaking<'_>,
) -> (Result<Seen, String>, Faults) {
    let course = Arc::new(Course::default());
    let working = tokio::spawn({
        let course = Arc::clone(&course);
        async move { storm(options, again, place, 2, &course).await }
    });
    // A server that was full is not filled for ten seconds, so it is here that results come from the cache.
    timeout(AT_MOST, course.has_begun.notified()).await.expect("a first round has an end");
    let faults = Faults::default();
    let all = CacheFault::ALL.len() as u64;
    for times in 0..usize::try_from(effort::short_or_long(all, 40 * all)).unwrap() {
        if CacheFault::strike_in_turn(times, caches, &faults).await {
            if let Some(url) = url {
                cut_connections(url, &faults).await;
            }
            if policy == Policy::WriteBack && effort::is_long() && !logs.is_empty() {
                let log = times % logs.len();
                break_log(&mut logs[log], &faults).await;
            }
        }
        rest(true).await;
    }
    course.end();
    (working.await.unwrap(), faults)
}

/// A write changes results on two servers, which takes two scripts; what it adds follows compressed bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_shared_rows_lose_nothing_over_servers_that_share_results() {
    let Some(mut caches) = (0..2).map(|_| Redis::cache()).collect::<Option<Vec<Redis>>>() else { return };
    for policy in POLICIES {
        let place = Place::new();
        let servers = caches.iter().map(|server| -> Arc<dyn CacheServer> {
            // A namespace for each database: their epochs begin anew.
            let server = RedisCache::new(&server.url(), &format!("{policy:?}")).unwrap();
            Arc::new(Compressed::new(Arc::new(server)))
        });
        let several = Hashed::new(servers.collect()).unwrap();
        let beta = if policy == Policy::WriteBack { 0 } else { 100 };
        let options = place.options(policy).with_beta(beta).with_cache_server(Arc::new(several));
        let keys = (Dialect::Sqlite, Keys::Integer, Load::Steady);
        let mut servers = (&mut caches[..], &mut [][..], None);
        let storm = storm_of_faults(options, place.options(policy), keys, policy, &mut servers);
        let (seen, faults) = storm.await;
        println!("{policy:?}, {faults:?}");
        let seen = seen.unwrap_or_else(|what| panic!("seed {}, {policy:?}: {what}", effort::seed()));
        assert!(seen.hits > 0, "{seen:?}");
    }
}

/// Redis servers before a database server; in the storm they break, and connections to the database, too.
async fn storms_over_redis(dialect: Dialect, url: &str, keys: Keys) {
    let Some(mut cache) = Redis::cache() else { return };
    let Some(mut logs) = (0..2).map(|_| Redis::log()).collect::<Option<Vec<Redis>>>() else { return };
    for policy in POLICIES {
        let fresh = patient(url).open().await.unwrap();
        fresh.run_sql("DROP TABLE IF EXISTS shared").await.unwrap();
        fresh.stop().await.unwrap();
        let mut options = patient(url).with_policy(policy);
        let load = match keys {
            Keys::Integer if policy == Policy::WriteAround => Load::Steady,
            Keys::Integer => Load::Changing,
            Keys::Text => {
                options = options.with_beta(100);
                Load::Steady
            }
            // Here results are put together on each database, and most are deleted soon.
            Keys::Uuid | Keys::Bytes => {
                options = options.with_beta(0).with_max_entries(8);
                Load::Steady
            }
        };
        options = options.with_cache_server(Arc::new(RedisCache::new(&cache.url(), "shared").unwrap()));
        for log in logs.iter().filter(|_| policy == Policy::WriteBack) {
            options = options.with_log_server(Arc::new(RedisLog::new(&log.url(), "shared").unwrap()));
        }
        let mut servers = (std::slice::from_mut(&mut cache), &mut logs[..], Some(url));
        let storm = storm_of_faults(options, patient(url), (dialect, keys, load), policy, &mut servers);
        let (seen, faults) = storm.await;
        println!("{dialect:?}, {policy:?}, {faults:?}");
        let seen = seen.unwrap_or_else(|what| panic!("seed {}, {policy:?}: {what}", effort::seed()));
        assert!(seen.hits > 0, "{seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_shared_rows_lose_nothing_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    storms_over_redis(Dialect::Postgres, &server.url(), Keys::Integer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_shared_rows_lose_nothing_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    storms_over_redis(Dialect::MariaDb, &server.url(), Keys::Integer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_rows_with_uuids_and_texts_lose_nothing_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    for keys in [Keys::Uuid, Keys::Text] {
        storms_over_redis(Dialect::Postgres, &server.url(), keys).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_rows_with_uuids_and_texts_lose_nothing_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    for keys in [Keys::Bytes, Keys::Text] {
        storms_over_redis(Dialect::MariaDb, &server.url(), keys).await;
    }
}

/// Two clients edit one row: the second is told, under every policy, whatever was cached before.
#[tokio::test]
async fn the_second_of_two_edits_of_one_row_is_refused() {
    for policy in POLICIES {
        for is_cached in [false, true] {
            let place = Place::new();
            let cache = place.open(policy).await;
            make_table(&cache).await;
            let table = cache.table(schema()).await.unwrap();
            table.insert([("id", 1.into()), ("mark", 5.into()), ("note", 0.into())]).await.unwrap();
            let row = table.known_row([("id", 1.into()), ("mark", 5.into())]).unwrap();
            if is_cached {
                assert_eq!(table.get("mark", 0..=9).await.unwrap().len(), 1);
            }
            table.update(&row, [("mark", 6.into())]).await.unwrap();
            let second = table.update(&row, [("mark", 7.into())]).await;
            let is_conflict =
                |why: &lacuna_cache_protocol::Error| why.kind() == lacuna_cache_protocol::ErrorKind::Conflict;
            assert!(
                matches!(&second, Err(WriteError::Refused(why)) if is_conflict(why)),
                "{policy:?}: {second:?}"
            );
            assert!(table.delete(&row).await.is_err(), "{policy:?}");
            let twice = table.insert([("id", 1.into()), ("mark", 9.into()), ("note", 0.into())]).await;
            assert!(matches!(twice, Err(WriteError::Refused(_))), "{policy:?}: {twice:?}");
            let marks = |rows: Rows| rows.iter().map(|row| row.integer("mark")).collect::<Vec<_>>();
            assert_eq!(marks(table.get("mark", 0..=9).await.unwrap()), [Some(6)], "{policy:?}");
            cache.stop().await.unwrap();
            assert_eq!(marks(last_rows(place.options(policy), Keys::Integer).await), [Some(6)], "{policy:?}");
        }
    }
}

/// What a key that is deleted leaves free is free for the next, whoever has it buffered.
#[tokio::test]
async fn a_key_that_was_given_back_can_be_taken_again() {
    for policy in POLICIES {
        let place = Place::new();
        let cache = place.open(policy).await;
        make_table(&cache).await;
        let by_mark = lacuna_cache::sql::Schema::new("shared", "id")
            .with_domain("mark", lacuna_cache::sql::DomainType::Integer);
        let table = cache.table(by_mark).await.unwrap();
        let start = Instant::now();
        for round in 0..50 {
            table.insert([("id", 1.into()), ("mark", round.into()), ("note", 0.into())]).await.unwrap();
            let row = table.get("mark", round..=round).await.unwrap().remove(0);
            table.update(&row, [("mark", (1_000 + round).into())]).await.unwrap();
            let row = table.get("mark", 1_000 + round..).await.unwrap().remove(0);
            table.delete(&row).await.unwrap();
            assert!(start.elapsed() < AT_MOST, "{policy:?}");
        }
        cache.stop().await.unwrap();
    }
}
