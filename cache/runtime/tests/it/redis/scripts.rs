use lacuna_cache_protocol::ports::CacheServer as _;
use lacuna_cache_protocol::{
    CacheCall, CacheModel, CacheReply, Change, Edit, Epoch, Form, Interval, LOG_CHUNKS, LogRecord, Piece,
    Query, RangeId, Session, Value, write_chunk,
};
use lacuna_testkit::effort;
use lacuna_testkit::servers::Redis;
use lacuna_workload::Rng;

const RANGE: RangeId = RangeId(3);

fn query(number: u64) -> Query {
    let form = if number == 2 { Form::First(5) } else { Form::All };
    Query { form, ..Query::all(0, Interval::point(number.into())) }
}

/// What the log of entries is asked, in a chunk that installations write to.
fn some_log_script(rng: &mut Rng, number: u64) -> CacheCall {
    let (record, mut bytes) = (record(), Vec::new());
    write_chunk(&mut bytes, [&record]);
    let chunk = record.chunk(LOG_CHUNKS);
    match rng.below(3) {
        0 => CacheCall::AppendLog(vec![record, LogRecord { lsn: number, ..self::record() }]),
        1 => CacheCall::ReadLog(chunk),
        // Sometimes more than there is.
        _ => CacheCall::ReplaceLog(chunk, rng.index(3) * bytes.len(), bytes),
    }
}

fn record() -> LogRecord {
    LogRecord { lsn: 1, domain: 0, interval: Interval::all(), key: None }
}

/// An edit that adds, or replaces what the session before has left, or both, or hides.
fn some_edit(rng: &mut Rng, session: Session) -> Change {
    let last = Session(session.0 - rng.below(3).min(session.0));
    let compacted = (rng.below(3) == 0).then(|| (last, Value::new(b"compacted")));
    // Of a change by this owner: what it has taken over has none.
    let expected = Some(Session((session.0 - rng.below(3).min(session.0)).max(1)));
    let piece = |rng: &mut Rng| Piece {
        bytes: session.0.to_le_bytes()[..1 + rng.index(3)].into(),
        // Within the shortest of the values.
        place: (rng.below(2) == 0).then(|| rng.index(6)),
    };
    let pieces = (0..rng.below(4)).map(|_| piece(rng)).collect();
    Change::Edit(Edit { compacted, expected, pieces, is_hidden: rng.below(4) == 0 })
}

/// A script over a few entries. Sessions of writers and readers never fall behind, as those of one owner.
fn some_script(rng: &mut Rng, number: u64) -> CacheCall {
    let session = Session(number / 6);
    let some = query(rng.below(3));
    let value = Value::new(&number.to_le_bytes());
    match rng.below(16) {
        14 | 15 => some_log_script(rng, number),
        12 => CacheCall::Gather(session, vec![some, query(1)], vec![query(2)]),
        13 if number.is_multiple_of(50) => CacheCall::Forget,
        0..=3 => CacheCall::Lookup(some, session),
        4..=6 => CacheCall::Install(some, session, value, record()),
        7 => CacheCall::Invalidate(session, vec![some]),
        8..=9 => CacheCall::Hide(session, vec![some]),
        10 => CacheCall::Patch(session, vec![(some, Change::Drop), (query(1), some_edit(rng, session))]),
        _ => CacheCall::Patch(session, vec![(some, some_edit(rng, session))]),
    }
}

#[tokio::test]
async fn scripts_do_what_they_do_in_the_model() {
    let Some(server) = Redis::cache() else { return };
    let redis = crate::redis::cache(&server);
    let mut model = CacheModel::new(100);
    let mut rng = effort::rng(81);
    let (mut epoch, mut found, mut warm) = (Epoch(1), 0, 0);
    for number in 6..effort::short_or_long(12_000, 200_000) {
        let mut call = some_script(&mut rng, number);
        if rng.below(500) == 0 || number == 6 {
            epoch = Epoch(epoch.0 + rng.below(2));
            call = CacheCall::Fence;
        } else if rng.below(200) == 0 {
            // Warm from the tenure before, or cold as it was another.
            let before = Epoch(epoch.0 - u64::from(rng.below(4) == 0));
            epoch = Epoch(epoch.0 + 1);
            call = CacheCall::TakeOver(Some(before));
        }
        let spoken = if rng.below(50) == 0 { Epoch(epoch.0 - 1) } else { epoch };
        let expected = model.call(RANGE, spoken, &call);
        let actual = redis.call(RANGE, spoken, call.clone()).await.unwrap();
        let step = format!("seed {}, step {number}: {call:?}", effort::seed());
        assert_eq!(actual, expected, "{step}");
        warm += u64::from(matches!(&actual, CacheReply::Warm(chunks) if !chunks.is_empty()));
        let seen = redis.get(RANGE, epoch, &query(0)).await.unwrap();
        let seen = seen.map(|seen| (seen.fence, seen.value));
        assert_eq!(seen, model.get(RANGE, &query(0)), "{step}");
        found += u64::from(seen.is_some_and(|(_, value)| value.is_some()));
        let together = redis.get_together(RANGE, epoch, &[query(1), query(0)]).await.unwrap();
        let together = together.map(|seen| (seen.fence, seen.values));
        assert_eq!(together, model.get_together(RANGE, &[query(1), query(0)]), "{step}");
    }
    assert!(found > 500 && warm > 5, "values were seen: {found}, warm take-overs: {warm}");
}

