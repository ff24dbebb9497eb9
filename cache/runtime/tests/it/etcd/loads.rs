//! Bulk loads over PostgreSQL, Redis and etcd, in the middle of which a dendrite dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::WriteError;
use lacuna_cache::sql::{BulkLoad, Statement, Table};
use lacuna_cache_protocol::RangeId;

use crate::etcd::together::{AT_MOST, Member, SharedServers, apart};

const LONG: Duration = Duration::from_secs(600);
const BOTH: [RangeId; 2] = [RangeId(0), RangeId(1)];

async fn raise(load: &mut BulkLoad, half: &str, version: i64) -> Result<(), WriteError> {
    load.execute(vec![Statement::new(format!("UPDATE slots SET version = {version} WHERE place {half} 500"))])
        .await
}

/// The versions of all rows, once somebody answers.
async fn versions(table: &Table) -> Vec<i64> {
    let start = Instant::now();
    loop {
        match table.get("place", 0..1_000).await {
            Ok(rows) => return rows.iter().map(|row| row.integer("version").unwrap()).collect(),
            Err(why) => assert!(start.elapsed() < AT_MOST, "{why}"),
        }
    }
}

/// Reads until it is over: no row ever goes back to what it was before a load.
async fn never_goes_back(table: Arc<Table>, is_over: Arc<AtomicBool>) -> u32 {
    let (mut reads, mut newest) = (0, vec![0; 20]);
    while !is_over.load(Ordering::Relaxed) {
        let seen = versions(&table).await;
        assert!(seen.iter().zip(&newest).all(|(seen, known)| seen >= known), "{newest:?}, then {seen:?}");
        (reads, newest) = (reads + 1, seen);
    }
    reads
}

/// A whole load, begun as often as its lease is lost.
async fn load_surely(table: &Table, version: i64) {
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < AT_MOST, "a load comes to its end");
        let Ok(mut load) = table.bulk_load(LONG).await else { continue };
        if raise(&mut load, "<", version).await.is_ok()
            && raise(&mut load, ">=", version).await.is_ok()
            && load.finish().await.is_ok()
        {
            return;
        }
    }
}

/// The ranges of a dead dendrite are another's.
async fn has_all(member: &Member) {
    let me = member.coordinator.holder();
    let start = Instant::now();
    while !BOTH.iter().all(|range| member.dendrite.owned().contains(range)) {
        assert!(start.elapsed() < AT_MOST, "it takes over");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    member
        .map_with(|map| BOTH.iter().all(|range| map.owner(*range).is_some_and(|owned| owned.holder == me)))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_in_the_middle_of_which_an_owner_dies_is_refused_and_begun_again() {
    let Some(servers) = SharedServers::new().await else { return };
    let b = servers.member("b").await;
    let (runtime, a) = apart(&servers, "a").await;
    a.settle(&[&b]).await;
    let mut load = b.table.bulk_load(LONG).await.unwrap();
    let row = |place: i64| [("place", (place * 50).into()), ("version", 0.into())];
    load.insert((0..20).map(row)).await.unwrap();
    load.finish().await.unwrap();
    assert_eq!(versions(&b.table).await, [0; 20]);
    let is_over = Arc::new(AtomicBool::new(false));
    let reading = tokio::spawn(never_goes_back(b.table.clone(), is_over.clone()));
    load_surely(&b.table, 1).await;
    assert_eq!(versions(&b.table).await, [1; 20], "all of a load is seen");
    // Whether it leads the load or is asked for its part.
    let mut load = b.table.bulk_load(LONG).await.unwrap();
    raise(&mut load, "<", 2).await.unwrap();
    // As kill -9 does: nothing is given back, nothing is finished.
    servers.transport.remove("a");
    runtime.shutdown_background();
    has_all(&b).await;
    let late = raise(&mut load, ">=", 2).await;
    assert!(matches!(late, Err(WriteError::NotDone(_))), "{late:?}");
    assert!(load.finish().await.is_err());
    let seen = versions(&b.table).await;
    assert_eq!((&seen[..10], &seen[10..]), (&[2; 10][..], &[1; 10][..]), "what the database has");
    load_surely(&b.table, 3).await;
    assert_eq!(versions(&b.table).await, [3; 20], "all of a load is seen");
    is_over.store(true, Ordering::Relaxed);
    println!("{} reads beside the loads", reading.await.unwrap());
    std::mem::forget(a);
    b.dendrite.stop().await.unwrap();
}
