//! Bulk loads over the ranges of dendrites that are killed in the middle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::sql::{Statement, Table, WriteError};
use lacuna_cache_protocol::Policy;

use crate::team::{AT_MOST, Leases, Process, Team};
use crate::world::{Dialect, make_tables, patient, schema};

const LONG: Duration = Duration::from_secs(600);

/// The versions of the rows of a range, all of which are there.
async fn versions(table: &Table, range: std::ops::Range<i64>) -> Vec<i64> {
    let start = Instant::now();
    loop {
        match table.get("place", range.clone()).await {
            Ok(rows) => return rows.iter().map(|row| row.integer("version").unwrap()).collect(),
            Err(why) => assert!(start.elapsed() < AT_MOST, "{why}"),
        }
    }
}

/// Reads until it is over: no row ever goes back to what it was before a load.
async fn never_goes_back(table: Table, is_over: Arc<AtomicBool>) -> u32 {
    let (mut reads, mut newest) = (0, [0; 40]);
    while !is_over.load(Ordering::Relaxed) {
        for range in [0..12, 12..28, 28..40, 0..40] {
            let first = usize::try_from(range.start).unwrap();
            for (known, seen) in newest[first..].iter_mut().zip(versions(&table, range).await) {
                assert!(seen >= *known, "a row of version {known} is shown as {seen}");
                *known = seen;
            }
        }
        reads += 1;
    }
    reads
}

/// Two halves in two transactions, with something in between; whether nobody was let in from begin to end.
async fn load(table: &Table, version: i64, between: impl FnOnce()) -> Result<(), WriteError> {
    let mut load = table.bulk_load(LONG).await?;
    let half = |condition| Statement::new(format!("UPDATE slots SET version = {version} WHERE {condition}"));
    load.execute(vec![half("place < 20")]).await?;
    between();
    load.execute(vec![half("place >= 20")]).await?;
    Ok(load.finish().await?)
}

async fn loads_outlive_dendrites(leases: Leases) {
    let Some(team) = Team::new(Policy::WriteThrough, leases) else { return };
    let cache = patient(team.store.url()).open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let mut dendrites = [team.start_somewhere(), team.start_somewhere()];
    let addresses: Vec<String> = dendrites.iter().map(Process::address).collect();
    let clients = [team.client(&addresses).await, team.client(&addresses).await];
    let [loader, reader] = clients.map(Arc::new);
    let loader = cache.table_over(schema(), loader).await.unwrap();
    let reader = cache.table_over(schema(), reader).await.unwrap();
    let row = |place: i64| [("place", place.into()), ("version", 1.into()), ("other", 0.into())];
    let start = Instant::now();
    loop {
        let mut first = loader.bulk_load(LONG).await.unwrap();
        match first.insert((0..40).map(row)).await {
            Ok(()) => break drop(first.finish().await),
            Err(WriteError::Refused(why)) => panic!("{why}"),
            Err(why) => assert!(start.elapsed() < AT_MOST, "{why}"),
        }
    }
    assert_eq!(versions(&reader, 0..40).await, [1; 40]);
    let is_over = Arc::new(AtomicBool::new(false));
    let reading = tokio::spawn(never_goes_back(reader.clone(), is_over.clone()));
    let (mut version, mut lost) = (1, 0);
    for place in [0, 1, 0, 1] {
        // One of the two leads, and the other is asked.
        let (start, mut is_killed) = (Instant::now(), false);
        loop {
            version += 1;
            let kill = || {
                if !std::mem::replace(&mut is_killed, true) {
                    dendrites[place].kill();
                }
            };
            match load(&loader, version, kill).await {
                Ok(()) => break,
                Err(WriteError::Refused(why)) => panic!("{why}"),
                Err(why) => assert!(start.elapsed() < AT_MOST, "{why}"),
            }
            lost += 1;
        }
        assert_eq!(versions(&reader, 0..40).await, [version; 40], "all of the load is seen");
        dendrites[place] = tokio::task::block_in_place(|| team.start_again(&dendrites[place]));
    }
    is_over.store(true, Ordering::Relaxed);
    let reads = reading.await.unwrap();
    println!("{leases:?}: {version} loads, of which {lost} were lost, beside {reads} rounds of reads");
    assert!(reads > 0);
    for dendrite in &mut dendrites {
        let ended = tokio::task::block_in_place(|| dendrite.stop());
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_in_the_middle_of_which_a_dendrite_dies_is_seen_whole_or_begun_again() {
    loads_outlive_dendrites(Leases::Database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_in_the_middle_of_which_a_dendrite_dies_under_etcd_is_seen_whole_or_begun_again() {
    loads_outlive_dendrites(Leases::Etcd).await;
}
