//! Where events go: a line each on standard error, at the level that `LACUNA_LOG` names.

use lacuna_cache_protocol::{Error, Result};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

/// The variable with the level, or with levels of modules: `info`, `warn,lacuna_cache=debug`.
const LEVEL: &str = "LACUNA_LOG";

/// # Errors
/// `InvalidInput` if the variable holds no level.
pub(super) fn start() -> Result<()> {
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
