//! Folders of data that a server's own program makes the same way every time: made once, then copied.
//!
//! All copies have the same system identifier of PostgreSQL.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A new folder in `place`, which is gone with what is returned.
///
/// # Panics
/// If it cannot be made.
pub(crate) fn folder_in(place: &Path, prefix: &str) -> TempDir {
    tempfile::Builder::new().prefix(prefix).tempdir_in(place).expect("a folder for the server's data")
}

/// Makes the folder `to` as `program` makes it with `settings`: `make` runs that for the first server of this build only.
///
/// # Panics
/// If files cannot be copied.
pub(crate) fn copy_or_make(program: &Path, settings: &[&str], to: &Path, make: impl FnOnce()) {
    let template = place_for(program, settings);
    let lock = File::create(template.with_extension("lock")).expect("the build's folder can be written");
    lock.lock().expect("a file can be locked");
    if template.is_dir() {
        drop(lock);
        return copy(&template, to);
    }
    make();
    let unfinished = template.with_extension("new");
    drop(std::fs::remove_dir_all(&unfinished));
    copy(to, &unfinished);
    std::fs::rename(&unfinished, &template).expect("a folder can be renamed");
}

/// Beside the programs of the tests; another version of `program`, and other settings, have another place.
fn place_for(program: &Path, settings: &[&str]) -> PathBuf {
    let file = std::fs::metadata(program).expect("the program is installed");
    let mut hasher = DefaultHasher::new();
    (program, settings, file.len(), file.modified().ok()).hash(&mut hasher);
    let tests = std::env::current_exe().expect("a test knows its file");
    tests.with_file_name(format!("data-of-a-server-{:016x}", hasher.finish()))
}

/// With owners and holes.
fn copy(from: &Path, to: &Path) {
    let mut command = Command::new("cp");
    command.args(["--archive", "--sparse=always", "--no-target-directory"]).arg(from).arg(to);
    let done = command.stdin(Stdio::null()).output().expect("`cp` runs");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}
