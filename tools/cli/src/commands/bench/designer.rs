//! `lacuna bench designer`: what `auto` chooses beside the best family, over a grid of keys, queries and budgets.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use lacuna_bench::designer_grid::{Clock, Scale, Summary, cells, run as run_cell, to_page};
use lacuna_core::Error;
use lacuna_workload::parse_count;

use crate::errors::Result;
use crate::output::Output;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  lacuna bench designer --every 61 --key-count 20k --queries 4k
  lacuna bench designer --out docs/results/designer.md

A cell is a key set, a workload, a length of ranges and a budget: 768 in all, some of which leave no room for
empty ranges. Rates are counted on queries that auto did not see.";

/// Compare what auto chooses with the best family
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DesignerArgs {
    /// Run one cell in so many
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,

    /// Keys of generated sets
    #[arg(long, value_name = "N", default_value = "1M")]
    key_count: String,

    /// Queries in the sample, and as many that are asked
    #[arg(long, value_name = "N", default_value = "20k")]
    queries: String,

    /// Measure the time of a question in interleaved rounds instead of taking it from the table of constants
    #[arg(long)]
    measured: bool,

    /// Write the page here instead of printing it
    #[arg(long, value_name = "F")]
    out: Option<PathBuf>,

    /// Seed of keys, queries and hashes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Runs the grid.
pub(super) fn run(args: &DesignerArgs) -> Result<()> {
    let clock =
        if args.measured { Clock::Measured(lacuna_bench::harness::QUERY_ROUNDS) } else { Clock::Counted };
    let scale = Scale {
        key_count: count(&args.key_count)?,
        query_count: count(&args.queries)?,
        seed: args.seed,
        clock,
    };
    let chosen: Vec<_> = cells().into_iter().step_by(args.every.max(1)).collect();
    let progress = Progress::spinner("designing");
    let (mut outcomes, mut skipped) = (Vec::new(), 0);
    for (done, cell) in chosen.iter().enumerate() {
        progress.say(format!("{done} of {}: {cell}", chosen.len()));
        match run_cell(*cell, scale)? {
            Some(outcome) => outcomes.push(outcome),
            None => skipped += 1,
        }
    }
    drop(progress);
    let page = to_page(&outcomes, skipped, &command_line(args));
    let mut out = Output::new();
    match &args.out {
        Some(path) => {
            fs::write(path, page).map_err(|error| {
                Error::invalid_input(format!("{} cannot be written: {error}", path.display()))
                    .with_source(error)
            })?;
            let Summary { cells, close, worst } = Summary::of(&outcomes);
            out.line(&format!(
                "{cells} cells, {:.1} % close to the best, at worst {worst:.2} times",
                close * 100.0
            ))?;
        }
        None => out.text(&page)?,
    }
    out.finish()
}

fn count(text: &str) -> Result<usize> {
    let count = parse_count(text)?;
    Ok(usize::try_from(count)
        .map_err(|error| Error::invalid_input("that many do not fit").with_source(error))?)
}

/// The command that gives the same page again.
fn command_line(args: &DesignerArgs) -> String {
    let measured = if args.measured { " --measured" } else { "" };
    format!(
        "lacuna bench designer --every {} --key-count {} --queries {} --seed {}{measured}",
        args.every, args.key_count, args.queries, args.seed
    )
}
