//! `lacuna cache top`: what dendrites do now.

use clap::Args;

use crate::errors::Result;

const EXAMPLES: &str = "\
Examples:
  lacuna cache top 10.0.0.7:9400 10.0.0.8:9400
  lacuna cache top 10.0.0.7:9400 --interval 10 --count 6 | jq .tables

Addresses are those of `lacuna cache dendrite --metrics`. On a terminal
the table is drawn anew after each interval, until Ctrl-C; elsewhere
each interval is one line of JSON.";

/// Watch dendrites: hit rate, hottest ranges, leases and pinned memory of each table
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TopArgs {
    /// Where dendrites answer `GET /metrics`
    #[arg(value_name = "HOST:PORT", required = true)]
    pub(super) dendrites: Vec<String>,
    /// Seconds between two looks
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(super) interval: u64,
    /// End after this many intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: Option<u64>,
}

/// A build without the range cache says how to get one that has it.
#[cfg(not(feature = "cache"))]
pub(super) fn run(_: &TopArgs) -> Result<()> {
    Err(crate::features::CACHE.is_missing())
}

/// Looks until it is interrupted, or has looked often enough.
#[cfg(feature = "cache")]
pub(super) fn run(args: &TopArgs) -> Result<()> {
    let interval = std::time::Duration::from_secs(args.interval);
    crate::top::run(&args.dendrites, interval, args.count.unwrap_or(u64::MAX))
}
