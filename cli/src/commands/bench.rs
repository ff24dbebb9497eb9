//! `lacuna bench filters`: filters side by side over the same keys and queries, measured in turn in one run.

mod engine;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use lacuna_base::{Budget, Error, Result as CoreResult};
use lacuna_bench::{Contender, Effort, Progress as Stage, Row, Setting, measure, report};
use lacuna_families::FAMILIES;
use lacuna_workload::{QueryInput, TypedKeys};

use engine::EngineArgs;

use crate::arguments::KeyArgs;
use crate::errors::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  lacuna bench filters --keys uniform:20k --queries uniform:10k:32 --quick
  lacuna bench filters --filters grafite,bloom:k=7 --keys uniform:20k --bits-per-key 10,14 \\
      --queries uniform:5k:1-32,correlated:5k:32:32 --quick --format json
  lacuna bench filters --filters grafite,bucketing --keys words.txt --queries heldout:1k:1-4 \\
      --bits-per-key 8,12,16 --quick --report report
  lacuna bench filters --filters all --keys uniform:20k --queries uniform:10k:32 \\
      --bits-per-key 14,18 --quick --report report

Times are medians of interleaved rounds on one thread: compare them with each other, not with those of
another run. `batched` asks 1,024 ranges a call; `floor` is one random read in as much memory as the
filter has. Queries that take keys out (heldout, half, lastbyte) leave those keys out of the filter.
Exit code 1 if a filter denies a key that it holds.";

/// Compare filters: rate, size, speed
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Filters(FiltersArgs),
    Engine(EngineArgs),
}

/// Compare filters over the same keys and queries
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct FiltersArgs {
    /// Specs to compare, separated by commas; `all` stands for every family [default: all]
    #[arg(long, value_name = "A,B,..")]
    filters: Option<String>,

    #[command(flatten)]
    keys: KeyArgs,

    /// What to ask, such as uniform:100k:1-32 or file:PATH; several separated by commas
    #[arg(long, value_name = "Q", required = true, value_delimiter = ',')]
    queries: Vec<String>,

    /// Budgets in bits per distinct key, separated by commas
    #[arg(
        long,
        value_name = "B,..",
        value_delimiter = ',',
        default_value = "14",
        allow_negative_numbers = true
    )]
    bits_per_key: Vec<f64>,

    /// How to print the rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Also write report.html, rows.csv and rows.jsonl into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    /// Few rounds: the rates are as good, the times are rough
    #[arg(long)]
    quick: bool,

    /// Seed of the hashes, of generated keys and of the queries
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Aligned columns for people
    Table,
    /// One JSON object a line
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// Stands for every family in `--filters`.
const EVERY_FAMILY: &str = "all";

/// Runs the comparison.
pub(super) fn run(args: &BenchArgs) -> Result<()> {
    match &args.command {
        BenchCommand::Filters(args) => run_filters(args),
        BenchCommand::Engine(args) => engine::run(args),
    }
}

fn run_filters(args: &FiltersArgs) -> Result<()> {
    let specs = specs(args)?;
    let inputs = args.queries.iter().map(|text| QueryInput::parse(text)).collect::<CoreResult<Vec<_>>>()?;
    args.report.as_deref().map(make_folder).transpose()?;
    let keys = args.keys.load(args.seed)?;
    let mut rows = Vec::new();
    for input in &inputs {
        rows.extend(rows_of(args, &specs, input, &keys)?);
    }
    if let Some(folder) = &args.report {
        report::write_report(folder, "Filters side by side", &command_line(args, &specs), &rows)?;
    }
    print_rows(args, &rows)?;
    deny_false_negatives(&rows)
}

/// The specs asked for, each known to exist.
fn specs(args: &FiltersArgs) -> Result<Vec<String>> {
    let specs = match &args.filters {
        Some(text) => split_specs(text),
        None => every_family().collect(),
    };
    for spec in &specs {
        lacuna_families::spec::<u64>(spec)?;
    }
    for &bits_per_key in &args.bits_per_key {
        Budget::bits_per_key(bits_per_key)?;
    }
    Ok(specs)
}

