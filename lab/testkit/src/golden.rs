//! Golden files: the sealed bytes of five fixed keys, committed once and opened by every later build.
//!
//! `LACUNA_BLESS=1` writes the file instead of comparing. Do that for a new payload version, next to the old file;
//! never for an old version, whose bytes are on users' disks.

use std::path::Path;

use crate::checks::probe::Probe;
use crate::{Fault, OffsetBytes, Oracle, Subject, TestSpace, Verdict};

/// Budget and seed of every golden file.
const BITS_PER_KEY: f64 = 16.0;
const SEED: u64 = 42;

/// The committed file at `path` (relative to the crate) is what this code writes for the five fixed keys, and it opens
/// and finds them.
///
/// # Errors
/// A fault if it differs, is missing, or denies a key.
pub fn golden_file_is_kept<K: TestSpace + ?Sized>(subject: &Subject<K>, path: impl AsRef<Path>) -> Verdict {
    let oracle = Oracle::<K>::new(K::five_keys());
    let sealed = subject.seal(oracle.sorted(), BITS_PER_KEY, SEED)?;
    golden_bytes_are_kept(path.as_ref(), sealed.as_bytes())?;
    golden_file_opens(subject, path)
}

/// The committed file of an older version at `path` still opens and finds the five fixed keys.
///
/// # Errors
/// A fault if it does not.
pub fn golden_file_opens<K: TestSpace + ?Sized>(subject: &Subject<K>, path: impl AsRef<Path>) -> Verdict {
    let oracle = Oracle::<K>::new(K::five_keys());
    let opened = subject.try_open_verified(OffsetBytes::copy_of(&read(path.as_ref())?, 0));
    let filter = opened.map_err(|error| Fault::new(format!("{}: {error}", path.as_ref().display())))?;
    Probe::new(&*filter, &oracle, &path.as_ref().display()).everything_near(5)
}

/// The file at `path` holds exactly `bytes`; under `LACUNA_BLESS=1` it is written.
///
/// # Errors
/// A fault if it differs or is missing.
pub fn golden_bytes_are_kept(path: &Path, bytes: &[u8]) -> Verdict {
    if std::env::var_os("LACUNA_BLESS").is_some_and(|value| value == "1") {
        return write(path, bytes);
    }
    let kept = read(path)?;
    let place = kept.iter().zip(bytes).position(|(kept, new)| kept != new);
    match place {
        None if kept.len() == bytes.len() => Ok(()),
        None => Err(changed(path, format!("{} bytes became {}", kept.len(), bytes.len()))),
        Some(place) => {
            Err(changed(path, format!("byte {place} was {:#04x} and is {:#04x}", kept[place], bytes[place])))
        }
    }
}

fn changed(path: &Path, how: String) -> Fault {
    Fault::new(format!(
        "{}: the format changed ({how}); filters on disk would not open. Raise the payload version, keep this file",
        path.display()
    ))
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    std::fs::read(path)
        .map_err(|error| Fault::new(format!("{}: {error}; LACUNA_BLESS=1 writes a new one", path.display())))
}

fn write(path: &Path, bytes: &[u8]) -> Verdict {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, bytes));
    written.map_err(|error| Fault::new(format!("{}: {error}", path.display())))
}
