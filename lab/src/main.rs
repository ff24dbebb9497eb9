//! `lacuna-lab`: papers, bars and costs, measured in the checkout.

use std::process::ExitCode;

fn main() -> ExitCode {
    lacuna_lab::run()
}
