use lacuna_cache_protocol::embedded::Kept;
use lacuna_cache_protocol::ports::LogServer as _;
use lacuna_cache_protocol::{Command, Epoch, Interval, LogCall, LogReply, RangeId, Write};
use lacuna_testkit::effort;
use lacuna_testkit::servers::Redis;

pub(super) fn write(text: &str) -> Write {
    Write { touched: vec![(1, Interval::point(20.into()))], command: Command::new(text.as_bytes()) }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_killed_server() {
    let Some(mut server) = Redis::log() else { return };
    let log = crate::redis::log(&server);
    let call = |epoch, call| log.call(RangeId(1), Epoch(epoch), call);
    assert_eq!(call(1, LogCall::Append([(1, write("early"))].into())).await.unwrap(), LogReply::Fenced);
    let nothing = LogReply::Kept { writes: Vec::new(), is_whole: false };
    assert_eq!(call(1, LogCall::Fence).await.unwrap(), nothing);
    for lsn in 1..=9 {
        assert_eq!(call(1, LogCall::Append([(lsn, write("w"))].into())).await.unwrap(), LogReply::Done);
    }
    assert_eq!(call(1, LogCall::Trim(7)).await.unwrap(), LogReply::Done);
    server.kill();
    assert!(call(1, LogCall::Trim(8)).await.is_err());
    server.restart();
    // The connection is broken, and then the server reads its disk, however long that takes on a loaded machine.
    while call(1, LogCall::Trim(7)).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let LogReply::Kept { mut writes, is_whole } = call(2, LogCall::Fence).await.unwrap() else { panic!() };
    writes.sort_by_key(|(_, lsn, _)| *lsn);
    assert_eq!(writes, [(Epoch(1), 8, write("w")), (Epoch(1), 9, write("w"))]);
    assert!(is_whole);
    assert_eq!(call(1, LogCall::Append([(10, write("late"))].into())).await.unwrap(), LogReply::Fenced);
}

/// Owners that come one after the other, and earlier ones that do not know it yet. Numbers grow, as those of one owner.
#[tokio::test]
async fn a_log_does_what_the_model_does() {
    let Some(server) = Redis::log() else { return };
    let log = crate::redis::log(&server);
    let (seed, mut rng) = (effort::seed(), effort::rng(82));
    let (mut model, mut epoch, mut is_used) = (Kept::default(), 1, false);
    let (mut kept, mut refused) = (0, 0);
    // Up to three writes of an append, with numbers that grow from one to the next. A repeated one comes after others, and stays
    // until these go (`a_write_behind_a_newer_one_goes_with_it`), so logs are trimmed of whole appends.
    let last = |call: u64| 4 * call + 3;
    let append = |call: u64, count: u64| {
        LogCall::Append((4 * call..4 * call + count).map(|lsn| (lsn, write("w"))).collect())
    };
    for number in 1_u64..effort::short_or_long(4_000, 100_000) {
        epoch += u64::from(rng.below(40) == 0);
        let by = Epoch(if rng.below(8) == 0 { epoch.saturating_sub(1) } else { epoch });
        let call = match rng.below(100) {
            _ if number == 1 => LogCall::Fence,
            0..=2 => LogCall::Fence,
            // As after a reply that was lost.
            3..=12 => append(number.saturating_sub(1), 1 + rng.below(3)),
            13..=20 => LogCall::Trim(last(number.saturating_sub(rng.below(60)))),
            21 => LogCall::Trim(last(number)),
            _ => append(number, 1 + rng.below(3)),
        };
        let shown = format!("seed {seed}, call {number} of {by:?}: {call:?}");
        let is_fence = matches!(call, LogCall::Fence);
        let (expected, found) = (model.call(by, &call), log.call(RangeId(2), by, call).await.unwrap());
        refused += u64::from(found == LogReply::Fenced);
        match (expected, found) {
            (LogReply::Kept { writes: expected, is_whole: may_be }, LogReply::Kept { writes, is_whole }) => {
                assert_eq!(writes, expected, "{shown}");
                assert!(may_be || !is_whole, "{shown}: nobody had fenced it");
                assert!(is_whole || !is_used, "{shown}: a serving owner has used it");
                kept += writes.len();
            }
            (expected, found) => assert_eq!(found, expected, "{shown}"),
        }
        is_used |= !is_fence && by.0 == epoch && model.parts().0 == Some(by);
    }
    assert!(kept > 500 && refused > 50, "seed {seed}: {kept} writes, {refused} refusals: nothing was tried");
}

/// A reply of all of them would take longer than a reply may.
#[tokio::test]
async fn a_log_of_many_bytes_comes_back_in_pages() {
    let Some(server) = Redis::log() else { return };
    let log = crate::redis::log(&server);
    let call = |epoch, call| log.call(RangeId(1), Epoch(epoch), call);
    call(1, LogCall::Fence).await.unwrap();
    let large = write(&"w".repeat(600_000));
    let writes: Vec<_> =
        (1..=300).map(|lsn| (lsn, if lsn % 5 == 0 { large.clone() } else { write("w") })).collect();
    for some in writes.chunks(20) {
        call(1, LogCall::Append(some.iter().cloned().collect())).await.unwrap();
    }
    let expected: Vec<_> = writes.into_iter().map(|(lsn, write)| (Epoch(1), lsn, write)).collect();
    let LogReply::Kept { writes, is_whole: true } = call(2, LogCall::Fence).await.unwrap() else { panic!() };
    assert!(writes == expected, "{} of {} writes came back", writes.len(), expected.len());
    assert_eq!(call(1, LogCall::Fence).await.unwrap(), LogReply::Fenced);
}

#[tokio::test]
async fn a_write_behind_a_newer_one_goes_with_it() {
    let Some(server) = Redis::log() else { return };
    let log = crate::redis::log(&server);
    let call = |call| log.call(RangeId(1), Epoch(1), call);
    call(LogCall::Fence).await.unwrap();
    for lsn in [2, 1, 3] {
        call(LogCall::Append([(lsn, write("w"))].into())).await.unwrap();
    }
    for (applied, left) in [(1, vec![1, 2, 3]), (2, vec![3]), (3, vec![])] {
        call(LogCall::Trim(applied)).await.unwrap();
        let LogReply::Kept { writes, is_whole: true } = call(LogCall::Fence).await.unwrap() else { panic!() };
        assert_eq!(writes.into_iter().map(|(_, lsn, _)| lsn).collect::<Vec<_>>(), left);
    }
}

#[tokio::test]
async fn a_log_of_another_version_is_left_alone() {
    let Some(server) = Redis::log() else { return };
    let mut other =
        redis::Client::open(server.url()).unwrap().get_multiplexed_async_connection().await.unwrap();
    let mut set = redis::cmd("SET");
    set.arg("lacuna:{test:1}:bf").arg("2:4");
    set.query_async::<()>(&mut other).await.unwrap();

    let log = crate::redis::log(&server);
    let call = |epoch, call| log.call(RangeId(1), Epoch(epoch), call);
    for made in [LogCall::Fence, LogCall::Append([(1, write("w"))].into()), LogCall::Trim(1)] {
        assert!(call(5, made).await.is_err(), "nobody knows what it holds");
    }
    let fence: String = redis::cmd("GET").arg("lacuna:{test:1}:bf").query_async(&mut other).await.unwrap();
    assert_eq!(fence, "2:4");
}

#[tokio::test]
async fn a_log_that_lost_its_writes_is_not_whole() {
    let Some(server) = Redis::log() else { return };
    let log = crate::redis::log(&server);
    let call = |epoch, call| log.call(RangeId(1), Epoch(epoch), call);
    call(1, LogCall::Fence).await.unwrap();
    call(1, LogCall::Append([(1, write("w"))].into())).await.unwrap();
    let mut thief =
        redis::Client::open(server.url()).unwrap().get_multiplexed_async_connection().await.unwrap();
    redis::cmd("DEL").arg("lacuna:{test:1}:b:1").query_async::<()>(&mut thief).await.unwrap();
    assert_eq!(call(1, LogCall::Append([(2, write("w"))].into())).await.unwrap(), LogReply::Fenced);
    let nothing = LogReply::Kept { writes: Vec::new(), is_whole: false };
    assert_eq!(call(2, LogCall::Fence).await.unwrap(), nothing);
}
