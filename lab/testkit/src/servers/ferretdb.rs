//! `ferretdb`: the MongoDB protocol over SQLite, built by `.ci/ferretdb`. It scans whole collections, so tests keep them small.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::servers::port::free_port;
use crate::servers::process::{Process, is_installed_in};

/// As `.ci/ferretdb` has it.
const PROGRAM: &str = "ferretdb-v1.24.2";

/// A FerretDB server.
#[derive(Debug)]
pub struct FerretDb {
    _process: Process,
    port: u16,
    _folder: TempDir,
}

impl FerretDb {
    /// An empty server; `None` if it was not built and need not be.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start() -> Option<Self> {
        let tools = std::env::var_os("LACUNA_TOOLS").map(PathBuf::from);
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/lacuna"));
        let bin = tools.or(home)?.join("bin");
        if !is_installed_in(PROGRAM, std::slice::from_ref(&bin)) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for the server");
        let port = free_port();
        let place = folder.path().display();
        let arguments = [
            "--handler=sqlite".to_owned(),
            format!("--sqlite-url=file:{place}/"),
            format!("--state-dir={place}"),
            format!("--listen-addr=127.0.0.1:{port}"),
            "--debug-addr=-".to_owned(),
            "--telemetry=disable".to_owned(),
        ];
        let process = Process::start(&bin.join(PROGRAM).display().to_string(), &arguments, port);
        Some(Self { _process: process, port, _folder: folder })
    }

    /// Where its database `test` is.
    pub fn url(&self) -> String {
        format!("mongodb://127.0.0.1:{}/test", self.port)
    }
}
