//! A log of buffered writes on disk: an acknowledged write survives the process and, with the disk, the machine.
//!
//! One thread owns the file. It takes all waiting calls, appends their records, and syncs once for all of them, so
//! that sixteen writers cost about as much as one. When most of the file is writes that the store has by now, it
//! is written anew next to the old file and renamed. After an error of the disk the content of the file is unknown: the
//! next call first has it written anew from memory.
//!
//! One `FileLog` has the file, until it is dropped or closed and the thread has ended: another one that was opened while the
//! file is written anew would append to the old one, which is then replaced.
//!
//! Guarantee: a write is acknowledged after it is synced (P13), in a file whose name is synced, too: a folder is synced
//! after a file was created or renamed in it. A record that was torn by a crash ends the file;
//! every acknowledged record is before it. Format: [`docs/format/range-cache-buffered.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/range-cache-buffered.md).

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use lacuna_base::testing::cross;
use lacuna_cache_protocol::embedded::Kept;
use lacuna_cache_protocol::ports::{LogServer, Reply};
use lacuna_cache_protocol::{Epoch, LogCall, LogReply, RangeId};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

use crate::owner::error::same_error;
use crate::write_bytes::{decode_write, encode_write};

const MAGIC: &[u8; 8] = b"lacbuf\x01\n";
const FENCE: u8 = 1;
const APPEND: u8 = 2;
const TRIM: u8 = 3;
/// The file is written anew beyond this size, if it is then four times as large as what it must keep. That takes a pass over all
/// of it: it is looked at again when the file has doubled.
const REWRITE_BYTES: u64 = 1 << 20;
/// How long the thread of a log that was dropped may take to end.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// A log server that keeps its writes in a file.
#[derive(Debug)]
pub struct FileLog {
    calls: mpsc::Sender<Message>,
}

#[derive(Debug)]
enum Message {
    Call(Asked),
    Close(oneshot::Sender<()>),
}

#[derive(Debug)]
struct Asked {
    range: RangeId,
    epoch: Epoch,
    call: LogCall,
    reply: oneshot::Sender<Result<LogReply>>,
}

impl FileLog {
    /// Opens the log at `path`, or creates one.
    ///
    /// # Errors
    /// `InvalidInput` for a name that ends in `.new`, `Unavailable` if the file cannot be read or written, `Unsupported` or `Corrupt`
    /// if it is not such a log, `Conflict` if another one has it open.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        if path.as_ref().extension().is_some_and(|extension| extension == "new") {
            let message = "a log whose name ends in .new may be taken for the new form of another: give it another name";
            return Err(
                Error::invalid_input(message).with_context(format!("opening {}", path.as_ref().display()))
            );
        }
        let disk = Disk::open(path.as_ref())?;
        let (calls, asked) = mpsc::channel();
        let spawned =
            std::thread::Builder::new().name("lacuna-log".to_owned()).spawn(move || disk.serve(&asked));
        spawned.map_err(|error| failed("starting the thread of", path.as_ref(), error))?;
        Ok(Self { calls })
    }

    /// Ends once the calls before this one are answered; later ones fail.
    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        drop(self.calls.send(Message::Close(reply)));
        // It was closed before.
        let _ = closed.await;
    }
}

