use lacuna_range_cache::ports::LogServer as _;
use lacuna_range_cache::{Command, Epoch, Interval, LogCall, LogReply, RangeId, Write};
use lacuna_test_servers::Redis;

fn write(text: &str) -> Write {
    Write { touched: vec![(1, Interval::point(20.into()))], command: Command::new(text.as_bytes()) }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_killed_server() {
    let Some(mut server) = Redis::log() else { return };
    let log = crate::log(&server);
    let call = |epoch, call| log.call(RangeId(1), Epoch(epoch), call);
    assert_eq!(call(1, LogCall::Append(1, write("early"))).await.unwrap(), LogReply::Fenced);
    let nothing = LogReply::Kept { writes: Vec::new(), is_whole: false };
    assert_eq!(call(1, LogCall::Fence).await.unwrap(), nothing);
    for lsn in 1..=9 {
        assert_eq!(call(1, LogCall::Append(lsn, write("w"))).await.unwrap(), LogReply::Done);
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
    assert_eq!(call(1, LogCall::Append(10, write("late"))).await.unwrap(), LogReply::Fenced);
}
