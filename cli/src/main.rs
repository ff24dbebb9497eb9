//! `lacuna`: build, ask, look into, prove and compare range filters from the command line.

use std::process::ExitCode;

/// Results are made by one thread and dropped by another, which makes threads of the system's allocator wait for each other.
#[cfg(any(feature = "cache", feature = "proxy"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    lacuna_cli::run()
}
