//! Deletions of more entries than one script deletes.

use lacuna_cache::redis::RedisCache;
use lacuna_cache_protocol::ports::CacheServer as _;
use lacuna_cache_protocol::{
    CacheCall, CacheReply, Epoch, Interval, LogRecord, Query, RangeId, Session, Value,
};
use lacuna_testkit::servers::Redis;

use crate::redis::{AT_MOST, line};

const RANGE: RangeId = RangeId(1);
const EPOCH: Epoch = Epoch(5);
const NEXT: Epoch = Epoch(6);
/// How many entries one script deletes.
const AT_ONCE: u64 = 1_000;

fn query(number: u64) -> Query {
    Query::all(0, Interval::point(number.into()))
}

fn install(query: &Query) -> CacheCall {
    let record = LogRecord { lsn: 1, domain: 0, interval: Interval::all(), key: None };
    CacheCall::Install(query.clone(), Session(1), Value::new(b"old"), record)
}

fn delete(queries: &[Query]) -> CacheCall {
    CacheCall::Invalidate(Session(2), queries.to_vec())
}

/// A server with this number of entries of one range.
async fn with_entries(cache: &RedisCache, count: u64) -> Vec<Query> {
    let call = |call| cache.call(RANGE, EPOCH, call);
    assert_eq!(call(CacheCall::Fence).await.unwrap(), CacheReply::Done);
    let queries: Vec<Query> = (0..count).map(query).collect();
    for query in &queries {
        let lookup = CacheCall::Lookup(query.clone(), Session(1));
        assert_eq!(call(lookup).await.unwrap(), CacheReply::Leased);
        assert_eq!(call(install(query)).await.unwrap(), CacheReply::Done);
    }
    assert_eq!(shown(cache, EPOCH, &queries).await, queries.len());
    queries
}

/// How many of the entries a client of this epoch finds.
async fn shown(cache: &RedisCache, epoch: Epoch, queries: &[Query]) -> usize {
    match cache.get_together(RANGE, epoch, queries).await.unwrap() {
        Some(seen) if seen.fence == epoch => seen.values.iter().flatten().count(),
        _ => 0,
    }
}

#[tokio::test]
async fn entries_of_several_scripts_are_all_deleted() {
    let Some(server) = Redis::cache() else { return };
    let cache = crate::redis::cache(&server);
    let call = |call| cache.call(RANGE, EPOCH, call);
    for count in [AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE, 2 * AT_ONCE + 1] {
        let mut queries = with_entries(&cache, count).await;
        // One that a reader is about to install, and one that stays.
        let (late, other) = (query(count), query(count + 1));
        for query in [&late, &other] {
            let lookup = CacheCall::Lookup(query.clone(), Session(1));
            assert_eq!(call(lookup).await.unwrap(), CacheReply::Leased);
        }
        assert_eq!(call(install(&other)).await.unwrap(), CacheReply::Done);
        queries.push(late.clone());
        assert_eq!(call(delete(&queries)).await.unwrap(), CacheReply::Done);
        assert_eq!(shown(&cache, EPOCH, &queries).await, 0, "of {count}");
        assert_eq!(
            call(install(&late)).await.unwrap(),
            CacheReply::NotHeld,
            "it was read before, of {count}"
        );
        assert_eq!(shown(&cache, EPOCH, std::slice::from_ref(&other)).await, 1, "of {count}");
        assert_eq!(call(delete(&[other])).await.unwrap(), CacheReply::Done);
    }
}

#[tokio::test]
async fn what_a_broken_deletion_leaves_is_not_shown_later() {
    for is_repeated in [true, false] {
        let Some(server) = Redis::cache() else { return };
        let cache = crate::redis::cache(&server);
        let entries = with_entries(&cache, 2 * AT_ONCE + 500).await;
        let (url, arm) = line::that_breaks_once_armed(&server).await;
        let over_line = RedisCache::new(&url, "test").unwrap().with_patience(AT_MOST);
        // Loads the script: from then on there is one answer to each.
        assert_eq!(over_line.call(RANGE, EPOCH, delete(&entries[..1])).await.unwrap(), CacheReply::Done);
        arm.send(()).unwrap();
        let reply = over_line.call(RANGE, EPOCH, delete(&entries)).await;
        assert!(reply.is_err(), "not all are gone: {reply:?}");
        assert_eq!(shown(&cache, EPOCH, &entries).await, 1_500, "the first script has deleted its part");

        let now = if is_repeated { EPOCH } else { NEXT };
        let call = |call| cache.call(RANGE, now, call);
        let after = if is_repeated { delete(&entries) } else { CacheCall::Fence };
        assert_eq!(call(after).await.unwrap(), CacheReply::Done);
        for epoch in [EPOCH, NEXT] {
            assert_eq!(shown(&cache, epoch, &entries).await, 0, "repeated: {is_repeated}, {epoch:?}");
        }
        let lookup = CacheCall::Lookup(entries[2_000].clone(), Session(3));
        assert_eq!(call(lookup).await.unwrap(), CacheReply::Leased, "repeated: {is_repeated}");
    }
}
