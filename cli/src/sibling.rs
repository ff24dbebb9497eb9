//! Commands that another binary runs.
//!
//! RocksDB takes minutes and a compiler for C++ to build, the range cache brings drivers of databases, and the default
//! build has neither. What needs them stands in `lacuna-rocksdb` and `lacuna-cache`, which take the same arguments;
//! `lacuna` starts them and ends as they end.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use lacuna_base::Error;

use crate::errors::{Failure, Result};

/// A binary that takes the same arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sibling {
    name: &'static str,
    /// What it has that this one has not.
    holds: &'static str,
    /// The command that builds it, in the checkout.
    build: &'static str,
}

impl Sibling {
    /// The binary that links RocksDB.
    pub(crate) const ROCKSDB: Self = Self {
        name: "lacuna-rocksdb",
        holds: "RocksDB",
        build: ".ci/with-rocksdb cargo build --release -p lacuna-rocksdb-tool",
    };
    /// The binary that has the range cache and its stores.
    pub(crate) const CACHE: Self = Self {
        name: "lacuna-cache",
        holds: "the range cache",
        build: "cargo build --release -p lacuna-cache-tool",
    };

    /// Runs this process's command line in the other binary.
    ///
    /// # Errors
    /// `InvalidInput` that says how to build the binary, if it is not there; its own failure otherwise.
    pub(crate) fn run(self) -> Result<()> {
        let Self { name, holds, build } = self;
        let Some(path) = self.find() else {
            return Err(Failure::BadInput(Error::invalid_input(format!(
                "this needs {holds}, which is in `{name}`, and that is neither beside `lacuna` nor in the path; in the \
                 checkout, `{build}` builds it"
            ))));
        };
        let status = Command::new(&path).args(env::args_os().skip(1)).status().map_err(|error| {
            Error::unavailable(format!("{} cannot be run: {error}", path.display())).with_source(error)
        })?;
        passed_on(name, status)
    }

    /// The binary beside this one, else in the path; never this one itself.
    fn find(self) -> Option<PathBuf> {
        let name = format!("{}{EXE_SUFFIX}", self.name);
        let own = env::current_exe().ok();
        let beside = own.as_ref().and_then(|own| own.parent()).map(|folder| folder.join(&name));
        let path = env::var_os("PATH").unwrap_or_default();
        let in_path = env::split_paths(&path).map(|folder| folder.join(&name));
        let is_other = |found: &PathBuf| {
            found.is_file() && own.as_deref().and_then(|own| own.file_name()) != Some(OsStr::new(&name))
        };
        beside.into_iter().chain(in_path).find(is_other)
    }
}

/// The end of another program as our own; it has said itself what went wrong.
pub(crate) fn passed_on(name: &str, status: ExitStatus) -> Result<()> {
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Told(u8::try_from(code).unwrap_or(u8::MAX))),
        None => {
            let message = format!("`{name}` was ended: {status}");
            Err(Failure::BadInput(Error::unavailable(message)))
        }
    }
}
