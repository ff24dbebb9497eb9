//! Ctrl-C, SIGTERM and SIGHUP: one handler for all commands, which removes what a command has begun.
//!
//! A command says what is to be removed ([`before_end`]); a command that can end early with what it has says so
//! ([`StopFlag`]). The first signal sets the flag, if there is one; otherwise, and at the second, everything is removed
//! and the process ends with 130, 143 or 129, the codes that a shell shows for these signals. SIGHUP comes when a terminal is
//! closed; a process that was started to ignore it, as `nohup` does, goes on.

use std::io::{self, IsTerminal as _, Write as _};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::errors::complain;

/// Exit code after Ctrl-C: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
/// How often a command that waits for a signal looks.
const LOOK: Duration = Duration::from_millis(50);
/// How long a command may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);
/// Exit code after SIGTERM.
const TERMINATED: u8 = 143;
/// Exit code after SIGHUP.
const HUNG_UP: u8 = 129;

/// What is to be done before the process ends.
static ENDING: Mutex<Ending> = Mutex::new(Ending { actions: Vec::new(), next: 0, stop: None });
/// The exit code of the signal that asked a command to stop; 0 if none did.
static STOP: AtomicU8 = AtomicU8::new(0);
/// Whether a handler of the command takes signals in place of this module's.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

struct Ending {
    actions: Vec<(u64, Box<dyn FnMut() + Send>)>,
    next: u64,
    /// How the command ends that looks at [`STOP`], if it does.
    stop: Option<Stop>,
}

/// How a command ends that is asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// As if it were ended at once, after its threads.
    Quietly,
    /// With what it has.
    WithResults,
}

/// From the return on, Ctrl-C, SIGTERM and SIGHUP do what this module says. Without a thread or a way to receive them they end
/// the process at once, as they do in any program.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| drop(receive(signalled)));
}

/// Does `action` if the process is ended by a signal before the result is dropped.
pub fn before_end(action: impl FnMut() + Send + 'static) -> BeforeEnd {
    watch();
    let mut ending = lock();
    ending.next += 1;
    let number = ending.next;
    ending.actions.push((number, Box::new(action)));
    BeforeEnd { number }
}

/// An action that is to be done; see [`before_end`]. Dropping it makes the action needless.
#[derive(Debug)]
pub struct BeforeEnd {
    number: u64,
}

impl BeforeEnd {
    /// Makes the action needless by `work`, during which the process is not ended.
    pub(crate) fn settle<T>(self, work: impl FnOnce() -> T) -> T {
        let mut ending = lock();
        let done = work();
        ending.actions.retain(|(number, _)| *number != self.number);
        done
    }
}

impl Drop for BeforeEnd {
    fn drop(&mut self) {
        // A handler at work keeps the lock to the end of the process.
        if let Ok(mut ending) = ENDING.try_lock() {
            ending.actions.retain(|(number, _)| *number != self.number);
        }
    }
}

/// The command ends with what it has soon after [`is_set`](Self::is_set) says so.
#[derive(Debug)]
pub(crate) struct StopFlag;

impl StopFlag {
    /// For a command that prints what it has.
    pub(crate) fn with_results() -> Self {
        Self::set_up(Stop::WithResults)
    }

    /// For a command whose threads write files until they are ended.
    pub(crate) fn quiet() -> Self {
        Self::set_up(Stop::Quietly)
    }

    fn set_up(stop: Stop) -> Self {
        watch();
        lock().stop = Some(stop);
        Self
    }

