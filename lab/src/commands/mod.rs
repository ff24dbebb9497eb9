//! The commands: one file each, with its arguments, its help and what it does.

mod bars;
#[cfg(feature = "cache")]
mod cache_bars;
#[cfg(feature = "cache")]
mod cache_bench;
mod cell_log;
mod cluster;
mod designer_grid;
mod frontier;
mod node_costs;
mod paper;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use lacuna_cli::Result;

/// Measurements of Lacuna: papers made again, bars, costs.
#[derive(Debug, Parser)]
#[command(name = "lacuna-lab", version, propagate_version = true, after_help = NOTES)]
struct Lab {
    #[command(subcommand)]
    command: Command,
}

const NOTES: &str = "\
In the checkout `cargo run --release -p lacuna-lab -- COMMAND` builds and runs a command. Figures over RocksDB need
`--features rocksdb` and `.ci/with-rocksdb` before the command; `cache-bench`, `cache-bars` and the paper `rangeqc`
need `--features cache` and start real servers.

Exit codes: 0 done, 1 a bar is not met, 2 bad input.";

#[derive(Debug, Subcommand)]
enum Command {
    Paper(paper::PaperArgs),
    Bars(bars::BarsArgs),
    DesignerGrid(designer_grid::DesignerGridArgs),
    Frontier(frontier::FrontierArgs),
    NodeCosts(node_costs::NodeCostsArgs),
    #[cfg(feature = "cache")]
    CacheBench(cache_bench::CacheBenchArgs),
    #[cfg(feature = "cache")]
    CacheBars(cache_bars::CacheBarsArgs),
}

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns for people
    Table,
    /// One JSON object a line
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// Runs the command line of this process; gives its exit code.
pub fn run() -> ExitCode {
    lacuna_cli::run_parsed(|lab: Lab| lab.run())
}

impl Lab {
    fn run(&self) -> Result<()> {
        match &self.command {
            Command::Paper(args) => paper::run(args),
            Command::Bars(args) => bars::run(args),
            Command::DesignerGrid(args) => designer_grid::run(args),
            Command::Frontier(args) => frontier::run(args),
            Command::NodeCosts(args) => node_costs::run(args),
            #[cfg(feature = "cache")]
            Command::CacheBench(args) => cache_bench::run(args),
            #[cfg(feature = "cache")]
            Command::CacheBars(args) => cache_bars::run(args),
        }
    }
}
