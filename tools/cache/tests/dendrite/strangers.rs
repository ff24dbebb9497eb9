//! Dendrites with a watchdog know each other's writes, and whoever writes past all of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_range_cache::Policy;
use lacuna_store_sql::{Options, Table};
use lacuna_test_servers::{Postgres, free_port};

use crate::team::{AT_MOST, Leases, Process, Team};
use crate::world::{Dialect, make_tables, schema};

fn start(team: &Team) -> Process {
    let port = free_port();
    let mut command = team.command(port, None);
    command.args(["--watchdog", "--verify-hits", "10"]);
    tokio::task::block_in_place(|| Process::start(command, port, None))
}

async fn put(table: &Table, place: i64) {
    let row = [("place", place.into()), ("version", 1.into()), ("other", 0.into())];
    table.insert(row).await.unwrap();
}

/// Rows of one range: results of several are not cached.
async fn count(table: &Table) -> usize {
    table.get("place", 12..28).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_is_found_by_the_dendrites_and_a_dendrite_is_none() {
    let (Some(mut team), Some(logged)) =
        (Team::new(Policy::WriteThrough, Leases::Database), Postgres::logged())
    else {
        return;
    };
    team.postgres = logged;
    let cache = Options::new(team.postgres.url()).open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let mut dendrites = [start(&team), start(&team)];
    let client = team.client(&dendrites.each_ref().map(Process::address)).await;
    let table = cache.table_over(schema(), Arc::new(client)).await.unwrap();
    for place in (0..40).step_by(4) {
        put(&table, place).await;
        assert!(count(&table).await <= 4);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let ended = tokio::task::block_in_place(|| dendrites[0].stop());
    assert_eq!(ended.counts["foreign_writes"], 0, "{ended:?}");

    dendrites[0] = start(&team);
    assert_eq!((count(&table).await, count(&table).await), (4, 4));
    cache.run_sql("UPDATE slots SET place = place + 2000 WHERE place = 20").await.unwrap();
    let begun = Instant::now();
    while count(&table).await != 3 {
        assert!(begun.elapsed() < AT_MOST, "{:?}", table.counts());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let ended = tokio::task::block_in_place(|| dendrites.each_mut().map(Process::stop));
    let found: u64 = ended.iter().filter_map(|ended| ended.counts["foreign_writes"].as_u64()).sum();
    assert!(found >= 1, "{ended:?}");
}
