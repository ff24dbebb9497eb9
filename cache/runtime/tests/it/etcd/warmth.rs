//! How soon hits are back after a dendrite was killed: with what it left in the cache server, and without.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache_protocol::RangeId;
use lacuna_testkit::effort;

use crate::etcd::together::{AT_MOST, Member, SharedServers, apart};

/// Rows of each range, and how many of them a query asks for.
const ROWS: i64 = 400;
const STEP: i64 = 4;
/// Reads over which a hit rate is taken.
const WINDOW: usize = 50;

/// What a take-over was like.
#[derive(Debug)]
struct TakeOver {
    old_rate: f64,
    /// After the dendrite was killed.
    served: Duration,
    /// After it was served again, until there were nine tenths of the old hits.
    warm: Duration,
}

impl Member {
    /// The share of hits of the next window of reads, of some queries in turn.
    async fn rate(&self, first: i64, next: &mut i64) -> f64 {
        let before = self.table.counts();
        for _ in 0..WINDOW {
            let lo = first + *next;
            *next = (*next + STEP) % ROWS;
            drop(self.count(lo, lo + STEP - 1).await);
        }
        let after = self.table.counts();
        (after.hits - before.hits) as f64 / (after.reads - before.reads).max(1) as f64
    }

    /// How long it takes until so many of the reads are hits.
    async fn until(&self, rate: f64, first: i64) -> Duration {
        let (start, mut next) = (Instant::now(), 0);
        while self.rate(first, &mut next).await < rate {
            assert!(start.elapsed() < AT_MOST, "hits come back: {:?}", self.table.counts());
        }
        start.elapsed()
    }
}

fn empty(redis_url: &str) {
    let mut stream = TcpStream::connect(redis_url.trim_start_matches("redis://")).unwrap();
    stream.write_all(b"FLUSHALL\r\n").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n");
}

async fn take_over(servers: &Arc<SharedServers>, keeps_entries: bool) -> TakeOver {
    let b = servers.member("b").await;
    let (runtime, a) = apart(servers, "a").await;
    a.settle(&[&b]).await;
    let map =
        b.map_with(|map| [RangeId(0), RangeId(1)].iter().all(|range| map.owner(*range).is_some())).await;
    let is_lower = map.owner(RangeId(0)).unwrap().holder == a.coordinator.holder();
    let first = if is_lower { 0 } else { 500 };
    for place in 0..ROWS {
        a.put_surely(first + place).await;
    }
    a.until(0.98, first).await;
    let old_rate = a.rate(first, &mut 0).await;
    servers.transport.remove("a");
    runtime.shutdown_background();
    let killed = Instant::now();
    if !keeps_entries {
        empty(&servers.redis.url());
    }
    while b.count(first, first).await.ok() != Some(1) {
        assert!(killed.elapsed() < AT_MOST, "the range is served again");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let served = killed.elapsed();
    let warm = b.until(0.9 * old_rate, first).await;
    std::mem::forget(a);
    b.dendrite.stop().await.unwrap();
    TakeOver { old_rate, served, warm }
}

/// Printed, not judged: how soon depends on how fast is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hits_are_back_after_a_take_over() {
    for (name, keeps_entries) in [("warm", true), ("cold", false)] {
        for _ in 0..effort::short_or_long(1, 3) {
            let Some(servers) = SharedServers::new().await else { return };
            let TakeOver { old_rate, served, warm } = take_over(&servers, keeps_entries).await;
            println!(
                "{name}: hit rate {old_rate:.2} before; served again after {served:.2?}, and 90 % of that rate {warm:.2?} later"
            );
        }
    }
}
