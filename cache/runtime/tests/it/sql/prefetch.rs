//! Results that are fetched before anybody asks, and what a cache does by itself: how large entries are, and how they are cut.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_cache::redis::RedisCache;
use lacuna_cache::sql::{Cache, Compressed, DomainType, Options, QueryLog, Schema, SqlValue, Table};
use lacuna_cache_protocol::Policy;
use lacuna_cache_protocol::embedded::MemoryCache;

use lacuna_testkit::servers::Redis;

use crate::sql::world::AT_MOST;

async fn people(options: Options) -> (Cache, Table) {
    let cache = options.open().await.unwrap();
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, note TEXT)").await.unwrap();
    let people =
        cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await.unwrap();
    let mut load = people.bulk_load(Duration::from_secs(60)).await.unwrap();
    let note = || SqlValue::Text("a note that is like any other, ".repeat(10));
    load.insert((0..1_000_i64).map(|id| [("id", id.into()), ("age", id.into()), ("note", note())]))
        .await
        .unwrap();
    load.finish().await.unwrap();
    (cache, people)
}

fn in_memory() -> Options {
    Options::new("sqlite::memory:")
}

/// What is asked of the store while these are read.
async fn asked(people: &Table, ranges: &[(i64, i64)]) -> u64 {
    let before = people.counts().store_queries;
    for (lo, end) in ranges {
        let rows = people.get("age", *lo..*end).await.unwrap();
        assert_eq!(rows.len(), usize::try_from(end - lo).unwrap());
    }
    people.counts().store_queries - before
}

#[tokio::test]
async fn what_was_prefetched_is_a_hit() {
    let (_cache, people) = people(in_memory()).await;
    let ranges: Vec<(i64, i64)> = (0..50).map(|nth| (10 * nth, 10 * nth + 7)).collect();
    let wanted = ranges.iter().map(|(lo, end)| *lo..*end);
    assert_eq!(people.prefetch("age", wanted).await.unwrap(), 50);
    let hits = people.counts().hits;
    assert_eq!(asked(&people, &ranges).await, 0);
    assert_eq!(people.counts().hits, hits + 50);
    assert_eq!(people.prefetch("age", Vec::<std::ops::Range<i64>>::new()).await.unwrap(), 0);
    assert!(people.prefetch("note", [0..1, 1..2]).await.is_err(), "a column that is not registered");
}

#[tokio::test]
async fn the_heaviest_buckets_of_a_histogram_are_prefetched() {
    let (_cache, people) = people(in_memory()).await;
    let buckets = [(0, 5), (100, 70), (200, 1), (300, 60), (400, 2)];
    assert_eq!(people.prefetch_histogram("age", &buckets, 2).await.unwrap(), 2);
    assert_eq!(asked(&people, &[(100, 200), (300, 400)]).await, 0);
    assert_eq!(asked(&people, &[(200, 300)]).await, 1);
    assert!(people.prefetch_histogram("age", &[(SqlValue::Null, 1)], 2).await.is_err());
}

#[tokio::test]
async fn the_log_of_one_run_warms_the_next() {
    let (_cache, before) = people(in_memory()).await;
    let log = before.record_queries(100);
    assert!(log.is_empty());
    for nth in 0..90_i64 {
        before.get("age", 0..1 + nth % 3).await.unwrap();
    }
    before.first("age", 500.., 3).await.unwrap();
    before.first("age", 500.., 3).await.unwrap();
    assert_eq!((log.len(), before.record_queries(1).len()), (92, 92), "one log a table");
    let bytes = log.to_bytes();

    let (_cache, after) = people(in_memory()).await;
    let log = QueryLog::from_bytes(&bytes).unwrap();
    assert_eq!(after.prefetch_log(&log, 10).await.unwrap(), 4);
    let queries = after.counts().store_queries;
    assert_eq!(asked(&after, &[(0, 1), (0, 2), (0, 3)]).await, 0);
    assert_eq!(after.first("age", 500.., 3).await.unwrap().len(), 3);
    assert_eq!(after.counts().store_queries, queries);
    for len in 0..bytes.len() {
        assert!(QueryLog::from_bytes(&bytes[..len]).is_err(), "{len} bytes are not all");
    }
    let recent = before.record_queries(0);
    for _ in 0..200 {
        before.get("age", 7..9).await.unwrap();
    }
    assert_eq!(recent.len(), 100, "the last so many");
    assert_eq!(after.prefetch_log(&recent, 10).await.unwrap(), 1);
}

