//! Dendrites know each other's writes, and whoever writes past all of them: by the log of the server, or by hits that are looked at
//! once more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::sql::{Cache, Options, Table};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::{Postgres, free_port};

use crate::team::{AT_MOST, Ended, Leases, Process, Team};
use crate::world::{Dialect, make_tables, schema};

/// Longer than a watchdog takes to look, several times.
const LOOKS: Duration = Duration::from_secs(1);

/// Two of them, beside each other.
fn start(team: &Team, how: &[&str]) -> [Process; 2] {
    let start = |port| {
        let mut command = team.command(port, None);
        command.args(how);
        Process::start(command, port, None)
    };
    tokio::task::block_in_place(|| [free_port(), free_port()].map(start))
}

fn stop(dendrites: &mut [Process; 2]) -> [Ended; 2] {
    tokio::task::block_in_place(|| dendrites.each_mut().map(Process::stop))
}

async fn table(team: &Team, cache: &Cache, dendrites: &[Process; 2]) -> Table {
    let client = team.client(&dendrites.each_ref().map(Process::address)).await;
    cache.table_over(schema(), Arc::new(client)).await.unwrap()
}

async fn put(table: &Table, place: i64) {
    let row = [("place", place.into()), ("version", 1.into()), ("other", 0.into())];
    table.insert(row).await.unwrap();
}

/// Rows of one range: results of several are not cached.
async fn count(table: &Table) -> usize {
    table.get("place", 12..28).await.unwrap().len()
}

/// Writes through the dendrites are nobody's but theirs, and one past them is found by all that is cached of it.
async fn strangers_are_told_from_dendrites(team: Team, how: &[&str]) {
    let cache = Options::new(team.store.url()).open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let mut dendrites = start(&team, how);
    let writing = table(&team, &cache, &dendrites).await;
    for place in (0..40).step_by(4) {
        put(&writing, place).await;
        assert!(count(&writing).await <= 4);
    }
    tokio::time::sleep(LOOKS).await;
    for ended in stop(&mut dendrites) {
        assert_eq!(ended.counts["foreign_writes"], 0, "{ended:?}");
    }

    let mut dendrites = start(&team, how);
    let reading = table(&team, &cache, &dendrites).await;
    assert_eq!((count(&reading).await, count(&reading).await), (4, 4));
    cache.run_sql("UPDATE slots SET place = place + 2000 WHERE place = 20").await.unwrap();
    let begun = Instant::now();
    while count(&reading).await != 3 {
        assert!(begun.elapsed() < AT_MOST, "{:?}", reading.counts());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // The rows are fresh at once; it is reported when the fence proves that no other dendrite wrote.
    tokio::time::sleep(5 * LOOKS).await;
    let ended = stop(&mut dendrites);
    let found: u64 = ended.iter().filter_map(|ended| ended.counts["foreign_writes"].as_u64()).sum();
    assert!(found >= 1, "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_is_found_by_the_watchdogs_of_dendrites_and_a_dendrite_is_none() {
    let (Some(mut team), Some(logged)) =
        (Team::new(Policy::WriteThrough, Leases::Database), Postgres::logged())
    else {
        return;
    };
    team.store = crate::team::Store::Postgres(logged);
    strangers_are_told_from_dendrites(team, &["--watchdog"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_is_found_by_verified_hits_of_dendrites_and_a_dendrite_is_none() {
    let Some(team) = Team::new(Policy::WriteThrough, Leases::Database) else { return };
    strangers_are_told_from_dendrites(team, &["--verify-hits", "10"]).await;
}
