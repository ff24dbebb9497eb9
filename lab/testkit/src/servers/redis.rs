//! `redis-server`.

use tempfile::TempDir;

use crate::servers::port::free_port;
use crate::servers::process::{Process, is_installed};

/// A Redis server.
#[derive(Debug)]
pub struct Redis {
    process: Process,
    port: u16,
    folder: TempDir,
    options: Vec<String>,
}

impl Redis {
    /// A server without persistence, as cache servers are; `None` if it is not installed and need not be.
    pub fn cache() -> Option<Self> {
        Self::with(&["--save", "", "--appendonly", "no"])
    }

    /// A server that keeps what it acknowledged when it is killed. The disk is not waited for: the machine goes on in tests.
    pub fn log() -> Option<Self> {
        Self::with(&["--save", "", "--appendonly", "yes", "--appendfsync", "no"])
    }

    /// A server that keeps what it acknowledged, as log servers do.
    pub fn durable_log() -> Option<Self> {
        Self::with(&["--save", "", "--appendonly", "yes", "--appendfsync", "always"])
    }

    /// A server with these options.
    ///
    /// # Panics
    /// If it does not start.
    pub fn with(options: &[&str]) -> Option<Self> {
        if !is_installed("redis-server") {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for the server");
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let port = free_port();
        let process = start(&folder, port, &options);
        Some(Self { process, port, folder, options })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills it.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again, at the same place, with what its disk has.
    pub fn restart(&mut self) {
        self.process.kill();
        self.process = start(&self.folder, self.port, &self.options);
    }
}

fn start(folder: &TempDir, port: u16, options: &[String]) -> Process {
    let fixed =
        ["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir", &folder.path().display().to_string()];
    let arguments: Vec<String> =
        fixed.iter().map(|part| (*part).to_owned()).chain(options.iter().cloned()).collect();
    Process::start("redis-server", &arguments, port)
}
