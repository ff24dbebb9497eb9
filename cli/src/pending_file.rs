//! An output file that is there whole or not at all.
//!
//! The bytes go to a temporary file in the same folder, are synced, and take the name asked for in one rename. Errors
//! and signals remove the temporary file; whatever stood there before stays until the rename, and gives its permissions
//! to the new file. A link stays a link.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use lacuna_base::{Error, Result};
use tempfile::NamedTempFile;

use crate::interrupt::{BeforeEnd, before_end};

/// Links that are followed, as by Linux.
const MAX_LINKS: usize = 40;

/// A file on its way to `target`. Dropped before [`commit`](Self::commit), it leaves no file.
#[derive(Debug)]
pub struct PendingFile {
    temporary: NamedTempFile,
    target: PathBuf,
    /// Those of the file that is replaced.
    permissions: Option<fs::Permissions>,
    /// Removes the temporary file if a signal ends the process.
    removal: BeforeEnd,
}

impl PendingFile {
    /// Makes sure that a file can be written at `path`, before any work is spent on its content.
    ///
    /// # Errors
    /// `InvalidInput` if its folder is missing or takes no file, or if something other than a file is there.
    pub fn create(path: &Path) -> Result<Self> {
        let target = resolve(path)?;
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let folder = folder.display();
            return Err(refused(path, format!("there is no folder {folder}; make it first")));
        }
        let temporary = temporary_in(folder).map_err(|error| {
            let reason = error
                .raw_os_error()
                .map_or(error.kind().to_string(), |code| std::io::Error::from_raw_os_error(code).to_string());
            refused(path, format!("its folder takes no file: {reason}")).with_source(error)
        })?;
        let removed = temporary.path().to_owned();
        // The file may be gone already, which is the aim.
        let removal = before_end(move || drop(fs::remove_file(&removed)));
        let permissions = fs::metadata(&target).ok().map(|metadata| metadata.permissions());
        Ok(Self { temporary, target, permissions, removal })
    }

    /// Writes `bytes` and gives the file its name.
    ///
    /// # Errors
    /// `Unavailable` if the disk does not take them; whatever had the name before is then still there.
    pub fn commit(mut self, bytes: &[u8]) -> Result<()> {
        let target = self.target;
        let failed = |error: std::io::Error| {
            Error::unavailable(format!("cannot write {}: {error}", target.display())).with_source(error)
        };
        self.temporary.write_all(bytes).map_err(failed)?;
        if let Some(permissions) = self.permissions {
            self.temporary.as_file().set_permissions(permissions).map_err(failed)?;
        }
        self.temporary.as_file().sync_all().map_err(failed)?;
        let persisted = self.removal.settle(|| self.temporary.persist(&target));
        persisted.map(drop).map_err(|error| failed(error.error))
    }
}

fn refused(path: &Path, reason: String) -> Error {
    Error::invalid_input(format!("cannot write {}: {reason}", path.display()))
}

/// The file itself where `path` is a link, so that the link stays one.
fn resolve(path: &Path) -> Result<PathBuf> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            Err(refused(path, "it is a directory; give the name of a file".to_owned()))
        }
        Ok(metadata) if !metadata.is_file() => {
            Err(refused(path, "it is not a regular file; give another name".to_owned()))
        }
        Ok(_) => fs::canonicalize(path).map_err(|error| refused(path, error.to_string()).with_source(error)),
        Err(_) => Ok(end_of_links(path.to_owned())),
    }
}

/// Where a link leads that leads to no file yet.
fn end_of_links(mut path: PathBuf) -> PathBuf {
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().map_or(next.clone(), |folder| folder.join(next));
    }
    path
}

/// Whether both names are those of one file that is there.
#[cfg(unix)]
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether both names are those of one file that is there.
#[cfg(not(unix))]
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// A new file with the permissions that any other new file gets.
fn temporary_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lacuna-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
