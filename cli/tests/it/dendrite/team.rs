//! Processes that own ranges, and the servers they stand before.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lacuna_cache::cluster::{Client, Secret};
use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;
use lacuna_testkit::servers::{Etcd, MariaDb, Postgres, Redis, free_port};

use crate::world::Dialect;

/// What a busy machine may take for what takes seconds.
pub(crate) const AT_MOST: Duration = Duration::from_secs(120);

const SECRET: &[u8] = b"what the dendrites of this test know";

/// How a dendrite ended, and what it had counted.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) counts: serde_json::Value,
}

/// A process that owns ranges; killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) port: u16,
    address: Option<String>,
}

impl Process {
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "{name} to a dendrite that is gone");
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it as an operator does.
    pub(crate) fn stop(&mut self) -> Ended {
        self.signal("TERM");
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < AT_MOST, "a dendrite does not stop");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut said = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let counts = said.lines().last().and_then(|line| serde_json::from_str(line).ok());
        Ended { code: status.code(), counts: counts.unwrap_or_default() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A database.
#[derive(Debug)]
pub(crate) enum Store {
    Postgres(Postgres),
    MariaDb(MariaDb),
}

impl Store {
    /// `None` if it is not installed and need not be.
    fn start(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::MariaDb => MariaDb::start().map(Self::MariaDb),
            _ => Postgres::start().map(Self::Postgres),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::MariaDb(server) => server.url(),
        }
    }

    pub(crate) fn kill(&mut self) {
        match self {
            Self::Postgres(server) => server.kill(),
            Self::MariaDb(server) => server.kill(),
        }
    }

    /// Starts it again, with what it acknowledged.
    pub(crate) fn restart(&mut self) {
        match self {
            Self::Postgres(server) => server.restart(),
            Self::MariaDb(server) => server.restart(),
        }
    }
}

/// A database, cache servers and logs, and how dendrites before them are started.
pub(crate) struct Team {
    pub(crate) store: Store,
    pub(crate) caches: Vec<Redis>,
    pub(crate) logs: Vec<Redis>,
    policy: Policy,
    /// Who leases ranges; the database if there is none.
    pub(crate) etcd: Option<Etcd>,
    /// Seconds, with etcd.
    lease_s: Option<u64>,
    /// What dendrites are started with: a table, its columns, its cuts.
    table: &'static [&'static str],
    folder: tempfile::TempDir,
}

/// The table of most tests.
const SLOTS: &[&str] =
    &["--table", "slots", "--key", "place", "--domain", "place:integer", "--cut", "12", "--cut", "28"];

/// Who leases ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leases {
    Database,
    Etcd,
}

impl Team {
    /// `None` if a server is not installed and need not be.
    pub(crate) fn new(policy: Policy, leases: Leases) -> Option<Self> {
        Self::with_lease(policy, leases, None)
    }

    /// With leases of so many seconds, where etcd gives them.
    pub(crate) fn with_lease(policy: Policy, leases: Leases, lease_s: Option<u64>) -> Option<Self> {
        Self::before(Dialect::Postgres, policy, leases, lease_s)
    }

    /// Before a database of this kind.
    pub(crate) fn before(
        dialect: Dialect,
        policy: Policy,
        leases: Leases,
        lease_s: Option<u64>,
    ) -> Option<Self> {
        let etcd = match leases {
            Leases::Database => None,
            Leases::Etcd => Some(Etcd::start(effort::short_or_long(1, 3))?),
        };
        let log_count = if policy == Policy::WriteBack { effort::short_or_long(2, 3) } else { 0 };
        let (store, folder) = (Store::start(dialect)?, tempfile::tempdir().unwrap());
        let caches = (0..2).map(|_| Redis::cache()).collect::<Option<Vec<Redis>>>()?;
        let logs = (0..log_count).map(|_| Redis::log()).collect::<Option<Vec<Redis>>>()?;
        std::fs::write(folder.path().join("secret"), SECRET).unwrap();
        Some(Self { store, caches, logs, policy, etcd, lease_s, table: SLOTS, folder })
    }

