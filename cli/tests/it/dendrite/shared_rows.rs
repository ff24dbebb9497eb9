//! Writers that share rows of two registered columns, over dendrites that are cut off, paused and killed; in a long run
//! everything else breaks, too, until a million reads were answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::sql::{Notice, Table};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;
use sqlx::{Connection as _, MySqlConnection, PgConnection, Row as _};

use super::shared::history::Shown;
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
/// Half of the reads are to be hits, so that there is more time between faults than in the storm of rows that have one writer.
const SHARED_MILLION: Storm = Storm { clients: 8, calm: Duration::from_millis(1_500), ..MILLION };

/// Writers at work until it is over, half of them through one client and half through another.
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
            while !is_over.load(Ordering::Relaxed) {
                let rng = effort::rng(9_000 + 100_000 * writer + round);
                Arc::clone(&shared).client(table.clone(), dialect, rng, 20, 90).await;
                round += 1;
            }
        });
    }
    writers
}

/// The rows as the database has them.
async fn last_rows(url: &str) -> Vec<Shown> {
    const ROWS: &str = "SELECT id, mark, note FROM shared";
    let shown = |id, mark, note| Shown { id, mark, note: Some(note) };
    if url.starts_with("postgres") {
        let rows = sqlx::query(ROWS).fetch_all(&mut PgConnection::connect(url).await.unwrap()).await.unwrap();
        return rows.iter().map(|row| shown(row.get(0), row.get(1), row.get(2))).collect();
    }
    let rows = sqlx::query(ROWS).fetch_all(&mut MySqlConnection::connect(url).await.unwrap()).await.unwrap();
    rows.iter().map(|row| shown(row.get(0), row.get(1), row.get(2))).collect()
}

async fn writers_of_shared_rows_lose_nothing(dialect: Dialect, leases: Leases, storm: Storm) {
    let policy = Policy::WriteBack;
    let Some(team) = Team::before(dialect, policy, leases, storm.lease_s) else { return };
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
    let begun = Instant::now();
    let mut writers = work(&shared, dialect, &tables, storm, &is_over);
    let kinds = target.kinds(storm);
    let answered = || shared.checked.load(Ordering::Relaxed);
    let mut printed = Instant::now();
    while target.faults.rarest(kinds) < storm.min_of_each || answered() < storm.min_reads {
        target.strike(storm).await;
        if printed.elapsed() > Duration::from_secs(60) {
            printed = Instant::now();
            println!(
                "{dialect:?}, {:.0?}: {} of {} reads are answered",
                begun.elapsed(),
                answered(),
                storm.min_reads
            );
        }
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    let worked = begun.elapsed();
    // Stopped dendrites leave nothing buffered.
    let ended = target.stop();
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:?}");
    let (seed, url) = (effort::seed(), target.team.store.url());
    while let Ok(notice) = notices.try_recv() {
        assert!(!matches!(notice, Notice::SetAside(_)), "seed {seed}: {notice:?}");
    }
    let verdict = shared.check(&last_rows(&url).await);
    let [done, refused, unknown] =
        [&shared.done, &shared.refused, &shared.unknown].map(|count| count.load(Ordering::Relaxed));
    // Dendrites that were killed took their counts with them.
    let sum = |name: &str| ended.iter().map(|ended| ended.counts[name].as_u64().unwrap()).sum::<u64>();
    let (reads, hits) = (sum("reads"), sum("hits"));
    let (checked, asked) = (answered(), tables.iter().map(|table| table.counts().reads).sum::<u64>());
    println!(
        "{dialect:?}, {leases:?}, seed {seed}, {worked:.0?}, {:?}: {checked} of {asked} reads were answered and are checked; \
         {done} writes done, {refused} refused, {unknown} unknown; {hits} hits of {reads} reads that dendrites know of",
        target.faults
    );
    assert!(done > 50 && refused > 10 && hits > 100, "writers meet and reads hit");
    assert!(!storm.breaks_servers || hits * 2 >= reads, "half of the reads are hits");
    assert!(verdict.is_ok(), "seed {seed}: {}", verdict.unwrap_err());
    println!("{dialect:?}, {leases:?}: no anomaly in {checked} reads, no acknowledged write is lost");
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
        writers_of_shared_rows_lose_nothing(Dialect::Postgres, Leases::Etcd, SHARED_MILLION).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_reads_of_shared_rows_show_nothing_stale_under_write_back_on_mariadb() {
    if effort::is_long() {
        writers_of_shared_rows_lose_nothing(Dialect::MariaDb, Leases::Etcd, SHARED_MILLION).await;
    }
}
