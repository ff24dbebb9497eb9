//! The commands: `bench cache`, and one line in [`CacheCommand`] for each that begins with `cache`.

mod bars;
mod bench;
mod dendrite;

use std::ffi::OsString;

use clap::{Parser, Subcommand};
use lacuna_cli::Result;

use bars::BarsArgs;
use bench::BenchArgs;
use dendrite::DendriteArgs;

/// What the words name.
#[derive(Debug, Parser)]
#[command(name = "lacuna", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare
    #[command(subcommand)]
    Bench(BenchCommand),
    /// The range cache over real servers
    #[command(subcommand)]
    Cache(CacheCommand),
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Cache(BenchArgs),
}

/// To add a command: its arguments in a file of its own, a line here, a line in [`run`].
#[derive(Debug, Subcommand)]
enum CacheCommand {
    Bench(BenchArgs),
    Bars(BarsArgs),
    Dendrite(Box<DendriteArgs>),
}

/// Runs the command that `words` name: `bench cache ...` or `cache ...`.
pub(crate) fn run(words: &[OsString]) -> Result<()> {
    let name = OsString::from("lacuna");
    match Cli::try_parse_from(std::iter::once(&name).chain(words))?.command {
        Command::Bench(BenchCommand::Cache(args)) | Command::Cache(CacheCommand::Bench(args)) => {
            bench::run(&args)
        }
        Command::Cache(CacheCommand::Bars(args)) => bars::run(&args),
        Command::Cache(CacheCommand::Dendrite(args)) => dendrite::run(&args),
    }
}
