//! `lacuna`: build, ask, look into, prove and compare range filters from the command line.

use std::process::ExitCode;

use lacuna_cli::Extras;

fn main() -> ExitCode {
    lacuna_cli::run(&Extras::NONE)
}
