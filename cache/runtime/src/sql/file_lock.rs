//! A lock that gives a database file to one process, because its cache is in that process's memory.

use std::fs::File;
use std::path::Path;

use lacuna_cache_protocol::{Error, ErrorKind, Result};

/// Holds the lock until it is released or dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
}

impl FileLock {
    pub(crate) fn take(path: &Path) -> Result<Self> {
        let context = || format!("locking {}", path.display());
        let file = File::options().create(true).truncate(false).write(true).open(path);
        let file = file.map_err(|error| Error::unavailable(error.to_string()).with_context(context()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(_) => {
                let message = "another process has this database open with a cache";
                Err(Error::new(ErrorKind::Conflict, message).with_context(context()))
            }
        }
    }

    /// Releases the lock.
    pub(crate) fn release(&self) {
        // It is released with the file at the latest.
        drop(self.file.unlock());
    }
}
