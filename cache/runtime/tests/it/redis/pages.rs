//! A log that is read in pages, while other owners use it.

use lacuna_cache::Result;
use lacuna_cache::redis::RedisLog;
use lacuna_cache_protocol::ports::LogServer as _;
use lacuna_cache_protocol::{Epoch, LogCall, LogReply, RangeId, Write};
use lacuna_testkit::servers::Redis;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::redis::logs::write;
use crate::redis::{AT_MOST, line};

const RANGE: RangeId = RangeId(1);
/// More than two pages of them, as a page is a little more than 4 MiB.
const WRITES: u64 = 16;
const WRITE_BYTES: usize = 600_000;
/// Within the first page.
const STOPS_AFTER: u64 = 1_000_000;

/// The owner of epoch 2 reads the log, and its next question is that for the second page.
struct Reading {
    go_on: oneshot::Sender<()>,
    reader: JoinHandle<Result<LogReply>>,
    /// The writes of the owner of epoch 1.
    acknowledged: Vec<(Epoch, u64, Write)>,
}

async fn between_pages(server: &Redis, log: &RedisLog) -> Reading {
    log.call(RANGE, Epoch(1), LogCall::Fence).await.unwrap();
    let writes: Vec<_> = (1..=WRITES).map(|lsn| (lsn, write(&"w".repeat(WRITE_BYTES)))).collect();
    for some in writes.chunks(4) {
        let append = LogCall::Append(some.iter().cloned().collect());
        assert_eq!(log.call(RANGE, Epoch(1), append).await.unwrap(), LogReply::Done);
    }
    let line = line::that_stops_after(STOPS_AFTER, server).await;
    let over_line = RedisLog::new(&line.url, "test").unwrap().with_patience(AT_MOST);
    let reader = tokio::spawn(async move { over_line.call(RANGE, Epoch(2), LogCall::Fence).await });
    line.has_stopped.await.unwrap();
    let acknowledged = writes.into_iter().map(|(lsn, write)| (Epoch(1), lsn, write)).collect();
    Reading { go_on: line.go_on, reader, acknowledged }
}

#[tokio::test]
async fn an_append_of_an_older_owner_between_two_pages_is_refused() {
    let Some(server) = Redis::log() else { return };
    let log = crate::redis::log(&server);
    let Reading { go_on, reader, mut acknowledged } = between_pages(&server, &log).await;
    let append = |lsn| LogCall::Append([(lsn, write("late"))].into());
    // A new one, and one that is repeated.
    for lsn in [WRITES + 1, WRITES] {
        assert_eq!(log.call(RANGE, Epoch(1), append(lsn)).await.unwrap(), LogReply::Fenced);
    }
    assert_eq!(log.call(RANGE, Epoch(1), LogCall::Trim(WRITES)).await.unwrap(), LogReply::Fenced);
    go_on.send(()).unwrap();
    let LogReply::Kept { writes, is_whole: true } = reader.await.unwrap().unwrap() else {
        panic!("the log is not whole")
    };
    assert!(writes == acknowledged, "{} of {} writes came back", writes.len(), acknowledged.len());

    assert_eq!(log.call(RANGE, Epoch(2), append(WRITES + 1)).await.unwrap(), LogReply::Done);
    acknowledged.push((Epoch(2), WRITES + 1, write("late")));
    let LogReply::Kept { writes, is_whole: true } = log.call(RANGE, Epoch(3), LogCall::Fence).await.unwrap()
    else {
        panic!("the log is not whole")
    };
    assert!(writes == acknowledged, "{} of {} writes are left", writes.len(), acknowledged.len());
}

#[tokio::test]
async fn a_log_that_a_newer_owner_fences_between_two_pages_is_not_read_on() {
    let Some(server) = Redis::log() else { return };
    let log = crate::redis::log(&server);
    let Reading { go_on, reader, acknowledged } = between_pages(&server, &log).await;
    let LogReply::Kept { writes, is_whole: true } = log.call(RANGE, Epoch(3), LogCall::Fence).await.unwrap()
    else {
        panic!("the log is not whole")
    };
    assert!(writes == acknowledged, "{} of {} writes came back", writes.len(), acknowledged.len());
    go_on.send(()).unwrap();
    assert_eq!(reader.await.unwrap().unwrap(), LogReply::Fenced);
}
