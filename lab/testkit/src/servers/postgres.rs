//! `postgres`, which refuses to be run by root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::servers::port::free_port;
use crate::servers::process::{LastSignal, Process, is_installed_in};
use crate::servers::template::{copy_or_make, folder_in};
use crate::servers::tls_files::TlsFiles;

/// The user that Debian's package makes.
const USER: &str = "postgres";

/// The first version with `debug_io_direct`.
const FIRST_WITH_DIRECT_IO: u32 = 16;

/// Of `initdb`.
const SETTINGS: [&str; 8] = ["-A", "trust", "-N", "--locale=C", "-E", "UTF8", "-U", USER];

/// A PostgreSQL server.
#[derive(Debug)]
pub struct Postgres {
    process: Process,
    program: String,
    /// Settings, as arguments.
    options: Vec<String>,
    arguments: Vec<String>,
    port: u16,
    folder: TempDir,
    _data: Option<TempDir>,
    _files: Option<TempDir>,
}

impl Postgres {
    /// A server with an empty database `postgres` that keeps what it acknowledged when it is killed; `None` if it is not
    /// installed and need not be. The disk is not waited for: the machine goes on in tests.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start() -> Option<Self> {
        Self::with(&["-c", "fsync=off"], None)
    }

    /// As [`Postgres::start`], with these settings besides, each as `name=value`.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_with(settings: &[&str]) -> Option<Self> {
        let options: Vec<&str> =
            ["fsync=off"].iter().chain(settings).flat_map(|setting| ["-c", setting]).collect();
        Self::with(&options, None)
    }

    /// The same as it is installed: what it acknowledged is on the disk.
    ///
    /// # Panics
    /// If it does not start.
    pub fn durable() -> Option<Self> {
        Self::with(&[], None)
    }

    /// As [`Postgres::durable`], with `bytes` of memory for pages of its files, and with its data in a folder of its own in `data`, if
    /// that is given. From version 16 on it reads and writes its files past the page cache of the system; before, that holds
    /// what it has no room for ([`Postgres::bypasses_page_cache`]).
    ///
    /// # Panics
    /// If it does not start, as with less than [`Postgres::MIN_MEMORY`].
    pub fn with_memory(bytes: u64, data: Option<&Path>) -> Option<Self> {
        let buffers = format!("shared_buffers={}kB", bytes / 1024);
        let mut options = vec!["-c", &buffers];
        if Self::bypasses_page_cache() {
            options.extend(["-c", "debug_io_direct=data"]);
        }
        Self::with(&options, data)
    }

    /// The least memory for pages that it starts with.
    pub const MIN_MEMORY: u64 = 128 << 10;

    /// Whether the installed one can read and write its files past the page cache of the system.
    pub fn bypasses_page_cache() -> bool {
        let version = |folder: &PathBuf| folder.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
        programs().first().and_then(version).is_some_and(|version| version >= FIRST_WITH_DIRECT_IO)
    }

    /// Whether the user that it runs as may make its data in `folder`, whose owner gives a folder in it away.
    pub fn can_reach(folder: &Path) -> bool {
        let user = is_root().then_some(USER);
        let mut look = Process::command(user, LastSignal::Kill, "test");
        look.arg("-x").arg(folder).stdin(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// As [`Postgres::start`], with a log that can be decoded.
    ///
    /// # Panics
    /// If it does not start.
    pub fn logged() -> Option<Self> {
        Self::with(&["-c", "fsync=off", "-c", "wal_level=logical"], None)
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
        let server = Self::with(&options, None)?;
        Some(Self { _files: Some(folder), ..server })
    }

    /// With its data in a folder of its own in `place`, else beside its socket.
    fn with(options: &[&str], place: Option<&Path>) -> Option<Self> {
        let programs = programs();
        if !is_installed_in("initdb", &programs) {
            return None;
        }
        let bin = programs.iter().find(|folder| folder.join("initdb").is_file()).expect("it was found");
        let folder = folder_of_user();
        let user = is_root().then_some(USER);
        let own = place.map(|place| folder_in(place, "lacuna-pg"));
        if let (Some(_), Some(own)) = (user, &own) {
            run(Command::new("chown").arg(USER).arg(own.path()));
        }
        let data = own.as_ref().unwrap_or(&folder).path().join("data");
        let initdb = bin.join("initdb");
        copy_or_make(&initdb, &SETTINGS, &data, || initialise(user, &initdb, &data));
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let program = bin.join("postgres").display().to_string();
        Some(Self { _data: own, ..Self::over(folder, &data, program, options) })
    }

    /// A server over data that is there, with its socket in `folder`.
    fn over(folder: TempDir, data: &Path, program: String, options: Vec<String>) -> Self {
        let port = free_port();
        let text = |path: &Path| path.display().to_string();
        let place =
            ["-D", &text(data), "-p", &port.to_string(), "-h", "127.0.0.1", "-k", &text(folder.path())];
        // A server that is killed leaves its shared memory; in its folder, that goes with the folder.
        let fixed = place.iter().chain(&["-c", "dynamic_shared_memory_type=mmap"]);
        let arguments: Vec<String> =
            fixed.map(|part| (*part).to_owned()).chain(options.iter().cloned()).collect();
        let user = is_root().then_some(USER);
        let process = Process::start_as(user, LastSignal::Quit, &program, &arguments, port);
        Self { process, program, options, arguments, port, folder, _data: None, _files: None }
    }

    /// A standby of this one, with the same settings, that takes readers. It follows until it is promoted.
    ///
    /// # Panics
    /// If it cannot be made or does not start.
    pub fn standby(&self) -> Self {
        let folder = folder_of_user();
        let data = folder.path().join("data");
        let copies = Path::new(&self.program).with_file_name("pg_basebackup").display().to_string();
        let mut copy = Process::command(is_root().then_some(USER), LastSignal::Kill, &copies);
        copy.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER]);
        // With what it takes to be a standby.
        run(copy.args(["-X", "stream", "-c", "fast", "-R", "-D"]).arg(&data));
        Self::over(folder, &data, self.program.clone(), self.options.clone())
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// The folder of its Unix socket.
    pub fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    /// The port, which its socket is named by, too.
    pub const fn port(&self) -> u16 {
        self.port
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

/// The folder of the programs, in place of the newest of Debian's versions.
const PROGRAMS: &str = "LACUNA_POSTGRES";

/// Folders of Debian's versions, the newest first, then those of the path; or the one that is asked for.
fn programs() -> Vec<PathBuf> {
    if let Some(folder) = std::env::var_os(PROGRAMS) {
        return vec![folder.into()];
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// A folder for a server.
fn folder_of_user() -> TempDir {
    let folder = tempfile::Builder::new().prefix("lacuna-pg").tempdir_in("/tmp");
    let folder = folder.expect("a folder for the server");
    if is_root() {
        run(Command::new("chown").arg(USER).arg(folder.path()));
    }
    folder
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("`id` says who runs the test");
    id.stdout.starts_with(b"0\n")
}

fn run(command: &mut Command) {
    let done = command.stdin(Stdio::null()).output().expect("programs of the server run");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}