    /// Waits for a signal; gives its exit code.
    pub(crate) async fn wait(&self) -> u8 {
        loop {
            if let Some(exit_code) = self.exit_code() {
                return exit_code;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Whether a signal came.
    pub(crate) fn is_set(&self) -> bool {
        self.exit_code().is_some()
    }

    /// The exit code of the signal that came.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        Some(STOP.load(Ordering::SeqCst)).filter(|&code| code != 0)
    }
}

impl Drop for StopFlag {
    fn drop(&mut self) {
        lock().stop = None;
    }
}

/// Removes what is begun, says `sentence` and ends the process: for a thread that sees that the command cannot go on.
pub(crate) fn end_with(sentence: &str, exit_code: u8) -> ! {
    // Kept to the end of the process: nothing is begun or settled from here on.
    let mut ending = lock();
    for (_, mut action) in ending.actions.drain(..).rev() {
        action();
    }
    clear_line();
    complain(sentence);
    process::exit(exit_code.into());
}

/// Does not return once the process is being ended: a command whose files are removed at this moment fails for that
/// reason alone, and the signal is what there is to report.
pub(crate) fn wait_if_ending() {
    drop(lock());
}

/// Asks the command to end with `sentence` and this exit code; ends it if it does not.
pub(crate) fn end_soon(sentence: &str, exit_code: u8) {
    let is_asked = lock().stop == Some(Stop::Quietly) && ask(sentence, exit_code);
    if is_asked {
        thread::sleep(GRACE);
    }
    end_with(sentence, exit_code);
}

fn signalled(exit_code: u8) {
    if IS_TAKEN.load(Ordering::SeqCst) {
        return;
    }
    let sentence = sentence_of(exit_code);
    let stop = lock().stop;
    let is_asked = match stop {
        None => false,
        Some(Stop::Quietly) => ask(sentence, exit_code),
        Some(Stop::WithResults) => ask("ending with what is done; once more ends at once", exit_code),
    };
    if !is_asked {
        end_with(sentence, exit_code);
    }
}

fn sentence_of(exit_code: u8) -> &'static str {
    match exit_code {
        TERMINATED => "terminated",
        HUNG_UP => "ended with its terminal",
        _ => "interrupted",
    }
}

/// Asks the command to stop; `false` if it was asked before.
fn ask(sentence: &str, exit_code: u8) -> bool {
    let is_first = STOP.swap(exit_code, Ordering::SeqCst) == 0;
    if is_first {
        clear_line();
        complain(sentence);
    }
    is_first
}

/// Takes a progress bar off a terminal.
fn clear_line() {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // A terminal that has gone cannot be cleared.
        let _ = write!(stderr, "\r\x1b[2K");
    }
}

fn lock() -> MutexGuard<'static, Ending> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From the return on, Ctrl-C does not end the process and calls `handler` instead, in a thread of its own.
///
/// # Errors
/// The error of the operating system if it gives no thread or no way to receive the signal.
pub fn on_interrupt(mut handler: impl FnMut() + Send + 'static) -> io::Result<()> {
    IS_TAKEN.store(true, Ordering::SeqCst);
    receive(move |exit_code| {
        if exit_code == INTERRUPTED {
            handler();
        } else {
            end_with(sentence_of(exit_code), exit_code);
        }
    })
}

/// Calls `handler` with the exit code of each signal, in a thread of its own.
fn receive(mut handler: impl FnMut(u8) + Send + 'static) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    let watch = move || {
        runtime.block_on(async {
            while let Some(exit_code) = signals.next().await {
                handler(exit_code);
            }
        });
    };
    thread::Builder::new().name("signals".to_owned()).spawn(watch).map(drop)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` if the process ignores it.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = (!is_hang_up_ignored()).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up,
        })
    }

    async fn next(&mut self) -> Option<u8> {
        tokio::select! {
            came = self.interrupt.recv() => came.map(|()| INTERRUPTED),
            came = self.terminate.recv() => came.map(|()| TERMINATED),
            Some(()) = received(&mut self.hang_up) => Some(HUNG_UP),
        }
    }
}

/// Waits for the signal; without one for ever.
#[cfg(unix)]
async fn received(signal: &mut Option<tokio::signal::unix::Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// Whether this process was started to ignore SIGHUP. Where the system does not say, it is left as it is.
#[cfg(unix)]
fn is_hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The lowest bit is that of signal 1.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

#[cfg(windows)]
struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    async fn next(&mut self) -> Option<u8> {
        self.interrupt.recv().await.map(|()| INTERRUPTED)
    }
}
