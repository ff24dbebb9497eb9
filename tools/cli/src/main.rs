//! `lacuna`: build, ask, look into, prove and compare range filters from the command line.
//!
//! | file | idea |
//! | --- | --- |
//! | `commands/` | one file for each command: its arguments, its help, what it does |
//! | `checks/` | the proofs behind `verify`: no key is denied, the stated rate is kept |
//! | `demo/` | `lacuna demo`: a store with and without guards |
//! | `arguments.rs` | arguments that several commands share |
//! | `filter_file.rs`, `pending_file.rs` | reading a filter, and writing one so that no half of it ever stands there |
//! | `output.rs`, `progress.rs`, `errors.rs` | what goes to standard output, to a terminal, to standard error |
//!
//! A command returns [`errors::Result`]; this file turns it into an exit code: 0 done, 1 something does not hold,
//! 2 bad input.

mod arguments;
mod checks;
mod commands;
mod demo;
mod errors;
mod filter_file;
mod output;
mod pending_file;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => errors::exit_code(cli.run()),
        Err(error) => errors::usage_exit_code(&error),
    }
}
