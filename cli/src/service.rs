//! What commands share that run until a signal: where events go, what they print, and when they end.

use std::future::Future;
use std::io::Write as _;

use lacuna_base::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

/// The variable with the level, or with levels of modules: `info`, `warn,lacuna_cache=debug`.
const LEVEL: &str = "LACUNA_LOG";

/// Sends events to standard error, a line each, at the level that `LACUNA_LOG` names.
///
/// # Errors
/// `InvalidInput` if the variable holds no level.
pub(crate) fn start_log() -> Result<()> {
    let targets = match std::env::var(LEVEL) {
        Ok(text) => text.parse::<Targets>().map_err(|why| {
            Error::invalid_input(format!(
                "{LEVEL}={text} is no level: give error, warn, info, debug or trace ({why})"
            ))
        })?,
        Err(_) => Targets::new().with_default(LevelFilter::WARN),
    };
    let lines = fmt::layer().with_writer(std::io::stderr);
    registry().with(lines).with(targets).init();
    Ok(())
}

/// Resolves at SIGTERM or Ctrl-C.
///
/// # Errors
/// `Unavailable` if the system does not hand signals over.
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// SIGHUP, by which an operator asks for files to be read anew.
///
/// # Errors
/// `Unavailable` if the system does not hand signals over.
#[cfg(feature = "proxy")]
pub(crate) fn reload_signal() -> Result<Signal> {
    listen(SignalKind::hangup())
}

fn listen(kind: SignalKind) -> Result<Signal> {
    signal(kind).map_err(|error| Error::unavailable(error.to_string()))
}

/// Prints one line for the parent program, which may not read it.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}
