//! `redis-server`.

use tempfile::TempDir;

use crate::servers::port::free_port;
use crate::servers::process::{Process, is_installed};
use crate::servers::tls_files::TlsFiles;

/// A Redis server.
#[derive(Debug)]
pub struct Redis {
    process: Process,
    port: u16,
    encrypted: Option<u16>,
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

    /// A cache server that is reached at an encrypted port, too ([`Redis::encrypted_url`]).
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_encrypted(files: &TlsFiles) -> Option<Self> {
        let path = |path: &std::path::Path| path.display().to_string();
        let encrypted = free_port();
        let mut options = ["--save", "", "--appendonly", "no", "--tls-port"].map(str::to_owned).to_vec();
        options.extend([encrypted.to_string(), "--tls-cert-file".to_owned(), path(&files.certificate)]);
        options.extend(["--tls-key-file".to_owned(), path(&files.key)]);
        match &files.authority_of_clients {
            Some(authority) => options.extend(["--tls-ca-cert-file".to_owned(), path(authority)]),
            None => options.extend(["--tls-auth-clients", "no"].map(str::to_owned)),
        }
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        Some(Self { encrypted: Some(encrypted), ..Self::with(&options)? })
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
        Some(Self { process, port, encrypted: None, folder, options })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Where it is with TLS. Its certificate has to be for `localhost`.
    ///
    /// # Panics
    /// If it was not started with certificates.
    pub fn encrypted_url(&self) -> String {
        format!("rediss://localhost:{}", self.encrypted.expect("it has certificates"))
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
