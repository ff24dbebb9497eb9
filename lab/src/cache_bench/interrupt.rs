//! Ctrl-C: the run ends, and its servers with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lacuna_base::{Error, Result};

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// How often a run looks.
const LOOK: Duration = Duration::from_millis(50);
/// The exit code of a program that was interrupted.
pub(crate) const EXIT_CODE: u8 = 130;

/// From now on, Ctrl-C is noted here. A second one ends the process at once; the kernel then ends the servers.
///
/// # Errors
/// `Unavailable` if it cannot be watched for.
pub(crate) fn watch() -> Result<()> {
    let handler = lacuna_cli::on_interrupt(|| {
        if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(EXIT_CODE.into());
        }
    });
    handler.map_err(|error| Error::unavailable(format!("Ctrl-C cannot be watched for: {error}")))
}

/// Whether it was pressed.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::SeqCst)
}

/// # Errors
/// `Unavailable` once it was pressed.
pub(crate) fn check() -> Result<()> {
    if is_interrupted() { Err(interrupted()) } else { Ok(()) }
}

/// Waits until it is pressed.
pub(crate) async fn wait() -> Error {
    while !is_interrupted() {
        tokio::time::sleep(LOOK).await;
    }
    interrupted()
}

fn interrupted() -> Error {
    Error::unavailable("interrupted")
}