#[tokio::test]
async fn a_server_that_restarts_knows_nobody() {
    let Some(mut server) = Redis::cache() else { return };
    let redis = crate::redis::cache(&server);
    let call = |call| redis.call(RANGE, Epoch(5), call);
    assert_eq!(call(CacheCall::Fence).await.unwrap(), CacheReply::Done);
    assert_eq!(call(CacheCall::Lookup(query(1), Session(1))).await.unwrap(), CacheReply::Leased);
    let install = CacheCall::Install(query(1), Session(1), Value::new(b"v"), record());
    assert_eq!(call(install.clone()).await.unwrap(), CacheReply::Done);
    server.kill();
    assert!(redis.get(RANGE, Epoch(5), &query(1)).await.is_err());
    server.restart();
    // Calls may find out that the connection is broken.
    let seen = loop {
        if let Ok(seen) = redis.get(RANGE, Epoch(5), &query(1)).await {
            break seen;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    assert_eq!(seen, None);
    assert_eq!(call(install).await.unwrap(), CacheReply::Fenced);
}

#[tokio::test]
async fn a_full_server_refuses_what_is_new_and_lets_go_of_the_old() {
    let options = ["--save", "", "--maxmemory", "3mb", "--maxmemory-policy", "noeviction"];
    let Some(server) = Redis::with(&options) else { return };
    let redis = crate::redis::cache(&server);
    let call = |call| redis.call(RANGE, Epoch(1), call);
    call(CacheCall::Fence).await.unwrap();
    let large = Value::new(&vec![7; 100_000]);
    let mut installed = Vec::new();
    for number in 1..100 {
        match call(CacheCall::Lookup(query(number), Session(number))).await.unwrap() {
            CacheReply::Leased => {}
            full => {
                assert_eq!(full, CacheReply::Full, "no room for a lease");
                break;
            }
        }
        let install = CacheCall::Install(query(number), Session(number), large.clone(), record());
        match call(install).await.unwrap() {
            CacheReply::Done => installed.push(query(number)),
            full => {
                assert_eq!(full, CacheReply::Full);
                break;
            }
        }
    }
    assert!(installed.len() > 3 && installed.len() < 99, "{} fit", installed.len());
    let first = installed[0].clone();
    assert_eq!(call(CacheCall::Hide(Session(200), vec![first.clone()])).await.unwrap(), CacheReply::Done);
    assert_eq!(redis.get(RANGE, Epoch(1), &first).await.unwrap().unwrap().value, None);
    let pieces = vec![Piece { bytes: vec![7; 100].into(), place: None }];
    let edit = Change::Edit(Edit { pieces, ..Edit::default() });
    assert_eq!(call(CacheCall::Patch(Session(201), vec![(first, edit)])).await.unwrap(), CacheReply::Full);
    assert_eq!(call(CacheCall::Invalidate(Session(201), installed)).await.unwrap(), CacheReply::Done);
    assert_eq!(call(CacheCall::Lookup(query(300), Session(300))).await.unwrap(), CacheReply::Leased);
}

#[tokio::test]
async fn flushed_scripts_are_loaded_again() {
    let Some(server) = Redis::cache() else { return };
    let cache = crate::redis::cache(&server);
    let call = |call| cache.call(RANGE, Epoch(5), call);
    assert_eq!(call(CacheCall::Fence).await.unwrap(), CacheReply::Done);
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let _done: String = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut connection).await.unwrap();
    assert_eq!(call(CacheCall::Fence).await.unwrap(), CacheReply::Done);
    assert_eq!(call(CacheCall::Lookup(query(1), Session(1))).await.unwrap(), CacheReply::Leased);
}
