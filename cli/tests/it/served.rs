//! A proxy with a cache before a real PostgreSQL, as a process with its monitoring.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lacuna_testkit::servers::Postgres;

pub(crate) struct Served {
    _postgres: Postgres,
    child: Child,
    out: BufReader<ChildStdout>,
    /// Where clients connect to.
    pub(crate) url: String,
    /// Where monitoring is answered.
    pub(crate) monitoring: String,
}

impl Served {
    /// A server that has run `sql`, and a proxy whose cache is open; `None` if PostgreSQL is not installed and need not be.
    pub(crate) fn start(arguments: &[&str], sql: &str, columns: &str) -> Option<Self> {
        Self::start_at(arguments, sql, columns, "0")
    }

    /// The same with monitoring at this address.
    pub(crate) fn start_at(arguments: &[&str], sql: &str, columns: &str, metrics: &str) -> Option<Self> {
        let postgres = Postgres::start()?;
        eventually("the server takes sessions", || psql(&postgres.url(), &[sql]));
        let register = if columns.is_empty() { vec![] } else { vec!["--register", columns] };
        let mut child = Command::new(crate::BINARY)
            .args(["proxy", "--listen", "127.0.0.1:0", "--metrics", metrics, "--writes", "rights"])
            .args(["--writers", "postgres", "--upstream", &postgres.url(), "--account", &postgres.url()])
            .args(register)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut after = |prefix: &str| {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            line.trim().strip_prefix(prefix).unwrap_or_else(|| panic!("{prefix}: {line}")).to_owned()
        };
        let address = after("listening at ");
        let monitoring = after("metrics at http://").strip_suffix("/metrics").unwrap().to_owned();
        let url = format!("postgres://postgres@{address}/postgres");
        let served = Self { _postgres: postgres, child, out, url, monitoring };
        served.opens();
        Some(served)
    }

    /// Waits until the cache is open.
    pub(crate) fn opens(&self) {
        eventually("the cache is open", || !self.get("/healthz").contains("shows nothing"));
    }

    /// Runs statements in one session through the proxy.
    pub(crate) fn psql(&self, statements: &[&str]) {
        assert!(psql(&self.url, statements), "{statements:?}");
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

    /// The data of the page.
    pub(crate) fn status(&self) -> serde_json::Value {
        let answer = self.get("/status.json");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Ends the proxy, and returns what it has printed.
    pub(crate) fn stop(mut self) -> String {
        self.signal();
        let mut report = String::new();
        self.out.read_to_string(&mut report).unwrap();
        assert!(self.child.wait().unwrap().success());
        report
    }

    pub(crate) fn signal(&self) {
        assert!(
            Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success()
        );
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn psql(url: &str, statements: &[&str]) -> bool {
    let statements = statements.iter().flat_map(|statement| ["-c", statement]);
    let mut command = Command::new("psql");
    command
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", url])
        .args(statements)
        .output()
        .unwrap()
        .status
        .success()
}

pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
