//! Filters in files: read, mapped, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lacuna_base::AlignedBytes;
use memmap2::Mmap;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use tempfile::NamedTempFile;

use crate::held::Bytes;

/// The bytes of the file at `path`.
pub(crate) fn read(path: &Path) -> io::Result<Bytes> {
    Ok(AlignedBytes::copy_of(&fs::read(path)?).into())
}

/// The file at `path`, mapped.
#[expect(unsafe_code, reason = "there is no other way to map a file")]
pub(crate) fn map(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    // An empty file has no pages to map, and a directory opens but does not map.
    if file.metadata()?.len() == 0 || file.metadata()?.is_dir() {
        return read(path);
    }
    // SAFETY: bytes that change under a map may give other answers, since every read of them is checked against their length;
    // that no process changes or shortens the file meanwhile is what `Filter.open` asks of a caller who says `mmap=True`.
    let mapped = unsafe { Mmap::map(&file) }?;
    Ok(Bytes::Mapped(Arc::new(mapped)))
}

/// Writes `bytes` beside `path` and renames: the file is there whole or not at all. What was there gives its permissions, and a
/// link to a file stays a link.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = target_of(path)?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = part_file(folder)?;
    part.write_all(bytes)?;
    if let Ok(before) = fs::metadata(&target) {
        part.as_file().set_permissions(before.permissions())?;
    }
    part.as_file().sync_all()?;
    part.persist(&target).map(drop).map_err(|error| error.error)
}

/// The file that `path` names, through links. A device or a pipe is refused: the renaming would put a file in its place.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a regular file; give another name")),
        Ok(_) => fs::canonicalize(path),
        Err(_) => Ok(path.to_path_buf()),
    }
}

/// A new file with the permissions that new files have.
fn part_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new();
    file.prefix(".lacuna-").suffix(".part");
    #[cfg(unix)]
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    file.tempfile_in(folder)
}

/// The `OSError` of Python for this file, of the class that belongs to its number or its kind.
pub(crate) fn os_error(path: &Path, error: io::Error) -> PyErr {
    let Some(number) = error.raw_os_error() else {
        let kind = error.kind();
        let reason = match kind {
            io::ErrorKind::Other => error.to_string(),
            // The text names the part file, which says little to a caller.
            _ => kind.to_string(),
        };
        return io::Error::new(kind, format!("{}: {reason}", path.display())).into();
    };
    let said = error.to_string();
    let reason = said.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((number, reason, path.to_path_buf()))
}
