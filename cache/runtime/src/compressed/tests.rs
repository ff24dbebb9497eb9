//! Compressed values through a whole cache server.

use lacuna_cache_protocol::embedded::MemoryCache;
use lacuna_cache_protocol::{Edited, Interval, LogRecord, Piece, RangeKey};

use super::*;

fn server() -> (Arc<MemoryCache>, Compressed) {
    let memory = Arc::new(MemoryCache::new(1 << 24));
    (memory.clone(), Compressed::new(memory))
}

/// Bytes that cannot be compressed.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    (0..len as u64)
        .map(|place| lacuna_base::hash::hash_bytes(&place.to_le_bytes(), seed).to_le_bytes()[0])
        .collect()
}

fn packed_len(server: &Compressed, plain: &[u8]) -> usize {
    let packed = server.pack(&Value::new(plain));
    assert_eq!(unpack(&packed).unwrap().as_bytes(), plain);
    packed.as_bytes().len()
}

#[test]
fn values_come_back_as_they_were_and_only_smaller_ones_are_compressed() {
    let (_, server) = server();
    let text = b"a row of text, and ".repeat(100);
    assert!(packed_len(&server, &text) * 4 < text.len());
    for len in [0, 1, SMALLEST - 1, SMALLEST, 5_000] {
        assert_eq!(packed_len(&server, &noise(len, 1)), len + 1);
    }
    let (plain, kept) = server.shrunk();
    assert!(kept < plain, "{kept} of {plain}");
}

/// Processes that differ in the method share a namespace.
#[cfg(feature = "zlib")]
#[test]
fn either_method_reads_what_the_other_has_packed() {
    let text = b"a row of text, and ".repeat(100);
    let (memory, lz4) = server();
    let zlib = Compressed::with_zlib(memory, 6);
    let lens = [&lz4, &zlib].map(|server| packed_len(server, &text));
    assert!(lens[1] * 4 < text.len() && lens[0] != lens[1], "{lens:?}");
    for len in [0, 1, SMALLEST - 1, SMALLEST, 5_000] {
        assert_eq!(packed_len(&zlib, &noise(len, 1)), len + 1, "kept as it is");
    }
}

#[test]
fn results_that_never_shrink_are_rarely_tried() {
    let (_, server) = server();
    (0..HOPELESS).for_each(|seed| assert!(packed_len(&server, &noise(1_000, seed)) == 1_001));
    let tried = (0..160).filter(|_| server.is_worth_trying(1_000)).count();
    assert_eq!(tried, 10);
    // A value that shrinks ends the sampling.
    assert!(server.try_to_shrink(&[7; 1_000]).is_some());
    assert!((0..10).all(|_| server.is_worth_trying(1_000)));
}

#[tokio::test]
async fn a_value_of_another_form_is_dropped() {
    let (memory, server) = server();
    let (range, epoch, session) = (RangeId(0), Epoch(1), Session(1));
    let queries = [18, 20].map(|age| Query::all(0, Interval::point(RangeKey::from(age))));
    memory.run(range, epoch, CacheCall::Fence);
    for query in &queries {
        memory.run(range, epoch, CacheCall::Lookup(query.clone(), session));
        let record = LogRecord::of_entry(1, query, query.interval.clone());
        memory.run(range, epoch, CacheCall::Install(query.clone(), session, Value::new(b"foreign"), record));
    }
    let [looked_up, gathered] = queries;
    assert_eq!(server.get(range, epoch, &looked_up).await.unwrap().unwrap().value, None);
    let call = async |call| server.call(range, epoch, call).await.unwrap();
    assert_eq!(call(CacheCall::Lookup(looked_up.clone(), Session(2))).await, CacheReply::Busy);
    assert_eq!(call(CacheCall::Lookup(looked_up, Session(2))).await, CacheReply::Leased);
    let gather = CacheCall::Gather(Session(3), vec![gathered], Vec::new());
    assert_eq!(call(gather).await, CacheReply::Gathered(Vec::new()));
}

#[tokio::test]
async fn an_owner_and_the_hit_path_see_the_same() {
    let (memory, server) = server();
    let (range, epoch, session) = (RangeId(0), Epoch(1), Session(1));
    let query = Query::all(0, Interval::closed(18.into(), 22.into()).unwrap());
    let value = Value::new(&[7; 1_000]);
    let call = async |call| server.call(range, epoch, call).await.unwrap();
    assert_eq!(call(CacheCall::Fence).await, CacheReply::Done);
    assert_eq!(call(CacheCall::Lookup(query.clone(), session)).await, CacheReply::Leased);
    let record = LogRecord::of_entry(1, &query, query.interval.clone());
    assert_eq!(
        call(CacheCall::Install(query.clone(), session, value.clone(), record)).await,
        CacheReply::Done
    );
    assert!(memory.see(range, &query).unwrap().value.unwrap().as_bytes().len() < 100);
    let seen = server.get(range, epoch, &query).await.unwrap().unwrap();
    assert_eq!(seen.value, Some(value.clone()));
    let asked = [query.clone(), Query::all(0, Interval::point(99.into()))];
    let together = server.get_together(range, epoch, &asked).await.unwrap().unwrap();
    assert_eq!((together.fence, together.values), (epoch, vec![Some(value.clone()), None]));
    assert_eq!(call(CacheCall::Lookup(query.clone(), session)).await, CacheReply::Found(value.clone()));
    let edit = |edit| CacheCall::Patch(Session(2), vec![(query.clone(), Change::Edit(edit))]);
    let packed_len = memory.see(range, &query).unwrap().value.unwrap().as_bytes().len();
    let piece = |bytes: &[u8], place| vec![Piece { bytes: bytes.into(), place }];
    let added = call(edit(Edit { pieces: piece(b"added", None), ..Edit::default() })).await;
    let is_first = Edited { is_as_expected: false, len: Some(packed_len + 5) };
    assert_eq!(added, CacheReply::Patched(vec![(query.clone(), is_first)]), "as the server keeps it");
    let expected = Some(Session(2));
    let other = Edit { expected, pieces: piece(b"other", Some(packed_len)), ..Edit::default() };
    call(CacheCall::Patch(Session(3), vec![(query.clone(), Change::Edit(other))])).await;
    let value = Value::new(&[value.as_bytes(), b"other"].concat());
    let gather = CacheCall::Gather(Session(3), vec![query.clone()], Vec::new());
    assert_eq!(call(gather).await, CacheReply::Gathered(vec![(query.clone(), value)]));
    let compacted = Value::new(&[8; 2_000]);
    let edit = Edit { compacted: Some((Session(3), compacted.clone())), ..Edit::default() };
    call(CacheCall::Patch(Session(4), vec![(query.clone(), Change::Edit(edit))])).await;
    assert_eq!(server.get(range, epoch, &query).await.unwrap().unwrap().value, Some(compacted));
    assert!(memory.see(range, &query).unwrap().value.unwrap().as_bytes().len() < 100);
}