impl LogServer for FileLog {
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply> {
        let (reply, answer) = oneshot::channel();
        let gone = || Error::unavailable("the log of buffered writes is closed");
        let sent = self.calls.send(Message::Call(Asked { range, epoch, call, reply }));
        Box::pin(async move {
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }
}

/// The file and its content.
struct Disk {
    path: PathBuf,
    file: File,
    len: u64,
    /// Beyond which length it is looked at whether to write the file anew.
    look_beyond: u64,
    /// Whether the file may have another content than `ranges`, or another file its name.
    is_damaged: bool,
    ranges: BTreeMap<RangeId, Kept>,
}

impl Disk {
    fn open(path: &Path) -> Result<Self> {
        let mut file = open_alone(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| failed("reading", path, error))?;
        let mut ranges = BTreeMap::new();
        let mut disk_len = MAGIC.len();
        if bytes.len() < MAGIC.len() && MAGIC.starts_with(&bytes) {
            file.set_len(0)
                .and_then(|()| file.write_all(MAGIC))
                .map_err(|error| failed("writing", path, error))?;
        } else {
            let records = bytes.strip_prefix(MAGIC);
            let records = records.ok_or_else(|| {
                Error::unsupported("the file is not a log of buffered writes, or is of a newer version")
            })?;
            disk_len += replay(records, &mut ranges)?;
            file.set_len(disk_len as u64).map_err(|error| failed("cutting", path, error))?;
        }
        sync(&file, path)?;
        // The process that created the file may have been killed before it did this.
        sync_folder(path)?;
        let (path, len) = (path.to_owned(), disk_len as u64);
        Ok(Self { path, file, len, look_beyond: REWRITE_BYTES, is_damaged: false, ranges })
    }

    /// Serves until there are no more callers, or it is closed.
    fn serve(mut self, asked: &mpsc::Receiver<Message>) {
        while let Ok(first) = asked.recv() {
            let (mut together, mut closing) = (Vec::new(), None);
            for message in std::iter::once(first).chain(asked.try_iter().take(1_023)) {
                match message {
                    Message::Call(asked) => together.push(asked),
                    Message::Close(reply) => {
                        closing = Some(reply);
                        break;
                    }
                }
            }
            if !together.is_empty() {
                self.answer(together);
            }
            if let Some(reply) = closing {
                drop(self);
                // The caller may have stopped waiting.
                let _ = reply.send(());
                return;
            }
        }
    }

    /// Answers calls once the disk has what they change.
    fn answer(&mut self, together: Vec<Asked>) {
        let mut bytes = Vec::new();
        let mut must_sync = false;
        let mut replies = Vec::new();
        for Asked { range, epoch, call, reply } in together {
            let kept = self.ranges.entry(range).or_default();
            let was_whole = kept.is_whole();
            let answer = kept.call(epoch, &call);
            if answer != LogReply::Fenced {
                must_sync |= !matches!(call, LogCall::Trim(_)) || kept.is_whole() != was_whole;
                write_call(&mut bytes, range, epoch, &call);
            }
            replies.push((reply, answer));
        }
        let written = if self.is_damaged { self.repair() } else { self.append(&bytes, must_sync) };
        // A call that failed stays in memory: its caller does not know whether the disk has it.
        self.is_damaged = written.is_err();
        for (reply, answer) in replies {
            let answer = written.as_ref().map(|()| answer).map_err(same_error);
            drop(reply.send(answer));
        }
        if !self.is_damaged && self.len > self.look_beyond {
            self.is_damaged = self.rewrite().is_err();
            self.look_beyond = REWRITE_BYTES.max(2 * self.len);
        }
    }

    fn append(&mut self, bytes: &[u8], must_sync: bool) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| failed("writing", &self.path, error))?;
        self.len += bytes.len() as u64;
        if must_sync { sync(&self.file, &self.path) } else { Ok(()) }
    }

    /// Writes the file anew if that makes it much smaller.
    fn rewrite(&mut self) -> Result<()> {
        let bytes = self.content();
        if (bytes.len() as u64) * 4 > self.len { Ok(()) } else { self.replace(&bytes) }
    }

    /// Writes the file anew, since nothing is known of it: where a sync has failed, a later one may succeed without having
    /// written what the first had to.
    fn repair(&mut self) -> Result<()> {
        self.replace(&self.content())
    }

    /// A file with all that is kept.
    fn content(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (range, kept) in &self.ranges {
            let (fence, writes) = kept.parts();
            for (epoch, lsn, write) in writes {
                write_record(&mut bytes, *range, epoch, APPEND, |body| encode_write(body, lsn, write));
            }
            if let Some(fence) = fence {
                write_call(&mut bytes, *range, fence, &LogCall::Fence);
                if kept.is_whole() && kept.is_empty() {
                    write_call(&mut bytes, *range, fence, &LogCall::Trim(0));
                }
            }
        }
        bytes
    }

    fn replace(&mut self, bytes: &[u8]) -> Result<()> {
        // Logs beside this one may have names that differ in their extensions alone.
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        let write = || -> std::io::Result<File> {
            drop(std::fs::remove_file(&beside));
            let mut file = OpenOptions::new().read(true).append(true).create_new(true).open(&beside)?;
            file.try_lock()?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&beside, &self.path)?;
            Ok(file)
        };
        self.file = write().map_err(|error| failed("rewriting", &self.path, error))?;
        self.len = bytes.len() as u64;
        sync(&self.file, &self.path)?;
        sync_folder(&self.path)
    }
}

