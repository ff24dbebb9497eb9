//! One process with many tables, whose database or cache server is killed in the middle of work and comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::sql::Table;
use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;
use lacuna_testkit::servers::free_port;
use tokio::task::block_in_place;

use super::many::{make_tables, sections, table_of};
use crate::team::{AT_MOST, Leases, Process, Team};
use crate::world::{Dialect, patient, schema};

const TABLES: usize = 8;
const PLACE: i64 = 7;

/// The one row of a table, written by one client: it knows the last version that was acknowledged, and the last that it
/// tried.
#[derive(Debug, Default)]
struct Seen {
    acknowledged: i64,
    tried: i64,
    reads: u64,
    done: u64,
}

impl Seen {
    /// One write and two reads; a read that shows less than what was acknowledged before it is stale.
    async fn step(&mut self, table: &Table, number: usize) {
        if let Ok(rows) = table.get("place", 0..10).await {
            let version =
                self.check(rows.iter().map(|row| row.integer("version").unwrap()).collect(), number);
            let row = rows.first().unwrap().clone();
            self.tried += 1;
            // Otherwise an earlier write whose outcome was unknown was carried out meanwhile, or this was not.
            if table.update(&row, [("version", self.tried.into())]).await.is_ok() {
                (self.acknowledged, self.done) = (self.tried, self.done + 1);
            }
            self.acknowledged = self.acknowledged.max(version);
        }
        if let Ok(rows) = table.get("place", 0..10).await {
            self.check(rows.iter().map(|row| row.integer("version").unwrap()).collect(), number);
        }
    }

    fn check(&mut self, versions: Vec<i64>, number: usize) -> i64 {
        let [version] = versions[..] else {
            panic!("seed {}: table {number} shows {versions:?}", effort::seed());
        };
        let range = self.acknowledged..=self.tried;
        assert!(
            range.contains(&version),
            "seed {}: table {number} shows {version} of {self:?}",
            effort::seed()
        );
        // What was seen is never unseen.
        (self.acknowledged, self.reads) = (version, self.reads + 1);
        version
    }
}

async fn works(tables: &[Table], seen: &mut [Seen], within: Duration) {
    let start = Instant::now();
    let wanted: Vec<u64> = seen.iter().map(|seen| seen.done + 3).collect();
    while seen.iter().zip(&wanted).any(|(seen, wanted)| seen.done < *wanted) {
        assert!(start.elapsed() < within, "seed {}: a table stays dead: {seen:?}", effort::seed());
        for (number, (table, seen)) in tables.iter().zip(&mut *seen).enumerate() {
            if seen.done < wanted[number] {
                seen.step(table, number).await;
            }
        }
    }
}

/// Clients that go on while servers are away.
async fn disturbed(tables: &[Table], seen: Vec<Seen>, is_over: &Arc<AtomicBool>) -> Vec<Seen> {
    let mut clients = tokio::task::JoinSet::new();
    for (number, (table, mut seen)) in tables.iter().cloned().zip(seen).enumerate() {
        let is_over = is_over.clone();
        clients.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                seen.step(&table, number).await;
            }
            (number, seen)
        });
    }
    let mut ended = clients.join_all().await;
    ended.sort_by_key(|(number, _)| *number);
    ended.into_iter().map(|(_, seen)| seen).collect()
}

async fn tables_come_back(dialect: Dialect) {
    let Some(mut team) = Team::before(dialect, Policy::WriteThrough, Leases::Database, None) else { return };
    let cache = make_tables(&team, TABLES).await;
    let port = free_port();
    let mut dendrite =
        block_in_place(|| Process::start(team.command_of_file(&sections(TABLES), port), port, None));
    let mut tables = Vec::new();
    for number in 0..TABLES {
        let client = team.client_of(&super::many::name(number), &[dendrite.address()]).await;
        let client = Arc::new(client.with_patience(Duration::from_secs(1)));
        let table = cache.table_over(super::many::schema(number), client).await.unwrap();
        let patient = table_of(&team, &cache, &dendrite, number).await;
        patient.insert([("place", PLACE.into()), ("version", 0.into())]).await.unwrap();
        tables.push(table);
    }
    let mut seen: Vec<Seen> = (0..TABLES).map(|_| Seen::default()).collect();
    works(&tables, &mut seen, AT_MOST).await;
    for round in 0..effort::short_or_long(2, 20) {
        let is_over = Arc::new(AtomicBool::new(false));
        let working = tokio::spawn({
            let (tables, is_over) = (tables.clone(), is_over.clone());
            async move { disturbed(&tables, seen, &is_over).await }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        if round % 2 == 0 {
            block_in_place(|| team.store.kill());
        } else {
            team.caches.iter_mut().for_each(lacuna_testkit::servers::Redis::kill);
        }
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        if round % 2 == 0 {
            block_in_place(|| team.store.restart());
        } else {
            block_in_place(|| team.caches.iter_mut().for_each(lacuna_testkit::servers::Redis::restart));
        }
        is_over.store(true, Ordering::Relaxed);
        seen = working.await.unwrap();
        let start = Instant::now();
        works(&tables, &mut seen, AT_MOST).await;
        println!("{dialect:?}, round {round}: all {TABLES} tables write again after {:?}", start.elapsed());
    }
    let reads: u64 = seen.iter().map(|seen| seen.reads).sum();
    println!("{dialect:?}: {reads} reads, none stale");
    assert_eq!(block_in_place(|| dendrite.stop()).code, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_a_postgres_that_is_killed_come_back_and_are_never_stale() {
    tables_come_back(Dialect::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_a_mariadb_that_is_killed_come_back_and_are_never_stale() {
    tables_come_back(Dialect::MariaDb).await;
}

/// It waits for a database that is started again, and says so if that takes too long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dendrite_that_leaves_writes_in_its_logs_says_so_by_its_exit_code() {
    let Some(mut team) = Team::new(Policy::WriteBack, Leases::Database) else { return };
    let cache = patient(team.store.url()).open().await.unwrap();
    crate::world::make_tables(&cache, Dialect::Postgres).await;
    let mut dendrite = block_in_place(|| team.start_somewhere());
    let client = team.client(&[dendrite.address()]).await;
    let table = cache.table_over(schema(), Arc::new(client)).await.unwrap();
    assert_eq!(table.get("place", 0..10).await.unwrap().len(), 0, "known to be empty: a row is buffered");
    block_in_place(|| team.store.kill());
    table.insert([("place", PLACE.into()), ("version", 1.into()), ("other", 0.into())]).await.unwrap();
    let ended = block_in_place(|| dendrite.stop());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    block_in_place(|| team.store.restart());
    dendrite = block_in_place(|| team.start_again(&dendrite));
    assert_eq!(table.get("place", 0..10).await.unwrap().len(), 1);
    assert_eq!(block_in_place(|| dendrite.stop()).code, Some(0));
}

#[test]
#[should_panic(expected = "shows 4 of")]
fn a_read_of_less_than_was_acknowledged_is_found() {
    Seen { acknowledged: 5, tried: 6, ..Seen::default() }.check(vec![4], 0);
}
