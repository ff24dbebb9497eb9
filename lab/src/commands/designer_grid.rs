//! `lacuna-lab designer-grid`: what `auto` chooses beside the best family, over a grid of keys, queries and budgets.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use lacuna_base::Error;
use lacuna_workload::parse_count;

use super::cell_log::CellLog;
use crate::designer_grid::{Cell, Clock, Outcome, Scale, Summary, cells, run as run_cell, to_page};
use lacuna_cli::{Output, PendingFile, Progress, Result};

const EXAMPLES: &str = "\
Examples:
  lacuna-lab designer-grid --every 61 --key-count 20k --queries 4k
  lacuna-lab designer-grid --out docs/results/designer.md
  lacuna-lab designer-grid --cells done.cells --out docs/results/designer.md

A cell is a key set, a workload, a length of ranges and a budget: 768 in all, some of which leave no room for
empty ranges. Rates are counted on other draws than those that auto sees. Beside each choice stands the one that auto would make
without ribbon and segments. With --cells the same command resumes a run that was broken off.";

/// Compare what auto chooses with the best family
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DesignerGridArgs {
    /// Run one cell in N
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    every: NonZeroUsize,

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

    /// Note each cell here as it is done, and go on after those that are there
    #[arg(long, value_name = "F")]
    cells: Option<PathBuf>,

    /// Seed of keys, queries and hashes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Runs the grid.
pub(super) fn run(args: &DesignerGridArgs) -> Result<()> {
    let clock =
        if args.measured { Clock::Measured(lacuna_bench::harness::QUERY_ROUNDS) } else { Clock::Counted };
    let scale = Scale {
        key_count: count(&args.key_count)?,
        query_count: count(&args.queries)?,
        seed: args.seed,
        clock,
    };
    let chosen: Vec<Cell> = cells().into_iter().step_by(args.every.get()).collect();
    // The result of hours of work goes into this file, so check first that it can be written.
    let pending = args.out.as_deref().map(PendingFile::create).transpose()?;
    let command = command_line(args);
    let mut log = CellLog::open(args.cells.as_deref(), &command)?;
    let (outcomes, skipped) = outcomes(&chosen, scale, &mut log)?;
    let page = to_page(&outcomes, skipped, &command, clock);
    let mut out = Output::new();
    match pending {
        Some(file) => {
            file.commit(page.as_bytes())?;
            let Summary { cells, close, worst, change } = Summary::of(&outcomes);
            out.line(&format!(
                "{cells} cells, {:.1} % close to the best, at worst {worst:.2} times",
                close * 100.0
            ))?;
            out.line(&format!(
                "beside auto without ribbon and segments: the median {:.2} times, {} cells worse, at most {:.2} times",
                change.of_median, change.worse, change.most
            ))?;
        }
        None => out.text(&page)?,
    }
    out.finish()
}

/// What came out of the cells, those of the log included, and how many have no such queries.
fn outcomes(chosen: &[Cell], scale: Scale, log: &mut CellLog) -> Result<(Vec<Outcome>, usize)> {
    let progress = Progress::steps("designing", chosen.len() as u64);
    let (mut outcomes, mut skipped) = (Vec::new(), 0);
    for (done, cell) in chosen.iter().enumerate() {
        progress.set(done as u64);
        progress.say(cell.to_string());
        if log.get(cell).is_none() {
            log.push(*cell, run_cell(*cell, scale)?)?;
        }
        match log.get(cell).expect("just noted") {
            Some(outcome) => outcomes.push(outcome.clone()),
            None => skipped += 1,
        }
    }
    Ok((outcomes, skipped))
}

fn count(text: &str) -> Result<usize> {
    let count = parse_count(text)?;
    Ok(usize::try_from(count)
        .map_err(|error| Error::invalid_input("that many do not fit").with_source(error))?)
}

/// The command that gives the same page again.
fn command_line(args: &DesignerGridArgs) -> String {
    let measured = if args.measured { " --measured" } else { "" };
    format!(
        "lacuna-lab designer-grid --every {} --key-count {} --queries {} --seed {}{measured}",
        args.every, args.key_count, args.queries, args.seed
    )
}
