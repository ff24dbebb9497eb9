//! `lacuna-lab node-costs`: what filters that nodes of a cluster exchange cost.

use crate::node_costs::{Cost, costs};
use crate::paper::shown;
use clap::Args;
use lacuna_bench::report::{self, Table};
use lacuna_workload::parse_count;

use lacuna_cli::{Output, Progress, Result};

use super::{Format, cluster};

const EXAMPLES: &str = "\
Examples:
  lacuna-lab node-costs --keys 20k
  lacuna-lab node-costs --keys 20k --format json

Sizes, rates and bytes are counts and repeat from the seed; times are of one thread of this
machine. What is at most so much is meant for filters of 10k keys and more, insertion for
filters larger than the caches, 10M keys. No cluster is needed: the two nodes are in this
process. With --cluster there are three, stock Cassandra and the plug-in, beside tables without
filters; that takes a checkout, a JDK 17 and Maven, and a quarter of an hour.";

/// Measure what node filters cost: memory, writes, messages
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct NodeCostsArgs {
    /// Keys of a filter, such as 1M
    #[arg(long, value_name = "N", default_value = "1M", value_parser = key_count)]
    keys: usize,

    /// How to print the costs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Seed of keys and hashes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Measure a cluster of three Cassandra nodes that is started for it
    #[arg(long, conflicts_with_all = ["keys", "format", "seed"])]
    cluster: bool,
}

/// Runs the command.
pub(super) fn run(args: &NodeCostsArgs) -> Result<()> {
    if args.cluster {
        return cluster::bench(&[]);
    }
    let progress = Progress::spinner("measuring node filters".to_owned());
    let costs = costs(args.keys, args.seed, &mut |stage| progress.say(stage.to_owned()))?;
    drop(progress);
    let mut out = Output::new();
    out.text(&match args.format {
        Format::Table => table(&costs),
        Format::Json => report::to_json_lines(&costs),
        Format::Csv => report::csv_of(&["what", "value", "unit", "bar"], &costs),
    })?;
    out.finish()
}

fn table(costs: &[Cost]) -> String {
    let mut table = Table::new(["what", "value", "at most", "unit", ""]);
    for cost in costs {
        let bar = cost.bar.map_or("-".to_owned(), shown);
        let verdict = if cost.bar.is_some_and(|bar| cost.value > bar) { "more than that" } else { "" };
        table.push([cost.what.clone(), shown(cost.value), bar, cost.unit.to_owned(), verdict.to_owned()]);
    }
    table.to_string()
}

/// Enough keys that some are in every batch and few enough that counts of them fit.
fn key_count(text: &str) -> Result<usize, String> {
    match parse_count(text).map(usize::try_from) {
        Ok(Ok(count @ 1_000..=1_000_000_000)) => Ok(count),
        _ => Err(format!("{text} is not a number of keys from 1k to 1000M")),
    }
}
