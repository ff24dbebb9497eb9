//! Real Cassandra nodes, which a script of the checkout starts, measures and takes down.
//!
//! The nodes are Cassandra's own jars with the plug-in beside them; Maven fetches the ones and packs the other. So this needs
//! the checkout, a JDK and Maven.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use lacuna_base::Error;

use lacuna_cli::{Failure, Result};

/// The script, in the checkout.
const SCRIPT: &str = "nodes/cassandra/bench";

/// Runs the script with these arguments; what it prints is passed through.
///
/// # Errors
/// `InvalidInput` with advice outside of a checkout, or without the JDK or Maven; the script's own failure.
pub(super) fn bench(arguments: &[&OsStr]) -> Result<()> {
    let script = script()?;
    for tool in ["java", "mvn"] {
        if !is_in_path(tool) {
            return Err(Failure::BadInput(Error::invalid_input(format!(
                "a cluster needs a JDK 17 and Maven, and `{tool}` is not in the path; install both, on Debian and Ubuntu by \
                 `.ci/java mvn --version` in the checkout"
            ))));
        }
    }
    let status = Command::new(&script).args(arguments).status().map_err(|error| {
        Error::unavailable(format!("{} cannot be run: {error}", script.display())).with_source(error)
    })?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Exit(u8::try_from(code).unwrap_or(u8::MAX))),
        None => Err(Failure::BadInput(Error::unavailable(format!("`{SCRIPT}` was ended: {status}")))),
    }
}

/// The script of the checkout that holds the current folder.
fn script() -> Result<PathBuf> {
    let here = env::current_dir().map_err(|error| {
        Error::unavailable(format!("the current folder cannot be found: {error}")).with_source(error)
    })?;
    here.ancestors().map(|folder| folder.join(SCRIPT)).find(|script| script.is_file()).ok_or_else(|| {
        Failure::BadInput(Error::invalid_input(format!(
            "a cluster needs `{SCRIPT}`, which neither this folder nor one above has; run this in a checkout of Lacuna"
        )))
    })
}

fn is_in_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