#[tokio::test]
async fn compressed_results_are_the_same_in_less_memory() {
    let servers = [MemoryCache::new(1 << 24), MemoryCache::new(1 << 24)].map(Arc::new);
    let compressed = Arc::new(Compressed::new(servers[1].clone()));
    let (_plain, plain) = people(in_memory().with_cache_server(servers[0].clone())).await;
    let (_small, small) = people(in_memory().with_cache_server(compressed.clone())).await;
    for table in [&plain, &small] {
        for nth in 0..40_i64 {
            table.get("age", 10 * nth..10 * nth + 7).await.unwrap();
        }
        let row = table.get("age", 31..32).await.unwrap().remove(0);
        table.update(&row, [("note", "another".into())]).await.unwrap();
        assert_eq!(asked(table, &[(30, 37)]).await, 0, "the write went through");
        let rows = table.get("age", 30..37).await.unwrap();
        assert_eq!(rows[1].text("note").unwrap(), "another");
    }
    let bytes = servers.each_ref().map(|server| server.bytes());
    assert!(bytes[1] * 2 < bytes[0], "{bytes:?}");
    let (all, kept) = compressed.shrunk();
    assert!(kept * 4 < all, "{kept} of {all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compressed_results_of_redis_follow_writes_of_every_policy() {
    let policies = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];
    for (policy, is_zlib) in policies.into_iter().flat_map(|policy| [(policy, false), (policy, true)]) {
        let Some(redis) = Redis::cache() else { return };
        let server = Arc::new(RedisCache::new(&redis.url(), "test").unwrap());
        let compressed = if is_zlib { Compressed::with_zlib(server, 6) } else { Compressed::new(server) };
        let compressed = Arc::new(compressed);
        let (cache, people) =
            people(in_memory().with_policy(policy).with_cache_server(compressed.clone())).await;
        let mut expected = None;
        for nth in 0..100 {
            let (hits, start) = (people.counts().hits, Instant::now());
            // A result is answered before it is installed: whoever asks at once may be too early.
            while people.counts().hits == hits {
                let rows = people.get("age", 30..37).await.unwrap();
                assert_eq!(rows.len(), 7);
                let note = rows[1].text("note").unwrap();
                assert!(expected.as_ref().is_none_or(|expected| note == expected), "{policy:?}: {note}");
                assert!(start.elapsed() < AT_MOST, "{policy:?}: it is never a hit: {:?}", people.counts());
            }
            let row = people.get("age", 31..32).await.unwrap().remove(0);
            let note = format!("note {nth}, ").repeat(100);
            people.update(&row, [("note", note.as_str().into())]).await.unwrap();
            expected = Some(note);
        }
        let (all, kept) = compressed.shrunk();
        assert!(kept * 4 < all, "{policy:?}: {kept} of {all}");
        cache.stop().await.unwrap();
    }
}

/// With a large β all entries show row 5, and a write changes each of them; with 0 as few do as cover the rows.
#[tokio::test]
async fn a_range_that_is_mostly_written_comes_to_put_results_together() {
    let (cache, people) = people(in_memory()).await;
    let row = people.get("age", 5..6).await.unwrap().remove(0);
    let windows = || (0..5).map(|start| start..start + 10);
    for window in windows() {
        people.get("age", window).await.unwrap();
    }
    let gauges = cache.gauges().await.unwrap();
    assert_eq!((gauges[0].entries, gauges[0].beta_percent), (6, 100));
    let start = Instant::now();
    let mut note = 0_i64;
    while cache.gauges().await.unwrap()[0].entries > 2 {
        for _ in 0..500 {
            note += 1;
            people.update(&row, [("note", note.to_string().into())]).await.unwrap();
        }
        assert!(start.elapsed() < AT_MOST, "{:?}", people.counts());
    }
    assert_eq!(cache.gauges().await.unwrap()[0].beta_percent, 0);
    let before = people.counts();
    for window in windows() {
        let rows = people.get("age", window.clone()).await.unwrap();
        let seen: Vec<_> = rows.iter().filter_map(|row| row.integer("age")).collect();
        assert_eq!(seen, window.collect::<Vec<i64>>());
        assert_eq!(rows.iter().filter(|row| row.text("note") == Some(&note.to_string())).count(), 1);
    }
    let after = people.counts();
    assert_eq!(after.store_queries, before.store_queries, "no row was lost: {after:?}");
}
