//! `postgres`, which refuses to be run by root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::servers::port::free_port;
use crate::servers::process::{LastSignal, Process, is_installed_in};
use crate::servers::template::copy_or_make;
use crate::servers::tls_files::TlsFiles;

/// The user that Debian's package makes.
const USER: &str = "postgres";

/// Of `initdb`.
const SETTINGS: [&str; 8] = ["-A", "trust", "-N", "--locale=C", "-E", "UTF8", "-U", USER];

/// A PostgreSQL server.
#[derive(Debug)]
pub struct Postgres {
    process: Process,
    program: String,
    arguments: Vec<String>,
    port: u16,
    _folder: TempDir,
    _files: Option<TempDir>,
}

impl Postgres {
    /// A server with an empty database `postgres` that keeps what it acknowledged when it is killed; `None` if it is not
    /// installed and need not be. The disk is not waited for: the machine goes on in tests.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start() -> Option<Self> {
        Self::with(&["-c", "fsync=off"])
    }

    /// As [`Postgres::start`], with these settings besides, each as `name=value`.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_with(settings: &[&str]) -> Option<Self> {
        let options: Vec<&str> =
            ["fsync=off"].iter().chain(settings).flat_map(|setting| ["-c", setting]).collect();
        Self::with(&options)
    }

    /// The same as it is installed: what it acknowledged is on the disk.
    ///
    /// # Panics
    /// If it does not start.
    pub fn durable() -> Option<Self> {
        Self::with(&[])
    }

    /// As [`Postgres::start`], with a log that can be decoded.
    ///
    /// # Panics
    /// If it does not start.
    pub fn logged() -> Option<Self> {
        Self::with(&["-c", "fsync=off", "-c", "wal_level=logical"])
    }

    /// As [`Postgres::start`], with TLS for those that ask for it. Copies of the files belong to the server's user.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_encrypted(files: &TlsFiles) -> Option<Self> {
        let folder =
            tempfile::Builder::new().prefix("lacuna-pem").tempdir_in("/tmp").expect("a folder of files");
        let copied = |from: &Path, name: &str| {
            let path = folder.path().join(name);
            std::fs::copy(from, &path).expect("a file can be copied");
            run(Command::new("chmod").arg("600").arg(&path));
            path.display().to_string()
        };
        let mut options = vec!["fsync=off".to_owned(), "ssl=on".to_owned()];
        options.push(format!("ssl_cert_file={}", copied(&files.certificate, "server.pem")));
        options.push(format!("ssl_key_file={}", copied(&files.key, "server.key")));
        if let Some(authority) = &files.authority_of_clients {
            options.push(format!("ssl_ca_file={}", copied(authority, "clients.pem")));
        }
        if is_root() {
            run(Command::new("chown").arg("-R").arg(USER).arg(folder.path()));
        }
        let options: Vec<&str> = options.iter().flat_map(|option| ["-c", option]).collect();
        let server = Self::with(&options)?;
        Some(Self { _files: Some(folder), ..server })
    }

    fn with(options: &[&str]) -> Option<Self> {
        let programs = programs();
        if !is_installed_in("initdb", &programs) {
            return None;
        }
        let bin = programs.iter().find(|folder| folder.join("initdb").is_file()).expect("it was found");
        let folder =
            tempfile::Builder::new().prefix("lacuna-pg").tempdir_in("/tmp").expect("a folder for the server");
        let user = is_root().then_some(USER);
        if user.is_some() {
            run(Command::new("chown").arg(USER).arg(folder.path()));
        }
        let data = folder.path().join("data");
        let initdb = bin.join("initdb");
        copy_or_make(&initdb, &SETTINGS, &data, || initialise(user, &initdb, &data));
        let port = free_port();
        let text = |path: &Path| path.display().to_string();
        let place =
            ["-D", &text(&data), "-p", &port.to_string(), "-h", "127.0.0.1", "-k", &text(folder.path())];
        // A server that is killed leaves its shared memory; in its folder, that goes with the folder.
        let fixed = place.iter().chain(&["-c", "dynamic_shared_memory_type=mmap"]);
        let arguments: Vec<String> = fixed.chain(options).map(|part| (*part).to_owned()).collect();
        let program = bin.join("postgres").display().to_string();
        let process = Process::start_as(user, LastSignal::Quit, &program, &arguments, port);
        Some(Self { process, program, arguments, port, _folder: folder, _files: None })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// Where it is by name, as certificates for `localhost` want it; the caller adds `?sslmode=...`.
    pub fn named_url(&self) -> String {
        self.url().replace("127.0.0.1", "localhost")
    }

    /// Kills it.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again at the same place, with what its disk has.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.process.kill();
        self.process = Process::start_as(
            is_root().then_some(USER),
            LastSignal::Quit,
            &self.program,
            &self.arguments,
            self.port,
        );
    }
}

fn initialise(user: Option<&str>, initdb: &Path, data: &Path) {
    let mut init = Process::command(user, LastSignal::Kill, &initdb.display().to_string());
    run(init.args(SETTINGS).arg("-D").arg(data));
}

/// Folders of Debian's versions, the newest first, then those of the path.
fn programs() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("`id` says who runs the test");
    id.stdout.starts_with(b"0\n")
}

fn run(command: &mut Command) {
    let done = command.stdin(Stdio::null()).output().expect("programs of the server run");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}