    /// With dendrites of another table, before any has started.
    pub(crate) const fn with_table(mut self, table: &'static [&'static str]) -> Self {
        self.table = table;
        self
    }

    /// With so many log servers, before any dendrite has started.
    pub(crate) fn with_logs(mut self, count: usize) -> Self {
        self.logs.extend((self.logs.len()..count).map(|_| Redis::log().expect("there is one already")));
        self
    }

    pub(crate) fn secret_file(&self) -> PathBuf {
        self.folder.path().join("secret")
    }

    pub(crate) fn command(&self, port: u16, address: Option<&str>) -> Command {
        self.command_for(self.table, port, address)
    }

    /// Dendrites of the tables in a file of settings, which says what is not said here.
    pub(crate) fn command_of_file(&self, tables: &str, port: u16) -> Command {
        let urls = |servers: &[Redis]| format!("{:?}", servers.iter().map(Redis::url).collect::<Vec<_>>());
        let text = format!(
            "listen = \"127.0.0.1:{port}\"\nmetrics = \"127.0.0.1:0\"\nsecret-file = {:?}\nstore = \"${{LACUNA_TEST_STORE}}\"\n\
             cache = {}\n{tables}",
            self.secret_file(),
            urls(&self.caches),
        );
        let file = self.folder.path().join(format!("{port}.toml"));
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new("setpriv");
        command.args([
            "--pdeathsig",
            "KILL",
            "--",
            env!("CARGO_BIN_EXE_lacuna"),
            "cache",
            "dendrite",
            "--config",
        ]);
        command.arg(file).env("LACUNA_TEST_STORE", self.store.url());
        command
    }

    /// The command of a dendrite of another table.
    pub(crate) fn command_for(&self, table: &[&str], port: u16, address: Option<&str>) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--", env!("CARGO_BIN_EXE_lacuna"), "cache", "dendrite"]);
        command.args(["--listen", &format!("127.0.0.1:{port}"), "--store", &self.store.url()]);
        command.args(table).arg("--secret-file").arg(self.secret_file());
        let policy = match self.policy {
            Policy::WriteAround => "around",
            Policy::WriteThrough => "through",
            Policy::WriteBack => "back",
        };
        command.args(["--policy", policy]);
        let named = |name: &str, url: String| [name.to_owned(), url];
        command.args(self.caches.iter().flat_map(|server| named("--cache", server.url())));
        command.args(self.logs.iter().flat_map(|server| named("--log", server.url())));
        command.args(self.etcd.iter().flat_map(|etcd| named("--coordinator", etcd.url())));
        let lease_s = self.lease_s.iter().map(u64::to_string);
        command.args(lease_s.flat_map(|seconds| named("--lease", seconds)));
        command.args(address.into_iter().flat_map(|address| named("--address", address.to_owned())));
        command
    }

    /// A dendrite that others reach at `address`, if not where it listens.
    pub(crate) fn start(&self, port: u16, address: Option<String>) -> Process {
        Process::start(self.command(port, address.as_deref()), port, address)
    }

    pub(crate) fn start_somewhere(&self) -> Process {
        self.start(free_port(), None)
    }

    /// The same once more, at the same place.
    pub(crate) fn start_again(&self, before: &Process) -> Process {
        self.start(before.port, before.address.clone())
    }

    pub(crate) async fn client(&self, addresses: &[String]) -> Client {
        self.client_of(self.table[1], addresses).await
    }

    pub(crate) async fn client_of(&self, table: &str, addresses: &[String]) -> Client {
        let begun = Instant::now();
        loop {
            match Client::connect(addresses, Secret::new(SECRET).unwrap(), table).await {
                Ok(client) => return client.with_patience(AT_MOST),
                Err(error) => assert!(begun.elapsed() < AT_MOST, "{error}"),
            }
        }
    }
}

impl Process {
    /// Waits until it listens. One that a server did not answer in time ends, and is started again, as operators have it.
    pub(crate) fn start(mut command: Command, port: u16, address: Option<String>) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let begun = Instant::now();
        loop {
            let mut child = command.spawn().unwrap();
            let mut first = String::new();
            BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
            if first.starts_with("listening at ") {
                return Self { child, port, address };
            }
            assert!(first.is_empty() && begun.elapsed() < AT_MOST, "{first:?}");
            child.wait().unwrap();
        }
    }

    /// The next line that it prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        BufReader::with_capacity(1, self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Bytes of memory that it occupies.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        1_024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    }

    pub(crate) fn address(&self) -> String {
        self.address.clone().unwrap_or_else(|| format!("127.0.0.1:{}", self.port))
    }
}
