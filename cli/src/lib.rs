//! `lacuna`: build, ask, look into, prove and compare range filters from the command line.
//!
//! | file | idea |
//! | --- | --- |
//! | `commands/` | one file for each command: its arguments, its help, what it does |
//! | `checks/` | the proofs that `verify` makes: no key is denied, the stated rate is kept |
//! | `demo/` | `lacuna demo`: a store with and without guards |
//! | `arguments.rs`, `asked_type.rs` | arguments that several commands share |
//! | `filter_file.rs`, `pending_file.rs` | reading a filter, and writing one whole or not at all |
//! | `report_folder.rs` | writing a report without the loss of another file |
//! | `key_text.rs` | keys that a filter names, as they are typed |
//! | `secret_file.rs` | the secret for hashes, from a file |
//! | `dendrite/` | `lacuna cache dendrite`: a process that owns ranges (feature `cache`) |
//! | `top/` | `lacuna cache top`: what dendrites do now (feature `cache`) |
//! | `proxy/` | `lacuna proxy`: a relay before PostgreSQL (feature `proxy`) |
//! | `monitoring.rs`, `http_get.rs`, `config_file.rs` | metrics over HTTP, asking for them, and options from a file |
//! | `terminal.rs` | text that is drawn again and again on a terminal |
//! | `service.rs` | what commands share that run until a signal |
//! | `features.rs` | what this binary was built without, and how to build it |
//! | `output.rs`, `progress.rs`, `errors.rs` | what goes to standard output, to a terminal, to standard error |
//! | `interrupt.rs`, `work_folder.rs` | Ctrl-C and other signals, a full disk: what a command has begun is removed |
//!
//! A command returns `errors::Result`; this file turns it into an exit code: 0 done, 1 something does not hold,
//! 2 bad input.
//!
//! The feature `rocksdb` adds RocksDB to `bench engine` and takes a compiler for C++; the feature `cache` adds `cache
//! dendrite`, with its drivers of databases, and `cache top`; `proxy` adds the command of that name; `csv` and `parquet` read keys from
//! columns; `terminal`, which is on by default, adds completions, manual pages and suggestions. Without them the commands are
//! listed all the same, and say how to build them.
//!
//! Output, progress and errors are a library, because another command line of this workspace shares them.

#![warn(missing_docs)]

mod arguments;
mod asked_type;
mod checks;
mod commands;
#[cfg(any(feature = "cache", feature = "proxy"))]
mod config_file;
mod demo;
#[cfg(feature = "cache")]
mod dendrite;
mod errors;
#[cfg(not(all(feature = "rocksdb", feature = "cache", feature = "proxy", feature = "terminal")))]
mod features;
mod filter_file;
#[cfg(any(feature = "cache", feature = "proxy"))]
mod http_get;
mod interrupt;
mod key_text;
#[cfg(any(feature = "cache", feature = "proxy"))]
mod monitoring;
mod output;
mod pending_file;
mod progress;
#[cfg(feature = "proxy")]
mod proxy;
mod report_folder;
mod secret_file;
#[cfg(any(feature = "cache", feature = "proxy"))]
mod service;
#[cfg(any(feature = "cache", feature = "proxy"))]
mod terminal;
#[cfg(feature = "cache")]
mod top;
mod work_folder;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;

pub use errors::{Failure, Result};
pub use interrupt::{BeforeEnd, before_end, on_interrupt};
pub use output::{Output, with_commas};
pub use pending_file::PendingFile;
pub use progress::Progress;

/// Runs the command line of this process; gives its exit code.
pub fn run() -> ExitCode {
    run_parsed(|cli: Cli| cli.run())
}

/// Parses the arguments of this process and runs `command` with them; gives the exit code.
pub fn run_parsed<C: Parser>(command: impl FnOnce(C) -> Result<()>) -> ExitCode {
    match C::try_parse() {
        Ok(parsed) => {
            let done = command(parsed);
            interrupt::wait_if_ending();
            errors::exit_code(done)
        }
        Err(error) => errors::usage_exit_code(&error),
    }
}
