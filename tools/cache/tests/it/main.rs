//! The range cache on the command line, as its users meet it.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod command;
mod interrupted;

use std::process::Output;

use assert_cmd::Command;

/// Runs the binary; `None` where its servers are not installed and need not be.
fn lacuna(line: &str) -> Option<Output> {
    if !lacuna_testkit::servers::is_installed("redis-server") {
        return None;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacuna-cache"));
    Some(command.args(line.split_whitespace()).output().unwrap())
}

/// What it printed, if it ended well.
fn done(line: &str) -> Option<String> {
    let run = lacuna(line)?;
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.code() == Some(0) && said.is_empty(), "{line}: {:?} {said}", run.status);
    Some(String::from_utf8(run.stdout).unwrap())
}
