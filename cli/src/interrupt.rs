//! Ctrl-C.

use std::io;
use std::thread;

use tokio::runtime::Builder;

#[cfg(unix)]
fn interrupts() -> io::Result<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::interrupt())
}

#[cfg(windows)]
fn interrupts() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

/// From the return on, Ctrl-C does not end the process and calls `handler` instead, in a thread of its own.
///
/// # Errors
/// The error of the operating system if it gives no thread or no way to receive the signal.
pub fn on_interrupt(mut handler: impl FnMut() + Send + 'static) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut interrupts = {
        let _entered = runtime.enter();
        interrupts()?
    };
    let watch = move || {
        runtime.block_on(async {
            while interrupts.recv().await.is_some() {
                handler();
            }
        });
    };
    thread::Builder::new().name("interrupt".to_owned()).spawn(watch).map(drop)
}