/// The plain spec of every family.
fn every_family() -> impl Iterator<Item = String> {
    FAMILIES.iter().map(|family| family.kind.name().to_owned())
}

/// Splits at the commas between specs, not at those between the parameters of one: `a:x=1,y=2,b` is `a:x=1,y=2`, `b`.
fn split_specs(text: &str) -> Vec<String> {
    let mut specs: Vec<String> = Vec::new();
    for part in text.split(',') {
        let is_parameter = part.contains('=') && !part.contains(':');
        match specs.last_mut() {
            Some(spec) if is_parameter => {
                spec.push(',');
                spec.push_str(part);
            }
            _ if part == EVERY_FAMILY => specs.extend(every_family()),
            _ => specs.push(part.to_owned()),
        }
    }
    specs
}

fn make_folder(folder: &Path) -> CoreResult<()> {
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("the report cannot be written into {}: {error}", folder.display());
        Error::invalid_input(message).with_source(error)
    })
}

fn rows_of(
    args: &FiltersArgs,
    specs: &[String],
    input: &QueryInput,
    keys: &TypedKeys,
) -> CoreResult<Vec<Row>> {
    let workload = input.workload(keys.clone(), args.seed)?;
    let contenders: Vec<Contender<'_>> = specs
        .iter()
        .flat_map(|spec| args.bits_per_key.iter().map(move |&bits_per_key| Contender { spec, bits_per_key }))
        .collect();
    let queries = input.to_string();
    let setting = Setting { keys: args.keys.name(), queries: &queries, workload: &workload, seed: args.seed };
    let effort = if args.quick { Effort::SMALL } else { Effort::FULL };
    let progress = Progress::spinner(format!("measuring {queries}"));
    measure(&contenders, &setting, effort, &mut |Stage { stage, done, of }| {
        progress.say(format!("{queries}: {stage}, {done} of {of}"));
    })
}

/// The command that gives the same report again.
fn command_line(args: &FiltersArgs, specs: &[String]) -> String {
    let budgets: Vec<String> = args.bits_per_key.iter().map(f64::to_string).collect();
    format!(
        "lacuna bench filters --filters {} {} --queries {} --bits-per-key {}{} --seed {}",
        specs.join(","),
        args.keys.as_arguments(),
        args.queries.join(","),
        budgets.join(","),
        if args.quick { " --quick" } else { "" },
        args.seed
    )
}

fn print_rows(args: &FiltersArgs, rows: &[Row]) -> Result<()> {
    let text = match args.format {
        Format::Table => report::to_table(rows),
        Format::Json => report::to_json_lines(rows),
        Format::Csv => report::to_csv(rows),
    };
    let mut out = Output::new();
    out.text(&text)?;
    out.finish()
}

fn deny_false_negatives(rows: &[Row]) -> Result<()> {
    match rows.iter().find(|row| row.false_negatives > 0) {
        None => Ok(()),
        Some(row) => Err(Failure::DoesNotHold(format!(
            "{} denied {} keys or ranges that it holds; this is a bug",
            row.spec, row.false_negatives
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_a_spec_stay() {
        assert_eq!(
            split_specs("grafite:block=3,slice=1,bloom,bloom:k=7"),
            ["grafite:block=3,slice=1", "bloom", "bloom:k=7"]
        );
        assert_eq!(split_specs("grafite"), ["grafite"]);
        assert_eq!(split_specs("k=7"), ["k=7"]);
    }

    #[test]
    fn all_stands_for_every_family() {
        let specs = split_specs("bloom:k=7,all");
        assert_eq!(specs.len(), 1 + FAMILIES.len());
        assert_eq!(specs[1..], every_family().collect::<Vec<_>>());
    }
}
