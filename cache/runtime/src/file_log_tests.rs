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

fn ask(disk: &mut Disk, call: LogCall) -> Result<LogReply> {
    let (reply, mut answer) = oneshot::channel();
    disk.answer(vec![Asked { range: RangeId(0), epoch: Epoch(1), call, reply }]);
    answer.try_recv().unwrap()
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

#[test]
fn a_file_that_keeps_most_of_its_bytes_is_measured_again_once_it_has_doubled() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::open(&folder.path().join("log")).unwrap();
    let large = "x".repeat(100_000);
    let append = |lsn| LogCall::Append([(lsn, write(&large))].into());
    ask(&mut disk, LogCall::Fence).unwrap();
    let mut looks = vec![REWRITE_BYTES];
    for lsn in 1..=60 {
        assert_eq!(ask(&mut disk, append(lsn)).unwrap(), LogReply::Done);
        if looks.last() != Some(&disk.look_beyond) {
            looks.push(disk.look_beyond);
        }
    }
    assert_eq!(looks.len(), 4, "6 MB, looked at beyond one, two and four: {looks:?}");
    for lsn in 61..=100 {
        ask(&mut disk, LogCall::Trim(lsn - 1)).unwrap();
        ask(&mut disk, append(lsn)).unwrap();
    }
    assert!(disk.len < 2 * REWRITE_BYTES, "{} bytes", disk.len);
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
    disk.rewrite().unwrap();
    assert!(synced(), "a file that was written anew");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), MAGIC.len() as u64, "nothing had to be kept");
    drop(disk);
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
    assert_eq!(FileLog::open(&path).unwrap_err().kind(), ErrorKind::Unsupported);
}

/// The disk refuses writes for a while: a file that is open to be read only.
#[tokio::test]
async fn after_an_error_of_the_disk_the_file_is_written_anew_and_nothing_acknowledged_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut disk = Disk::open(&path).unwrap();
    let append = |lsn| LogCall::Append([(lsn, write("w"))].into());
    ask(&mut disk, LogCall::Fence).unwrap();
    ask(&mut disk, LogCall::Trim(0)).unwrap();
    assert_eq!(ask(&mut disk, append(1)).unwrap(), LogReply::Done);
    disk.file = File::open(&path).unwrap();
    let refused = ask(&mut disk, append(2)).unwrap_err();
    assert!(refused.to_string().contains("writing"), "{refused}");
    assert_eq!(ask(&mut disk, append(3)).unwrap(), LogReply::Done);
    assert_eq!(ask(&mut disk, append(4)).unwrap(), LogReply::Done);
    // A file that cannot be written anew either: there is a folder in its place.
    disk.file = File::open(&path).unwrap();
    std::fs::create_dir(folder.path().join("log.new")).unwrap();
    for lsn in 5..8 {
        ask(&mut disk, append(lsn)).unwrap_err();
    }
    std::fs::remove_dir(folder.path().join("log.new")).unwrap();
    assert_eq!(ask(&mut disk, append(8)).unwrap(), LogReply::Done);
    drop(disk);
    let log = FileLog::open(&path).unwrap();
    let LogReply::Kept { writes, is_whole } = call(&log, 2, LogCall::Fence).await else { panic!("kept") };
    let numbers: Vec<u64> = writes.iter().map(|(_, lsn, _)| *lsn).collect();
    assert!(is_whole && [1, 3, 4, 8].iter().all(|lsn| numbers.contains(lsn)), "{numbers:?}");
}

/// The thread of the one before may be writing the file anew.
#[tokio::test]
async fn a_log_that_is_opened_while_the_one_before_ends_keeps_what_it_acknowledges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let large = "x".repeat(100_000);
    for round in 0..20 {
        let log = FileLog::open(&path).unwrap();
        call(&log, round + 1, LogCall::Fence).await;
        call(&log, round + 1, LogCall::Trim(0)).await;
        let first = 100 * round + 1;
        for lsn in first..first + 12 {
            call(&log, round + 1, LogCall::Append([(lsn, write(&large))].into())).await;
        }
        drop(log.call(RangeId(0), Epoch(round + 1), LogCall::Trim(first + 10)));
        drop(log);
        let log = FileLog::open(&path).unwrap();
        let last = LogCall::Append([(first + 20, write("last"))].into());
        assert_eq!(call(&log, round + 1, last).await, LogReply::Done);
        log.close().await;
        let reopened = FileLog::open(&path).unwrap();
        let LogReply::Kept { writes, .. } = call(&reopened, round + 1, LogCall::Fence).await else {
            panic!("kept")
        };
        assert!(writes.iter().any(|(_, lsn, _)| *lsn == first + 20), "round {round}: acknowledged, and gone");
        let closed = log.call(RangeId(0), Epoch(round + 1), LogCall::Fence).await.unwrap_err();
        assert!(closed.to_string().contains("closed"), "{closed}");
    }
}

#[tokio::test]
async fn one_log_at_a_time_has_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = FileLog::open(&path).unwrap();
    let refused = FileLog::open(&path).unwrap_err();
    assert!(refused.kind() == ErrorKind::Conflict && refused.to_string().contains("its own"), "{refused}");
    call(&log, 1, LogCall::Fence).await;
    drop(log);
    FileLog::open(&path).unwrap();
}

/// Their names differ in what may be an extension.
#[test]
fn logs_in_one_folder_are_written_anew_apart() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["log.people", "log.orders"];
    let mut disks = names.map(|name| Disk::open(&folder.path().join(name)).unwrap());
    let beside = |name: &str| folder.path().join(name);
    for disk in &mut disks {
        disk.repair().unwrap();
    }
    assert!(names.iter().all(|name| beside(name).exists()) && !beside("log.new").exists());
    // One that is called so is not taken for a file that is being written.
    std::fs::write(beside("log.new"), b"another").unwrap();
    disks[0].repair().unwrap();
    assert_eq!(std::fs::read(beside("log.new")).unwrap(), b"another");
}
