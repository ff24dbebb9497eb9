//! `lacuna`: build, ask, look into, prove and compare range filters from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    lacuna_cli::run()
}
