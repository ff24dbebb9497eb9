//! A proxy with a cache before a real PostgreSQL, as a process with its monitoring.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lacuna_testkit::servers::Postgres;

/// A proxy as a process that listens.
pub(crate) struct Listening {
    child: Child,
    out: BufReader<ChildStdout>,
    /// Host and port.
    address: String,
}

impl Listening {
    /// The proxy at a free port of this machine, with these arguments.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::of(Command::new(crate::BINARY).args(["proxy", "--listen", "127.0.0.1:0"]).args(arguments))
    }

    /// The proxy that this command runs.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut listening = Self { child, out, address: String::new() };
        listening.address = listening.after("listening at ");
        listening
    }

    /// The rest of the next line that it prints.
    pub(crate) fn after(&mut self, prefix: &str) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim().strip_prefix(prefix).unwrap_or_else(|| panic!("{prefix}: {line}")).to_owned()
    }

    /// Where a role connects to.
    pub(crate) fn url(&self, role: &str) -> String {
        format!("postgres://{role}@{}/postgres", self.address)
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Ends the proxy, and returns what it has printed.
    pub(crate) fn stop(mut self) -> String {
        self.signal("-TERM");
        let mut report = String::new();
        self.out.read_to_string(&mut report).unwrap();
        assert!(self.child.wait().unwrap().success());
        report
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A proxy whose cache is open, with its monitoring.
pub(crate) struct Served {
    _postgres: Postgres,
    pub(crate) listening: Listening,
    /// Where monitoring is answered.
    pub(crate) monitoring: String,
}

impl Served {
    /// A server that has run `sql`, and a proxy before it; `None` if PostgreSQL is not installed and need not be.
    pub(crate) fn start(arguments: &[&str], sql: &str, columns: &str) -> Option<Self> {
        Self::start_at(arguments, sql, columns, "0")
    }

    /// The same with monitoring at this address.
    pub(crate) fn start_at(arguments: &[&str], sql: &str, columns: &str, metrics: &str) -> Option<Self> {
        let postgres = Postgres::start()?;
        takes_sessions(&postgres, sql);
        let url = postgres.url();
        let fixed = ["--metrics", metrics, "--writes", "rights", "--writers", "postgres"];
        let register = if columns.is_empty() { vec![] } else { vec!["--register", columns] };
        let database = ["--upstream", &url, "--account", &url];
        let listening = Listening::start(&[&fixed[..], &database, &register, arguments].concat());
        Some(Self::of(postgres, listening))
    }

    /// A proxy before `postgres` that says where its monitoring is.
    pub(crate) fn of(postgres: Postgres, mut listening: Listening) -> Self {
        let monitoring = listening.after("metrics at http://").strip_suffix("/metrics").unwrap().to_owned();
        let served = Self { _postgres: postgres, listening, monitoring };
        served.opens();
        served
    }

    /// Waits until the cache is open.
    pub(crate) fn opens(&self) {
        eventually("the cache is open", || !self.get("/healthz").contains("shows nothing"));
    }

    /// Runs statements in one session through the proxy.
    pub(crate) fn psql(&self, statements: &[&str]) {
        assert!(psql(&self.listening.url("postgres"), statements), "{statements:?}");
    }

    /// The answer to a request that names no host.
    pub(crate) fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.0\r\n\r\n"))
    }

    pub(crate) fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.monitoring).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// A counter of the metrics, as it is now.
    pub(crate) fn counter(&self, name: &str) -> u64 {
        let (metrics, prefix) = (self.get("/metrics"), format!("lacuna_proxy_{name}_total "));
        metrics.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap().parse().unwrap()
    }

    /// The data of the page, which may be a second old.
    pub(crate) fn status(&self) -> serde_json::Value {
        let answer = self.get("/status.json");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Ends the proxy, and returns what it has printed.
    pub(crate) fn stop(self) -> String {
        self.listening.stop()
    }
}

/// Waits until a server takes sessions and has run `sql`: it listens before it does.
pub(crate) fn takes_sessions(postgres: &Postgres, sql: &str) {
    eventually("the server takes sessions", || psql(&postgres.url(), &[sql]));
}

/// Whether all statements succeed in one session.
pub(crate) fn psql(url: &str, statements: &[&str]) -> bool {
    let statements = statements.iter().flat_map(|statement| ["-c", statement]);
    let fixed = ["-X", "-q", "-v", "ON_ERROR_STOP=1", url];
    Command::new("psql").args(fixed).args(statements).output().unwrap().status.success()
}

pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
