//! A server as a process.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it listens, on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);
/// How often a server that ends before it listens is started: the former user of its port or files may be about to end.
const STARTS: u32 = 5;
/// How long one may take to end when asked to, before it is killed.
const QUITTING: Duration = Duration::from_secs(10);

/// The signal at which a server ends at once and leaves nothing in the machine's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LastSignal {
    /// For those that keep nothing there.
    Kill,
    /// For PostgreSQL, which gives back its shared memory.
    Quit,
}

impl LastSignal {
    const fn name(self) -> &'static str {
        match self {
            Self::Kill => "KILL",
            Self::Quit => "QUIT",
        }
    }
}

/// A running server; gets its last signal when dropped, and when the thread that started it ends.
#[derive(Debug)]
pub struct Process {
    child: Child,
    last: LastSignal,
}

impl Process {
    /// Starts `program`, and waits until something listens at `port` of this machine.
    ///
    /// # Panics
    /// If it cannot be started or does not listen in time.
    pub(crate) fn start(program: &str, arguments: &[String], port: u16) -> Self {
        Self::start_as(None, LastSignal::Kill, program, arguments, port)
    }

    /// A command as `user`, which gets its last signal when the thread that starts it ends.
    pub(crate) fn command(user: Option<&str>, last: LastSignal, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", last.name()]);
        if let Some(user) = user {
            command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
        }
        command.args(["--", program]);
        command
    }

    /// As [`Process::start`], as `user`.
    pub(crate) fn start_as(
        user: Option<&str>,
        last: LastSignal,
        program: &str,
        arguments: &[String],
        port: u16,
    ) -> Self {
        let mut process = Self::spawn(user, last, program, arguments);
        let (start, mut starts) = (Instant::now(), 1);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < PATIENCE, "{program} does not listen at {port}");
            std::thread::sleep(Duration::from_millis(5));
            if let Some(ended) = process.child.try_wait().expect("it is our child") {
                assert!(starts < STARTS, "{program} ended before it listened: {ended:?}");
                std::thread::sleep(Duration::from_millis(200));
                (process, starts) = (Self::spawn(user, last, program, arguments), starts + 1);
            }
        }
        process
    }

    fn spawn(user: Option<&str>, last: LastSignal, program: &str, arguments: &[String]) -> Self {
        let mut command = Self::command(user, last, program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { child: command.spawn().expect("setpriv of util-linux starts servers"), last }
    }

    /// Kills it, as a power failure would.
    pub(crate) fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Pauses it, as on a machine that is overloaded.
    pub(crate) fn pause(&self) {
        self.signal("STOP");
    }

    /// Resumes it.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let done = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(done.is_ok_and(|status| status.success()), "a child takes signals");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.last, LastSignal::Quit) && matches!(self.child.try_wait(), Ok(None)) {
            self.signal(self.last.name());
            let start = Instant::now();
            while matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < QUITTING {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        self.kill();
    }
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