/// The file at `path`, which no other log has open.
fn open_alone(path: &Path) -> Result<File> {
    let until = Instant::now() + LOCK_PATIENCE;
    loop {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = file.map_err(|error| failed("opening", path, error))?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => return Ok(file),
            // It was written anew meanwhile, or is written anew just now.
            Ok(()) | Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(()) | Err(TryLockError::WouldBlock) => {
                let message = "another cache has this log of buffered writes open: give each its own";
                return Err(Error::new(ErrorKind::Conflict, message)
                    .with_context(format!("opening {}", path.display())));
            }
            Err(TryLockError::Error(error)) => return Err(failed("locking", path, error)),
        }
    }
}

/// Whether the name is still that of this file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number =
        |found: std::io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    let named = number(path.metadata());
    named.is_some() && number(file.metadata()) == named
}

/// A file that is open keeps its name.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_data().map_err(|error| failed("syncing", path, error))
}

/// Makes the name of the file survive a crash of the machine. Without this a log that was written anew could be the old
/// one again, without what was acknowledged since, and a new log could be missing.
fn sync_folder(path: &Path) -> Result<()> {
    // Windows opens no folders as files.
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new("."));
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| failed("syncing the folder of", path, error))?;
    }
    cross("file log: folder synced");
    Ok(())
}

fn failed(doing: &str, path: &Path, error: std::io::Error) -> Error {
    Error::unavailable(error.to_string())
        .with_context(format!("{doing} {}", path.display()))
        .with_source(error)
}

/// The records of a call: one, or one for each write.
fn write_call(bytes: &mut Vec<u8>, range: RangeId, epoch: Epoch, call: &LogCall) {
    match call {
        LogCall::Fence => write_record(bytes, range, epoch, FENCE, |_| {}),
        LogCall::Append(writes) => {
            for (lsn, write) in writes.iter() {
                write_record(bytes, range, epoch, APPEND, |body| encode_write(body, *lsn, write));
            }
        }
        LogCall::Trim(applied) => {
            let applied = applied.to_le_bytes();
            write_record(bytes, range, epoch, TRIM, |body| body.extend_from_slice(&applied));
        }
    }
}

/// Length and checksum of the body, then the body: kind, range, epoch, and the content.
fn write_record(
    bytes: &mut Vec<u8>,
    range: RangeId,
    epoch: Epoch,
    kind: u8,
    write_content: impl FnOnce(&mut Vec<u8>),
) {
    let mut body = vec![kind];
    body.extend_from_slice(&range.0.to_le_bytes());
    body.extend_from_slice(&epoch.0.to_le_bytes());
    write_content(&mut body);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32c::crc32c(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
}

/// Replays complete records; returns how many bytes they take. Records from the first torn one on were never
/// acknowledged.
fn replay(records: &[u8], ranges: &mut BTreeMap<RangeId, Kept>) -> Result<usize> {
    let mut rest = records;
    while let Some((body, behind)) = next_body(rest) {
        let (range, epoch, call) = read_record(body)?;
        // In a file that was written anew, the fence comes after its appends.
        let kept = ranges.entry(range).or_default();
        if kept.parts().0.is_none() {
            kept.call(epoch, &LogCall::Fence);
        }
        kept.call(epoch, &call);
        rest = behind;
    }
    Ok(records.len() - rest.len())
}

fn next_body(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = rest.split_first_chunk()?;
    let (check, rest) = rest.split_first_chunk()?;
    let (body, behind) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    (crc32c::crc32c(body) == u32::from_le_bytes(*check)).then_some((body, behind))
}

fn read_record(body: &[u8]) -> Result<(RangeId, Epoch, LogCall)> {
    let malformed = || Error::corrupt("a record of the log of buffered writes is malformed");
    let (kind, rest) = body.split_first().ok_or_else(malformed)?;
    let (range, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
    let (epoch, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
    let call = match *kind {
        FENCE => LogCall::Fence,
        APPEND => {
            let (lsn, write) = decode_write(rest)?;
            LogCall::Append([(lsn, write)].into())
        }
        TRIM => LogCall::Trim(u64::from_le_bytes(rest.try_into().map_err(|_| malformed())?)),
        _ => {
            return Err(Error::unsupported("a log of buffered writes has a record of an unknown kind"));
        }
    };
    Ok((RangeId(u32::from_le_bytes(*range)), Epoch(u64::from_le_bytes(*epoch)), call))
}

#[cfg(test)]
#[path = "file_log_tests.rs"]
mod tests;
