//! `mariadbd`.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::servers::port::free_port;
use crate::servers::process::{Process, is_installed_in};
use crate::servers::template::{copy_or_make, folder_in};
use crate::servers::tls_files::TlsFiles;

const PROGRAM: &str = "/usr/sbin/mariadbd";
/// Of `mariadb-install-db`.
const SETTINGS: [&str; 4] =
    ["--no-defaults", "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db"];

/// A MariaDB server.
#[derive(Debug)]
pub struct MariaDb {
    process: Process,
    arguments: Vec<String>,
    port: u16,
    _folder: TempDir,
    _data: Option<TempDir>,
}

impl MariaDb {
    /// A server with an empty database `test` that keeps what it acknowledged when it is killed; `None` if it is not
    /// installed and need not be. The disk is waited for once a second at most: the machine goes on in tests.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start() -> Option<Self> {
        Self::with(2, &[], None)
    }

    /// The same as it is installed: what it acknowledged is on the disk.
    ///
    /// # Panics
    /// If it does not start.
    pub fn durable() -> Option<Self> {
        Self::with(1, &[], None)
    }

    /// As [`MariaDb::durable`], with `bytes` of memory for pages of its files, which are read and written past the page cache of the
    /// system, and with its data in a folder of its own in `data`, if that is given.
    ///
    /// # Panics
    /// If it does not start, as with less than [`MariaDb::MIN_MEMORY`].
    pub fn with_memory(bytes: u64, data: Option<&Path>) -> Option<Self> {
        let options = [format!("--innodb-buffer-pool-size={bytes}"), "--innodb-flush-method=O_DIRECT".into()];
        Self::with(1, &options.each_ref().map(String::as_str), data)
    }

    /// The least memory for pages that it starts with.
    pub const MIN_MEMORY: u64 = 6 << 20;

    /// As [`MariaDb::start`], with a binary log of rows.
    ///
    /// # Panics
    /// If it does not start.
    pub fn logged() -> Option<Self> {
        Self::with(2, &["--log-bin=log", "--binlog-format=ROW", "--server-id=1"], None)
    }

    /// As [`MariaDb::start`], with TLS for those that ask for it.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_encrypted(files: &TlsFiles) -> Option<Self> {
        let mut options = vec![
            format!("--ssl-cert={}", files.certificate.display()),
            format!("--ssl-key={}", files.key.display()),
        ];
        options.extend(
            files.authority_of_clients.iter().map(|authority| format!("--ssl-ca={}", authority.display())),
        );
        Self::with(2, &options.iter().map(String::as_str).collect::<Vec<_>>(), None)
    }

    /// By a number of `innodb_flush_log_at_trx_commit`; data in a folder of its own in `place`, else beside its socket.
    fn with(when: u8, options: &[&str], place: Option<&Path>) -> Option<Self> {
        if !is_installed_in("mariadbd", &["/usr/sbin".into(), "/usr/bin".into()]) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for the server");
        let own = place.map(|place| folder_in(place, "lacuna-mariadb"));
        let data = own.as_ref().unwrap_or(&folder).path().join("data");
        // A server that starts deletes all temporary tables in its folder for them, also those of its neighbours.
        let temporary = folder.path().join("tmp");
        std::fs::create_dir(&temporary).expect("a folder for temporary tables");
        copy_or_make(Path::new(PROGRAM), &SETTINGS, &data, || initialise(&data, &temporary));
        std::fs::create_dir(data.join("test")).expect("a folder is a database");
        let port = free_port();
        let socket = folder.path().join("socket");
        let fixed = [
            "--no-defaults".to_owned(),
            "--user=root".to_owned(),
            format!("--datadir={}", data.display()),
            format!("--tmpdir={}", temporary.display()),
            format!("--socket={}", socket.display()),
            format!("--port={port}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--innodb-flush-log-at-trx-commit={when}"),
        ];
        let options = options.iter().map(|option| (*option).to_owned());
        let arguments: Vec<String> = fixed.into_iter().chain(options).collect();
        let process = Process::start(PROGRAM, &arguments, port);
        Some(Self { process, arguments, port, _folder: folder, _data: own })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}/test", self.port)
    }

    /// The port that it listens at.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Where it is by name, as certificates for `localhost` want it; the caller adds `?ssl-mode=...`.
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
        self.process = Process::start(PROGRAM, &self.arguments, self.port);
    }
}

fn initialise(data: &Path, temporary: &Path) {
    let init = Command::new("mariadb-install-db")
        .args(SETTINGS)
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--tmpdir={}", temporary.display()))
        .stdin(Stdio::null())
        .output()
        .expect("mariadb-install-db runs");
    assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
}
