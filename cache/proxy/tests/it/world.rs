//! A PostgreSQL server with a proxy before it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lacuna_proxy::{Options, Proxy, Upstream};
use lacuna_testkit::servers::Postgres;
use tokio::runtime::Runtime;

/// The server, the proxy, and the threads that run the proxy.
pub(crate) struct World {
    pub(crate) postgres: Postgres,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) runtime: Runtime,
}

impl World {
    /// With the proxy's defaults; `None` if PostgreSQL is not installed and need not be.
    pub(crate) fn start() -> Option<Self> {
        Self::with(Postgres::start()?, |options| options)
    }

    pub(crate) fn with(postgres: Postgres, change: impl FnOnce(Options) -> Options) -> Option<Self> {
        let upstream = postgres.url().parse().unwrap();
        Self::before(postgres, upstream, change)
    }

    pub(crate) fn before(
        postgres: Postgres,
        upstream: Upstream,
        change: impl FnOnce(Options) -> Options,
    ) -> Option<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let proxy = runtime.block_on(change(Options::new(upstream)).start()).unwrap();
        let world = Self { postgres, proxy: Some(proxy), runtime };
        world.wait_for_server();
        Some(world)
    }

    /// A server listens before it takes sessions.
    pub(crate) fn wait_for_server(&self) {
        eventually("the server takes sessions", || psql(&self.direct(), &["-c", "SELECT 1"]).is_success);
    }

    pub(crate) fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("it was not stopped")
    }

    /// Where the proxy is.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.proxy().address().port())
    }

    /// Where the server is.
    pub(crate) fn direct(&self) -> String {
        self.postgres.url()
    }

    /// Runs SQL at the server, past the proxy.
    pub(crate) fn admin(&self, sql: &str) -> String {
        psql(&self.direct(), &["-c", sql]).expect_success()
    }

    /// Which logins the server takes from now on, as lines of `pg_hba.conf`.
    pub(crate) fn set_logins(&self, lines: &str) {
        let file = self.admin("SHOW hba_file");
        let lines: Vec<String> = lines.lines().map(|line| format!("('{line}')")).collect();
        self.admin(&format!("COPY (VALUES {}) TO '{}'", lines.join(", "), file.trim()));
        let loaded = || self.admin("SELECT pg_conf_load_time()");
        let before = loaded();
        self.admin("SELECT pg_reload_conf()");
        eventually("the main process of the server has read the file", || loaded() != before);
    }
}

/// What a program has said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) is_success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    pub(crate) fn expect_success(self) -> String {
        assert!(self.is_success, "{self:?}");
        self.stdout
    }
}

pub(crate) fn psql(url: &str, arguments: &[&str]) -> Said {
    let fixed = ["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", url];
    run("psql", &[&fixed[..], arguments].concat(), &[], "")
}

/// As [`psql`], with a script as its input.
pub(crate) fn psql_script(url: &str, script: &str) -> Said {
    run("psql", &["-X", "-A", url], &[], script)
}

pub(crate) fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Said {
    use std::io::Write as _;
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().copied());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Said {
        is_success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Waits until `holds`.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
