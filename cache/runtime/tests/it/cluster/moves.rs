//! Ranges that go from one dendrite to another, for the sake of the load, and what is warm then.

use std::time::{Duration, Instant};

use lacuna_cache::sql::Table;
use lacuna_cache::{Alarm, Counts};
use lacuna_cache_protocol::{Policy, RangeId};
use lacuna_testkit::servers::Redis;

use crate::cluster::dendrites::{AT_MOST, CUT, Dendrites, places, slot};

const BOTH: [RangeId; 2] = [RangeId(0), RangeId(1)];

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dendrite_that_comes_late_gets_its_share_and_ranges_stay_then() {
    let mut dendrites = Dendrites::open(1, Policy::WriteThrough).await;
    let table = dendrites.table_at(0).await;
    for (id, place) in [(1, 50), (2, 150)] {
        table.insert(slot(id, place)).await.unwrap();
    }
    assert_eq!(dendrites.dendrite(0).owned(), BOTH);
    dendrites.add().await;
    let start = Instant::now();
    while dendrites.dendrite(1).owned().len() + dendrites.dendrite(0).owned().len() != 2
        || dendrites.dendrite(1).owned().is_empty()
    {
        assert!(start.elapsed() < AT_MOST, "a range moves");
        assert_eq!(places(&table.get("place", 0..200).await.unwrap()), [50, 150]);
        tokio::time::sleep(PAUSE).await;
    }
    println!("a range moved {:?} after the second dendrite came", start.elapsed());
    while !stays(&dendrites, &table).await {
        assert!(start.elapsed() < 3 * AT_MOST, "the machine is out of breath all the time");
    }
    dendrites.stop().await;
}

/// Ranges stay where they are for five seconds; `false` if something took so long meanwhile that leases may have ended.
async fn stays(dendrites: &Dendrites, table: &Table) -> bool {
    let seen = |place| (dendrites.dendrite(place).owned(), dendrites.counts(place).tenures);
    let (before, settled, mut last) = ([seen(0), seen(1)], Instant::now(), Instant::now());
    while settled.elapsed() < Duration::from_secs(5) {
        assert_eq!(places(&table.get("place", ..CUT).await.unwrap()), [50]);
        assert_eq!(places(&table.get("place", CUT..).await.unwrap()), [150]);
        tokio::time::sleep(PAUSE).await;
        if last.elapsed() > Duration::from_secs(1) || before.iter().any(|(owned, _)| owned.is_empty()) {
            return false;
        }
        last = Instant::now();
    }
    assert_eq!([seen(0), seen(1)], before, "it stays");
    true
}

async fn read_all(table: &Table, expected: &[i64]) {
    for lo in 0..CUT / 2 {
        let found = places(&table.get("place", lo..=lo + 1).await.unwrap());
        let right: Vec<i64> =
            expected.iter().copied().filter(|place| (lo..=lo + 1).contains(place)).collect();
        assert_eq!(found, right, "from {lo}");
    }
}

fn since(before: Counts, now: Counts) -> (u64, u64) {
    (now.hits - before.hits, now.store_queries - before.store_queries)
}

/// The range goes back and forth, and whoever has it writes. Returns the share of hits among the first reads of each.
async fn move_and_write(dendrites: &Dendrites, about: &str) -> Vec<(u64, u64)> {
    dendrites.claim_both_ranges().await;
    let table = dendrites.table_at(0).await;
    let (mut expected, mut seen) = (Vec::new(), Vec::new());
    read_all(&table, &expected).await;
    for (round, place) in [7, 8, 30, 31, 45, 2].into_iter().enumerate() {
        let (from, to) = (round % 2, 1 - round % 2);
        dendrites.dendrite(from).leave(RangeId(0));
        dendrites.claim(to, RangeId(0)).await;
        let (before, start) = (dendrites.counts(to), Instant::now());
        read_all(&table, &expected).await;
        let (first, between) = (since(before, dendrites.counts(to)), dendrites.counts(to));
        println!("{about}: {} hits, {} queries in the first {:?}", first.0, first.1, start.elapsed());
        let again = Instant::now();
        read_all(&table, &expected).await;
        println!("{about}: {:?} behind that", (since(between, dendrites.counts(to)), again.elapsed()));
        // What it writes is seen by the next.
        table.insert(slot(i64::try_from(round).unwrap(), place)).await.unwrap();
        expected.push(place);
        expected.sort_unstable();
        read_all(&table, &expected).await;
        seen.push(first);
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_that_moves_is_warm_and_never_stale() {
    let reads = u64::try_from(CUT / 2).unwrap();
    for policy in [Policy::WriteAround, Policy::WriteThrough] {
        // A server that a busy machine keeps waiting for a quarter of a second is passed over, and a take-over is cold then.
        for round in 0.. {
            let Some(server) = Redis::cache() else { return };
            let dendrites = Dendrites::open_before(2, policy, Some(&server)).await;
            let seen = move_and_write(&dendrites, &format!("warm, {policy:?}")).await;
            dendrites.stop().await;
            if seen == [(reads, 0); 6] {
                break;
            }
            assert!(round < 5, "{policy:?}: no query of the store, but {seen:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cache_in_memory_is_begun_cold() {
    let dendrites = Dendrites::open(2, Policy::WriteThrough).await;
    let seen = move_and_write(&dendrites, "cold").await;
    // A read that is late is tried again, and its result may be there by then.
    assert!(seen.iter().all(|(hits, queries)| *hits <= 5 && *queries > 0), "{seen:?}");
    dendrites.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_knows_of_strangers_takes_nothing_over() {
    for tell in [Alarm::raise, Alarm::begin_cold] {
        let Some(server) = Redis::cache() else { return };
        let mut dendrites = Dendrites::open_before(1, Policy::WriteThrough, Some(&server)).await;
        let table = dendrites.table_at(0).await;
        table.insert(slot(1, 50)).await.unwrap();
        for _ in 0..2 {
            assert_eq!(places(&table.get("place", 40..60).await.unwrap()), [50]);
        }
        dendrites.cache.run_sql("INSERT INTO slots VALUES (2, 51, 'past the cache')").await.unwrap();
        dendrites.add().await;
        // It owns nothing yet.
        tell(&dendrites.dendrite(1).alarm());
        dendrites.dendrite(0).leave(RangeId(0));
        dendrites.claim(1, RangeId(0)).await;
        let table = dendrites.table_at(1).await;
        assert_eq!(places(&table.get("place", 40..60).await.unwrap()), [50, 51]);
        dendrites.stop().await;
    }
}
