//! Writers that share rows of two registered columns, over dendrites that are cut off, paused and killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lacuna_cache::sql::{Notice, Table};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;
use sqlx::{Connection as _, MySqlConnection, PgConnection, Row as _};

use super::shared::{Shared, make_table, schema};
use super::storm::{MILLION, SHORT, Storm, Target};
use super::team::{Leases, Process, Team};
use super::world::{Dialect, patient};

/// The marks of rows lie in the first range, so that writes of rows behind a cut concern two owners.
const SHARED: &[&str] = &[
    "--table",
    "shared",
    "--key",
    "id",
    "--domain",
    "id:integer",
    "--domain",
    "mark:integer",
    "--cut",
    "6",
    "--cut",
    "12",
];
/// How long clients wait for what is broken.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writers at work, half of them through one client and half through another, until it is over and they have read enough.
fn work(
    shared: &Arc<Shared>,
    dialect: Dialect,
    tables: &[Table; 2],
    storm: Storm,
    is_over: &Arc<AtomicBool>,
) -> tokio::task::JoinSet<()> {
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..storm.clients {
        let (shared, is_over) = (Arc::clone(shared), Arc::clone(is_over));
        let tables = tables.clone();
        writers.spawn(async move {
            let table = &tables[usize::from(writer % 2 == 1)];
            let mut round = 0;
            let reads = || tables.iter().map(|table| table.counts().reads).sum::<u64>();
            while !is_over.load(Ordering::Relaxed) || reads() < storm.min_reads {
                let rng = effort::rng(9_000 + 100_000 * writer + round);
                Arc::clone(&shared).client(table.clone(), dialect, rng, 20, 90).await;
                round += 1;
            }
        });
    }
    writers
}

/// The rows as the database has them: id and mark.
async fn last_rows(url: &str) -> Vec<(i64, i64)> {
    const ROWS: &str = "SELECT id, mark FROM shared";
    if url.starts_with("postgres") {
        let rows = sqlx::query(ROWS).fetch_all(&mut PgConnection::connect(url).await.unwrap()).await.unwrap();
        return rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    }
    let rows = sqlx::query(ROWS).fetch_all(&mut MySqlConnection::connect(url).await.unwrap()).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn writers_of_shared_rows_lose_nothing(dialect: Dialect, leases: Leases, storm: Storm) {
    let policy = Policy::WriteBack;
    let Some(team) = Team::before(dialect, policy, leases, None) else { return };
    let cache = patient(team.store.url()).open().await.unwrap();
    make_table(&cache).await;
    let mut target = Target::start(team.with_table(SHARED)).await;
    let addresses: Vec<String> = target.dendrites.iter().map(Process::address).collect();
    let clients = [&addresses[..2], &addresses[..]];
    let mut tables = Vec::new();
    for addresses in clients {
        let client = target.team.client(addresses).await.with_patience(PATIENCE);
        tables.push(cache.table_over(schema(), Arc::new(client)).await.unwrap());
    }
    let tables: [Table; 2] = tables.try_into().unwrap();
    let mut notices = tables[1].notices();
    // Of overlapping results fewer are hits.
    let shared = if storm.breaks_servers { Shared::default() } else { Shared::default().with_overlaps() };
    let shared = Arc::new(shared);
    let is_over = Arc::new(AtomicBool::new(false));
    let mut writers = work(&shared, dialect, &tables, storm, &is_over);
    let kinds = target.kinds(storm);
    while target.faults.rarest(kinds) < storm.min_of_each {
        target.strike(storm).await;
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    // Stopped dendrites leave nothing buffered.
    let ended = target.stop();
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:?}");
    let (seed, url) = (effort::seed(), target.team.store.url());
    while let Ok(notice) = notices.try_recv() {
        assert!(!matches!(notice, Notice::SetAside(_)), "seed {seed}: {notice:?}");
    }
    let checked = shared.check(&last_rows(&url).await.into_iter().collect());
    let [done, refused, unknown] =
        [&shared.done, &shared.refused, &shared.unknown].map(|count| count.load(Ordering::Relaxed));
    // Dendrites that were killed took their counts with them.
    let sum = |name: &str| ended.iter().map(|ended| ended.counts[name].as_u64().unwrap()).sum::<u64>();
    let (reads, hits) = (sum("reads"), sum("hits"));
    let all_reads: u64 = tables.iter().map(|table| table.counts().reads).sum();
    println!(
        "{dialect:?}, {:?}: {all_reads} reads, {done} done, {refused} refused, {unknown} unknown; {hits} hits of {reads}",
        target.faults
    );
    assert!(done > 50 && refused > 10 && hits > 100, "writers meet and reads hit");
    assert!(!storm.breaks_servers || hits * 2 >= reads, "half of the reads are hits");
    assert!(checked.is_ok(), "seed {seed}: {}", checked.unwrap_err());
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_shared_rows_lose_nothing_under_write_back() {
    writers_of_shared_rows_lose_nothing(Dialect::Postgres, Leases::Database, SHORT).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_shared_rows_lose_nothing_under_write_back_on_mariadb() {
    writers_of_shared_rows_lose_nothing(Dialect::MariaDb, Leases::Database, SHORT).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_reads_of_shared_rows_show_nothing_stale_under_write_back() {
    if effort::is_long() {
        let storm = Storm { clients: 8, ..MILLION };
        writers_of_shared_rows_lose_nothing(Dialect::Postgres, Leases::Etcd, storm).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_reads_of_shared_rows_show_nothing_stale_under_write_back_on_mariadb() {
    if effort::is_long() {
        let storm = Storm { clients: 8, ..MILLION };
        writers_of_shared_rows_lose_nothing(Dialect::MariaDb, Leases::Etcd, storm).await;
    }
}
