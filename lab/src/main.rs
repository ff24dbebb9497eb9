//! `lacuna-lab`: papers, bars and costs, measured in the checkout.

use std::process::ExitCode;

/// Results are made by one thread and dropped by another, which makes threads of the system's allocator wait for each other.
#[cfg(feature = "cache")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    lacuna_lab::run()
}
