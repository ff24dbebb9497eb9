//! `lacuna-cache`: the command line of `lacuna` with the range cache. `lacuna` runs it where its servers are needed.

use std::process::ExitCode;

fn main() -> ExitCode {
    lacuna_cli::run(&lacuna_cache_tool::EXTRAS)
}
