//! The file of one table while it is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::partitions::place::FileId;

/// Takes partitions one after the other. Dropped before it is finished, it removes the file: its table was not written.
#[derive(Debug)]
pub(crate) struct PartitionFile {
    id: FileId,
    path: PathBuf,
    file: File,
    len: u64,
    is_finished: bool,
}

impl PartitionFile {
    /// A new file in `folder`.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let id = FileId::random();
        let path = path_of(folder, id);
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Self { id, path, file, len: 0, is_finished: false })
    }

    pub(crate) fn id(&self) -> FileId {
        self.id
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Keeps the file, once it is on the disk: a table is there after a power failure, and its filter should be.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for PartitionFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // What stays is found when the folder is opened again.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The ending of the names of partition files.
const ENDING: &str = "lacuna";

/// Where the file with this number is.
pub(crate) fn path_of(folder: &Path, id: FileId) -> PathBuf {
    folder.join(format!("{id}.{ENDING}"))
}

/// The number of the partition file at `path`; `None` for a file that is none.
pub(crate) fn id_of(path: &Path) -> Option<FileId> {
    let is_ours = path.extension().is_some_and(|ending| ending == ENDING);
    path.file_stem()?.to_str()?.parse().ok().filter(|_| is_ours)
}
