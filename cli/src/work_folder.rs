//! A temporary folder of a command that writes databases: removed at its end, whatever ends it.
//!
//! Its name says whose it is (`lacuna-demo-1234-…`). What a killed process of the same name left is removed by the
//! next. While it is there, the disk is watched: an engine that cannot write tries for ever, so a full disk ends the
//! command here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
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

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    folder: TempDir,
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
        let prefix = format!("lacuna-{command}-{}-", process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(&parent).map_err(|error| {
            Error::invalid_input(format!("no folder can be made in {}: {error}", parent.display()))
                .with_source(error)
        })?;
        let path = folder.path().to_owned();
        let removal = before_end({
            let path = path.clone();
            move || remove(&path)
        });
        Ok(Self { folder, _removal: removal, _watch: watch_disk(path) })
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

/// Removes folders of processes that are no more.
fn sweep(parent: &Path, command: &str) {
    let prefix = format!("lacuna-{command}-");
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.filter_map(io::Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix(&prefix).and_then(|rest| rest.split('-').next()?.parse().ok());
        if number.is_some_and(is_gone) {
            // It may belong to another user; then it stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether no process has this number, as far as the system says.
fn is_gone(number: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new("/proc").join(number.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_gone_processes_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let (gone, own) =
            (parent.path().join("lacuna-demo-4294967295-x"), format!("lacuna-demo-{}-x", process::id()));
        for folder in [&gone, &parent.path().join(&own), &parent.path().join("lacuna-demo-x")] {
            fs::create_dir(folder).unwrap();
        }
        let folder = WorkFolder::create("demo", Some(parent.path()), 0).unwrap();
        assert!(
            !gone.exists()
                && parent.path().join(own).exists()
                && parent.path().join("lacuna-demo-x").exists()
        );
        let path = folder.path().to_owned();
        assert!(path.exists());
        drop(folder);
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
