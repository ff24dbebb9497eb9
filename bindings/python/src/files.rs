//! Filters in files: read, mapped, written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lacuna_base::AlignedBytes;
use memmap2::Mmap;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

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

/// Writes `bytes` beside `path` and renames: the file is there whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = beside(path)?;
    let written = write_new(&part, bytes).and_then(|()| fs::rename(&part, path));
    written.inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(&part);
    })
}

/// A name in the same folder, which no other process uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let mut part = OsString::from(".");
    part.push(name);
    part.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(part))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// The `OSError` of Python for this file, of the class that belongs to its number.
pub(crate) fn os_error(path: &Path, error: &io::Error) -> PyErr {
    let said = error.to_string();
    let reason = said.split(" (os error").next().unwrap_or_default().to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, reason, path.to_path_buf())),
        None => PyOSError::new_err(format!("{}: {reason}", path.display())),
    }
}
