//! Commands that another binary runs.
//!
//! RocksDB takes minutes and a compiler for C++ to build, and the default build has neither. What needs it stands in
//! `lacuna-rocksdb`, which takes the same arguments; `lacuna` starts it and ends as it ends.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use lacuna_core::Error;

use crate::errors::{Failure, Result};

/// The binary that links RocksDB.
const ROCKSDB: &str = "lacuna-rocksdb";
/// Where it is built.
const BUILD: &str = ".ci/with-rocksdb cargo build --release -p lacuna-rocksdb-tool";

/// Runs this process's command line in the binary that links RocksDB.
///
/// # Errors
/// `InvalidInput` that says how to build the binary, if it is not there; its own failure otherwise.
pub(crate) fn run_with_rocksdb() -> Result<()> {
    let Some(path) = find() else {
        return Err(Failure::BadInput(Error::invalid_input(format!(
            "this needs RocksDB, which is in `{ROCKSDB}`, and that is neither beside `lacuna` nor in the path; in the \
             checkout, `{BUILD}` builds it"
        ))));
    };
    let status = Command::new(&path).args(env::args_os().skip(1)).status().map_err(|error| {
        Error::unavailable(format!("{} cannot be run: {error}", path.display())).with_source(error)
    })?;
    passed_on(status)
}

/// The binary beside this one, else in the path; never this one itself.
fn find() -> Option<PathBuf> {
    let name = format!("{ROCKSDB}{EXE_SUFFIX}");
    let own = env::current_exe().ok();
    let beside = own.as_ref().and_then(|own| own.parent()).map(|folder| folder.join(&name));
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join(&name));
    let is_other = |found: &PathBuf| {
        found.is_file() && own.as_deref().and_then(|own| own.file_name()) != Some(OsStr::new(&name))
    };
    beside.into_iter().chain(in_path).find(is_other)
}

/// The end of the other binary as our own; it has said itself what went wrong.
fn passed_on(status: ExitStatus) -> Result<()> {
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Told(u8::try_from(code).unwrap_or(u8::MAX))),
        None => Err(Failure::BadInput(Error::unavailable(format!("`{ROCKSDB}` was ended: {status}")))),
    }
}
