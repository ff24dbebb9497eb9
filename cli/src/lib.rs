//! `lacuna`: build, ask, look into, prove and compare range filters from the command line.
//!
//! | file | idea |
//! | --- | --- |
//! | `commands/` | one file for each command: its arguments, its help, what it does |
//! | `checks/` | the proofs behind `verify`: no key is denied, the stated rate is kept |
//! | `demo/` | `lacuna demo`: a store with and without guards |
//! | `arguments.rs` | arguments that several commands share |
//! | `filter_file.rs`, `pending_file.rs` | reading a filter, and writing one so that no half of it ever stands there |
//! | `extras.rs` | what a heavier binary adds to the same command line |
//! | `sibling.rs` | handing a command over to such a binary |
//! | `output.rs`, `progress.rs`, `errors.rs` | what goes to standard output, to a terminal, to standard error |
//!
//! A command returns `errors::Result`; this file turns it into an exit code: 0 done, 1 something does not hold,
//! 2 bad input.
//!
//! This is a library, so that a binary which links more (RocksDB and its compiler for C++) is the same command line with
//! an engine and a paper added: see [`Extras`]. Commands of such a binary end as all do, with [`Failure`].

#![warn(missing_docs)]

mod arguments;
mod checks;
mod cluster;
mod commands;
mod demo;
mod errors;
mod extras;
mod filter_file;
mod output;
mod pending_file;
mod progress;
mod sibling;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;

pub use errors::{Failure, Result};
pub use extras::{Commands, Extras};
pub use output::{Output, with_commas};
pub use progress::Progress;

/// Runs the command line of this process, with `extras` beside what is always there; gives its exit code.
pub fn run(extras: &Extras) -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => errors::exit_code(cli.run(extras)),
        Err(error) => errors::usage_exit_code(&error),
    }
}
