//! A server as a process.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts `program`, and waits until something listens at `port` of this machine.
    ///
    /// # Panics
    /// If it cannot be started or does not listen in time.
    pub fn start(program: &str, arguments: &[String], port: u16) -> Self {
        Self::start_as(None, program, arguments, port)
    }

    /// A command as `user`, which ends with the thread that starts it.
    pub(crate) fn command(user: Option<&str>, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if let Some(user) = user {
            command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
        }
        command.args(["--", program]);
        command
    }

    /// As [`Process::start`], as `user`.
    pub(crate) fn start_as(user: Option<&str>, program: &str, arguments: &[String], port: u16) -> Self {
        let mut command = Self::command(user, program);
        command.args(arguments);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut process = Self { child: child.expect("setpriv of util-linux starts servers") };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = process.child.try_wait().expect("it is our child");
            assert!(ended.is_none(), "{program} ended before it listened: {ended:?}");
            assert!(start.elapsed() < PATIENCE, "{program} does not listen at {port}");
            std::thread::sleep(Duration::from_millis(5));
        }
        process
    }

    /// Kills it, as a power failure would.
    pub fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Stops it in its tracks, as a machine does that is out of breath.
    pub fn pause(&self) {
        self.signal("STOP");
    }

    /// It goes on as if nothing had been.
    pub fn resume(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let done = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(done.is_ok_and(|status| status.success()), "a child takes signals");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that nobody listened at a moment ago.
///
/// # Panics
/// If there is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
    listener.local_addr().expect("it is bound").port()
}

/// Whether `program` is there.
///
/// # Panics
/// If it is not, and `LACUNA_REQUIRE=all`.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    is_installed_in(program, &std::env::split_paths(&path).collect::<Vec<_>>())
}

/// Whether `program` is in one of `folders`.
pub(crate) fn is_installed_in(program: &str, folders: &[PathBuf]) -> bool {
    let found = folders.iter().any(|folder| folder.join(program).is_file());
    let is_required = std::env::var("LACUNA_REQUIRE").is_ok_and(|required| required == "all");
    assert!(found || !is_required, "{program} is not installed, and LACUNA_REQUIRE=all");
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}
