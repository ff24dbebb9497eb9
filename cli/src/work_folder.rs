//! A temporary folder of a command that writes databases: removed at its end, whatever ends it.
//!
//! It holds a file, the marker, that its process keeps a lock on. What a killed process left is removed by the next
//! command of the same name: a folder with a marker whose lock is free. A folder without a marker was not made here and
//! stays, whatever its name; and a lock, unlike the number of a process, means the same in all containers that share a
//! disk.
//!
//! While the folder is there, the disk is watched: an engine that cannot write tries for ever, so a full disk ends the
//! command here.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use lacuna_base::{Error, Result};
use tempfile::TempDir;

use crate::interrupt::{BeforeEnd, before_end, end_soon};

/// How often the disk is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// A disk with less space than this is full: no engine writes smaller pieces.
const FULL_BYTES: u64 = 64 << 10;
/// Looks in a row that find the disk full before the command is ended.
const LOOKS: u32 = 4;
/// Exit code when the disk is full.
const BAD_INPUT: u8 = 2;
/// Attempts at removing a folder that others still write into, and the time between them.
const REMOVALS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(60);
/// The name of the marker.
const MARKER: &str = ".lacuna-work";
/// Its name until it is locked.
const NEW_MARKER: &str = ".lacuna-work.new";
/// What it holds.
const MARK: &[u8] =
    b"A temporary folder of the command `lacuna`. It is removed once no process has a lock on this file.\n";

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    folder: TempDir,
    /// The marker, locked to the end; `None` on a disk without locks, where no command removes what a killed process left.
    _marker: Option<File>,
    _removal: BeforeEnd,
    /// Dropped to end the watch over the disk.
    _watch: Sender<()>,
}

impl WorkFolder {
    /// A folder of `command` in `parent`, or in the system's temporary folder, for about `needed_bytes`.
    ///
    /// # Errors
    /// `InvalidInput` if none can be made there, or the disk has less space than that.
    pub(crate) fn create(command: &str, parent: Option<&Path>, needed_bytes: u64) -> Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        sweep(&parent, command);
        check_space(&parent, needed_bytes)?;
        let prefix = prefix(command);
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(&parent).map_err(|error| {
            Error::invalid_input(format!("no folder can be made in {}: {error}", parent.display()))
                .with_source(error)
        })?;
        let path = folder.path().to_owned();
        let removal = before_end({
            let path = path.clone();
            move || remove(&path)
        });
        let marker = mark(&path).ok();
        Ok(Self { folder, _marker: marker, _removal: removal, _watch: watch_disk(path) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn check_space(folder: &Path, needed_bytes: u64) -> Result<()> {
    match free_bytes(folder) {
        Some(free) if free < needed_bytes => Err(Error::invalid_input(format!(
            "the disk of {} is full: the databases need about {} KiB, {} KiB are free",
            folder.display(),
            needed_bytes.div_ceil(1 << 10),
            free >> 10
        ))),
        _ => Ok(()),
    }
}

/// Ends the process once the disk of `folder` stays full, until the sender is dropped.
fn watch_disk(folder: PathBuf) -> Sender<()> {
    let (end, ended) = channel();
    thread::spawn(move || {
        let mut looks = 0;
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let is_full = free_bytes(&folder).is_some_and(|free| free < FULL_BYTES);
            looks = if is_full { looks + 1 } else { 0 };
            if looks == LOOKS {
                end_soon(&format!("the disk of {} is full", folder.display()), BAD_INPUT);
            }
        }
    });
    end
}

/// Bytes that are free where `folder` is, if the system says.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Removes a folder that threads of this process may still write into.
fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        // What cannot be removed now may be in a moment.
        let _ = fs::remove_dir_all(folder);
        thread::sleep(PAUSE);
        if !folder.exists() {
            return;
        }
    }
}

/// How the names of the folders of `command` begin.
fn prefix(command: &str) -> String {
    format!("lacuna-{command}-")
}

/// Puts a locked marker into `folder`. It gets its name once it is locked, so that one whose lock is free is always that of
/// a process that has ended.
fn mark(folder: &Path) -> io::Result<File> {
    let new = folder.join(NEW_MARKER);
    fs::write(&new, MARK)?;
    let marker = open(&new)?;
    marker.try_lock()?;
    fs::rename(new, folder.join(MARKER))?;
    Ok(marker)
}

/// Removes what processes of `command` left that have ended.
fn sweep(parent: &Path, command: &str) {
    let prefix = prefix(command);
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.filter_map(io::Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(&prefix)
            && let Some(_locked) = left_marker(&entry)
        {
            // It may belong to another user; then it stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The marker of a folder that a process left which has ended, locked against others that sweep. `None` for anything else.
fn left_marker(entry: &DirEntry) -> Option<File> {
    let path = entry.path().join(MARKER);
    // A link may lead anywhere, and a pipe would be waited for.
    let is_plain = entry.file_type().ok()?.is_dir() && fs::symlink_metadata(&path).ok()?.is_file();
    let mut marker = is_plain.then(|| open(&path).ok())??;
    marker.try_lock().ok()?;
    let mut text = Vec::new();
    marker.read_to_end(&mut text).ok()?;
    (text == MARK).then_some(marker)
}

/// Opens a marker; some disks lock only what may be written.
fn open(marker: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_with_a_free_marker_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = parent.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("precious"), "data").unwrap();
            folder
        };
        let of_users =
            ["lacuna-demo-2024-11-30", "lacuna-demo-4294967295", "lacuna-demo-4294967295-x", "lacuna-demo-x"]
                .map(folder);
        let foreign = folder("lacuna-demo-foreign");
        fs::write(foreign.join(MARKER), "another").unwrap();
        let (left, of_bench) = (folder("lacuna-demo-left"), folder("lacuna-bench-left"));
        for folder in [&left, &of_bench] {
            drop(mark(folder).unwrap());
        }
        let alive = folder("lacuna-demo-alive");
        let _lock = mark(&alive).unwrap();
        let own = WorkFolder::create("demo", Some(parent.path()), 0).unwrap();
        let other = WorkFolder::create("demo", Some(parent.path()), 0).unwrap();
        for kept in of_users.iter().chain([&foreign, &of_bench, &alive]) {
            assert!(kept.join("precious").exists(), "{} is gone", kept.display());
        }
        assert!(!left.exists() && own.path().exists());
        let path = other.path().to_owned();
        drop(other);
        assert!(!path.exists());
    }

    #[test]
    fn a_disk_without_space_is_said() {
        let parent = tempfile::tempdir().unwrap();
        let error = WorkFolder::create("demo", Some(parent.path()), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("is full: the databases need about"), "{error}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
