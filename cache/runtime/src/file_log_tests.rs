use lacuna_cache_protocol::{Command, Interval, Write};

use super::*;

fn write(text: &str) -> Write {
    Write { touched: vec![(0, Interval::point(20.into()))], command: Command::new(text.as_bytes()) }
}

async fn call(log: &FileLog, epoch: u64, call: LogCall) -> LogReply {
    log.call(RangeId(0), Epoch(epoch), call).await.unwrap()
}

fn kept(reply: LogReply) -> (usize, bool) {
    let LogReply::Kept { writes, is_whole } = reply else { panic!("{reply:?}") };
    (writes.len(), is_whole)
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_torn_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = FileLog::open(&path).unwrap();
    assert_eq!(kept(call(&log, 1, LogCall::Fence).await), (0, false));
    for lsn in 1..=20 {
        assert_eq!(call(&log, 1, LogCall::Append([(lsn, write("w"))].into())).await, LogReply::Done);
    }
    assert_eq!(call(&log, 1, LogCall::Trim(5)).await, LogReply::Done);
    drop(log);
    let whole = std::fs::read(&path).unwrap();
    for torn in [0, 1, 11, 30] {
        let torn_path = folder.path().join(format!("torn{torn}"));
        std::fs::write(&torn_path, [&whole[..], &whole[8..8 + torn]].concat()).unwrap();
        let log = FileLog::open(&torn_path).unwrap();
        assert_eq!(kept(call(&log, 2, LogCall::Fence).await), (15, true), "{torn} bytes of a torn record");
        assert_eq!(call(&log, 1, LogCall::Append([(99, write("late"))].into())).await, LogReply::Fenced);
    }
}

#[tokio::test]
async fn the_file_does_not_grow_with_what_the_store_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = FileLog::open(&path).unwrap();
    call(&log, 1, LogCall::Fence).await;
    let large = "x".repeat(50_000);
    for lsn in 1..=100 {
        call(&log, 1, LogCall::Append([(lsn, write(&large))].into())).await;
        call(&log, 1, LogCall::Trim(lsn - 1)).await;
    }
    assert!(std::fs::metadata(&path).unwrap().len() < 2 * REWRITE_BYTES);
    drop(log);
    let log = FileLog::open(&path).unwrap();
    assert_eq!(kept(call(&log, 2, LogCall::Fence).await), (1, true));
}

#[tokio::test]
async fn a_file_is_whole_from_its_first_use_on_also_when_it_was_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    for epoch in 1..=2 {
        let log = FileLog::open(&path).unwrap();
        assert_eq!(kept(call(&log, epoch, LogCall::Fence).await), (0, false), "take-over {epoch}");
    }
    let log = FileLog::open(&path).unwrap();
    call(&log, 2, LogCall::Trim(0)).await;
    drop(log);
    let log = FileLog::open(&path).unwrap();
    assert_eq!(kept(call(&log, 3, LogCall::Fence).await), (0, true));
    drop(log);
    let mut disk = Disk::open(&path).unwrap();
    disk.len = 2 * REWRITE_BYTES;
    disk.rewrite().unwrap();
    drop(disk);
    let log = FileLog::open(&path).unwrap();
    assert_eq!(kept(call(&log, 4, LogCall::Fence).await), (0, true), "written anew");
    let other = log.call(RangeId(1), Epoch(4), LogCall::Fence).await.unwrap();
    assert_eq!(kept(other), (0, false), "another range");
}

/// The disk is not asked here: whether the folder was synced after each change of a name is.
#[test]
fn names_are_synced_with_what_they_name() {
    const SYNCED: &str = "file log: folder synced";
    let synced = || {
        let names = lacuna_base::testing::crossed();
        lacuna_base::testing::forget_crossings();
        names.is_none_or(|names| names.contains(&SYNCED))
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    lacuna_base::testing::forget_crossings();
    let mut disk = Disk::open(&path).unwrap();
    assert!(synced(), "a new file");
    let mut bytes = Vec::new();
    write_call(&mut bytes, RangeId(0), Epoch(1), &LogCall::Append([(1, write(&"x".repeat(2 << 20)))].into()));
    disk.append(&bytes, true).unwrap();
    assert!(synced(), "a file that was written anew");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), MAGIC.len() as u64, "nothing had to be kept");
    drop(Disk::open(&path).unwrap());
    assert!(synced(), "a file that was there");
    // A path without a folder is in the present one.
    sync_folder(Path::new("log")).unwrap();
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, b"something else").unwrap();
    assert_eq!(FileLog::open(&path).unwrap_err().kind(), lacuna_cache_protocol::ErrorKind::Unsupported);
}
