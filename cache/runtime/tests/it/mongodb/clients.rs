//! Clients at work together: no read is older than a write that was acknowledged before it, nor than an earlier read.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use lacuna_cache::mongodb::{Collection, doc};
use lacuna_testkit::effort;

use crate::mongodb::{is_done, people, server};

/// Documents, one for each writer, so that its versions only rise.
const SLOTS: i64 = 6;
const OPERATIONS: i64 = 60;

/// For each document the version that every later read must show at least.
type Shown = Arc<Vec<AtomicI64>>;

async fn reads(people: Collection, shown: Shown, seed: u64) {
    let mut rng = effort::rng(seed);
    for _ in 0..5 * OPERATIONS {
        let lo = rng.below(SLOTS.unsigned_abs()).cast_signed();
        let range = lo..=lo + rng.below(3).cast_signed();
        let before: Vec<i64> = shown.iter().map(|version| version.load(Ordering::SeqCst)).collect();
        let found = people.get("age", range.clone()).await.unwrap();
        assert_eq!(
            found.len(),
            range.filter(|age| *age < SLOTS).count(),
            "none comes and none goes, seed {seed}"
        );
        for document in &found {
            let place = usize::try_from(document.get_i64("age").unwrap()).unwrap();
            let version = document.get_i64("version").unwrap();
            assert!(version >= before[place], "seed {seed}: {version} after {}", before[place]);
            shown[place].fetch_max(version, Ordering::SeqCst);
        }
    }
}

async fn writes(people: Collection, shown: Shown, slot: i64) {
    for version in 1..=OPERATIONS {
        let seen = doc! { "_id": slot, "age": slot };
        while !is_done(people.update(&seen, doc! { "version": version }).await) {}
        shown[usize::try_from(slot).unwrap()].fetch_max(version, Ordering::SeqCst);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_see_nothing_stale() {
    let Some(server) = server() else { return };
    let (cache, people) = people(&server.url()).await;
    for slot in 0..SLOTS {
        people.insert(doc! { "_id": slot, "age": slot, "version": 0i64 }).await.unwrap();
    }
    let shown: Shown = Arc::new((0..SLOTS).map(|_| AtomicI64::new(0)).collect());
    let mut clients = tokio::task::JoinSet::new();
    for slot in 0..SLOTS {
        clients.spawn(writes(people.clone(), shown.clone(), slot));
        clients.spawn(reads(people.clone(), shown.clone(), 40 + slot.unsigned_abs()));
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let counts = cache.counts();
    println!("{counts:?}");
    assert!(counts.hits * 10 >= counts.reads && counts.hits < counts.reads, "hits and misses: {counts:?}");
    for document in people.get("age", 0..SLOTS).await.unwrap() {
        assert_eq!(document.get_i64("version").unwrap(), OPERATIONS);
    }
    cache.stop().await.unwrap();
}
