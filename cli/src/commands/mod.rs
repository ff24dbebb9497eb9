//! The commands: one file each, with its arguments, its help and what it does.

mod bench;
mod build;
pub(crate) mod cache;
mod inspect;
mod manual;
pub(crate) mod proxy;
mod query;
mod verify;

use clap::{Parser, Subcommand};

use crate::demo::{self, DemoArgs};
use crate::errors::Result;
use crate::interrupt;

/// Range filters: can this sorted file hold a key in [LO, HI]? "no" is always true.
#[derive(Debug, Parser)]
#[command(name = "lacuna", version = env!("LACUNA_VERSION"), propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  lacuna build --keys uniform:100k --filter grafite --bits-per-key 14 \\
      --out uniform.lacuna
  lacuna query uniform.lacuna 1000 2000
  lacuna verify uniform.lacuna --keys uniform:100k

Exit codes: 0 done, 1 something does not hold, 2 bad input, 130 after
Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
`lacuna COMMAND --help` explains each command with examples.";

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::BuildArgs),
    Query(query::QueryArgs),
    Inspect(inspect::InspectArgs),
    Verify(verify::VerifyArgs),
    Bench(bench::BenchArgs),
    Demo(DemoArgs),
    Cache(cache::CacheArgs),
    Proxy(Box<proxy::ProxyArgs>),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<()> {
        if !matches!(self.command, Command::Cache(_) | Command::Proxy(_)) {
            // A dendrite and a proxy hear signals themselves: they have something to hand over.
            interrupt::watch();
        }
        match &self.command {
            Command::Build(args) => build::run(args),
            Command::Query(args) => query::run(args),
            Command::Inspect(args) => inspect::run(args),
            Command::Verify(args) => verify::run(args),
            Command::Bench(args) => bench::run(args),
            Command::Demo(args) => demo::run(args),
            Command::Cache(args) => cache::run(args),
            Command::Proxy(args) => proxy::run(args),
            Command::Completions(args) => manual::completions(args),
            Command::Man(args) => manual::man(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    /// A terminal of 80 columns breaks wider lines, and an example that ends with `\` before its end.
    #[test]
    fn lines_after_the_help_fit_into_78_columns() {
        check(&Cli::command());
    }

    fn check(command: &clap::Command) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in text.lines() {
            assert!(line.chars().count() <= 78, "{}: {line}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }
}
