//! Which partition files there are, and the tables that they belong to.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::partitions::file::{id_of, path_of};
use crate::partitions::place::FileId;

/// A folder of partition files.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    owners: Mutex<Owners>,
}

#[derive(Debug)]
struct Owners {
    /// The file of each table, by the path of the table.
    tables: HashMap<PathBuf, FileId>,
    /// Files that were there when the folder was opened, and of which no table is known.
    unclaimed: HashSet<FileId>,
}

impl Folder {
    /// Makes the folder if it is not there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let mut unclaimed = HashSet::new();
        for entry in fs::read_dir(path)? {
            unclaimed.extend(id_of(&entry?.path()));
        }
        let owners = Owners { tables: HashMap::new(), unclaimed };
        Ok(Self { path: path.to_owned(), owners: Mutex::new(owners) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Notes the file of the table at `table`.
    pub(crate) fn claim(&self, table: &Path, file: FileId) {
        let mut owners = self.owners();
        owners.unclaimed.remove(&file);
        owners.tables.insert(table.to_owned(), file);
    }

    /// Forgets a table that is gone; returns its file if no other table has the same, as a copy of it would.
    pub(crate) fn release(&self, table: &Path) -> Option<FileId> {
        let mut owners = self.owners();
        let file = owners.tables.remove(table)?;
        let is_shared = owners.tables.values().any(|&other| other == file);
        (!is_shared).then_some(file)
    }

    /// Files from before this process that no table has claimed. They are claimed by this call.
    pub(crate) fn take_unclaimed(&self) -> Vec<FileId> {
        self.owners().unclaimed.drain().collect()
    }

    /// Removes a file; whether it was there.
    pub(crate) fn remove(&self, file: FileId) -> bool {
        fs::remove_file(path_of(&self.path, file)).is_ok()
    }

    // A panic leaves the maps whole: they are changed in single steps.
    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
