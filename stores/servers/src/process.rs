//! A server as a process.

use std::net::{TcpListener, TcpStream};
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
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--", program]).args(arguments);
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
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    let is_required = std::env::var("LACUNA_REQUIRE").is_ok_and(|required| required == "all");
    assert!(found || !is_required, "{program} is not installed, and LACUNA_REQUIRE=all");
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}
