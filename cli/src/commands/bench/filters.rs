//! `lacuna bench filters`: filters side by side over the same keys and queries, measured in turn in one run.

use std::path::{Path, PathBuf};

use clap::Args;
use lacuna_base::{Budget, Result as CoreResult, Secret};
use lacuna_bench::report::Provenance;
use lacuna_bench::{
    Contender, Effort, MAX_SAMPLED, Machine, Outcome, Progress as Stage, Row, Setting, Watch,
    measure_fitting, report,
};
use lacuna_workload::{Kept, Keys, Queries, QueryInput, QuerySource, TypedKeys};

use super::{Format, every_family, split_specs};
use crate::arguments::{KeyArgs, bits_per_key, spare_queries};
use crate::errors::{Failure, Result, unless_reader_gone};
use crate::interrupt::StopFlag;
use crate::output::Output;
use crate::progress::Progress;
use crate::report_folder::{OPTION, ReportFolder};
use crate::secret_file::SecretArgs;

/// Most bytes of queries that are not counted, unless as many are counted.
const APART_BYTES: usize = 256 << 20;

const EXAMPLES: &str = "\
Examples:
  lacuna bench filters --keys uniform:20k --queries uniform:10k:32 \\
      --quick
  lacuna bench filters --filters grafite,bloom:k=7 --keys uniform:20k \\
      --bits-per-key 10,14 --quick --format json \\
      --queries uniform:5k:1-32,correlated:5k:32:32
  lacuna bench filters --filters grafite,bucketing --keys words.txt \\
      --queries heldout:1k:1-4 --bits-per-key 8,12,16 --quick \\
      --report report
  lacuna bench filters --filters all --keys uniform:20k \\
      --queries uniform:10k:32 --bits-per-key 14,18 --quick \\
      --report report

Times are medians of interleaved rounds on one thread: compare them with
each other, not with those of another run. `batched` asks 1,024 ranges a
call; `floor` is one random read in as much memory as the filter has.
Queries that take keys out (heldout, half, lastbyte) leave those keys
out of the filter.

The rate is counted on one set of queries. Times are measured, and some
filters are designed, with a second set of the same kind. A file and
queries that take keys out give one set only, and a note says which
filters were designed by the queries that are counted.

A filter that does not fit its budget is a row that says what it needs;
notes about others stand below the table. Rows are printed as soon as
their queries are done, and Ctrl-C prints what is done. Exit code 1 if a
filter denies a key that it holds.";

/// Compare filters over the same keys and queries
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FiltersArgs {
    /// Specs to compare, separated by commas; `all` stands for every family [default: all]
    #[arg(long, value_name = "A,B,..")]
    filters: Option<String>,

    #[command(flatten)]
    keys: KeyArgs,

    /// What to ask, such as uniform:100k:1-32 or `file:PATH`; several separated by commas
    #[arg(long, value_name = "Q", required = true, value_delimiter = ',')]
    queries: Vec<String>,

    /// Budgets in bits per distinct key, separated by commas
    #[arg(
        long,
        value_name = "B,..",
        value_delimiter = ',',
        default_value = "14",
        allow_negative_numbers = true,
        value_parser = bits_per_key
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

    #[command(flatten)]
    secret: SecretArgs,
}

/// Runs the comparison.
pub(super) fn run(args: &FiltersArgs) -> Result<()> {
    let specs = specs(args)?;
    let secret = args.secret.load(&specs.iter().map(String::as_str).collect::<Vec<_>>())?;
    let inputs = args.queries.iter().map(|text| QueryInput::parse(text)).collect::<CoreResult<Vec<_>>>()?;
    let report = args.report.as_deref().map(|folder| report_folder(args, folder, &inputs)).transpose()?;
    let keys = args.keys.load(args.seed)?;
    let stop = StopFlag::with_results();
    let (mut printer, mut outcomes) = (Printer::new(args.format), Vec::new());
    for input in &inputs {
        let found = outcomes_of(args, (&specs, secret), input, &keys, &stop)?;
        // A filter that denies a key is reported, and the report written, whether anybody reads the rows or not.
        unless_reader_gone(printer.print(&found))?;
        outcomes.extend(found);
        if stop.is_set() {
            break;
        }
    }
    let rows: Vec<Row> = outcomes.iter().filter_map(Outcome::row).cloned().collect();
    if let Some(report) = report.filter(|_| !outcomes.is_empty()) {
        report.write("Filters side by side", &provenance(args, &specs), &outcomes)?;
    }
    deny_false_negatives(&rows)?;
    stop.exit_code().map_or(Ok(()), |code| Err(Failure::Exit(code)))
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

/// The folder of the report, whose files are none of those that are read.
fn report_folder(args: &FiltersArgs, folder: &Path, inputs: &[QueryInput]) -> CoreResult<ReportFolder> {
    ReportFolder::create(folder, |file| {
        args.keys.spare(file, OPTION)?;
        args.secret.spare(file, OPTION)?;
        inputs.iter().try_for_each(|input| spare_queries(input, file, OPTION))
    })
}

/// What became of every filter with every budget.
fn outcomes_of(
    args: &FiltersArgs,
    (specs, secret): (&[String], Option<Secret>),
    input: &QueryInput,
    keys: &TypedKeys,
    stop: &StopFlag,
) -> CoreResult<Vec<Outcome>> {
    let queries = input.to_string();
    let progress = Progress::spinner(format!("drawing {queries}"));
    let effort = if args.quick { Effort::SMALL } else { Effort::FULL };
    let apart = queries_apart(input, keys, effort, args.seed);
    let workload = input.workload(keys.clone(), args.seed)?;
    let contenders: Vec<Contender<'_>> = specs
        .iter()
        .flat_map(|spec| args.bits_per_key.iter().map(move |&bits_per_key| Contender { spec, bits_per_key }))
        .collect();
    let keys = args.keys.name();
    let apart = apart.as_ref();
    let setting = Setting { keys, queries: &queries, workload: &workload, apart, seed: args.seed, secret };
    let mut viewer = Viewer { queries: &queries, progress, stop };
    measure_fitting(&contenders, &setting, effort, &mut viewer)
}

/// Queries of the same law that are not counted; none of a file, and none where each draw takes other keys out.
fn queries_apart(input: &QueryInput, keys: &TypedKeys, effort: Effort, seed: u64) -> Option<Queries> {
    let QueryInput::Drawn(source) = input else { return None };
    let wanted = effort.questions.max(MAX_SAMPLED);
    let source = QuerySource { count: apart_count(wanted, source.count, longest(&keys.keys)), ..*source };
    let is_apart = source.kept == Kept::All;
    // Keys that have room for few such queries have none for others.
    let drawn = is_apart.then(|| source.workload(keys.keys.clone(), !seed).ok()).flatten();
    drawn.map(|workload| workload.queries)
}

/// As many queries as are wanted, or as fit into [`APART_BYTES`] with both ends as long as the longest key, and never fewer than are
/// counted.
fn apart_count(wanted: usize, counted: usize, longest: usize) -> usize {
    wanted.min((APART_BYTES / (2 * longest.max(1))).max(counted))
}

/// Bytes of the longest key.
fn longest(keys: &Keys) -> usize {
    match keys {
        Keys::U64(_) => size_of::<u64>(),
        Keys::Bytes(keys) => keys.iter().map(<[u8]>::len).max().unwrap_or(0),
    }
}

/// Shows a terminal what is done, and ends the measurement when it is asked to.
struct Viewer<'a> {
    queries: &'a str,
    progress: Progress,
    stop: &'a StopFlag,
}

impl Watch for Viewer<'_> {
    fn progress(&mut self, Stage { stage, done, of }: Stage) {
        self.progress.step(format!("{}: {stage}", self.queries), done as u64, of as u64);
    }

    fn found(&mut self, spec: &str, bits_per_key: f64, finding: &str) {
        self.progress.note(&format!("{spec} at {bits_per_key} bits, {}: {finding}", self.queries));
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }
}

/// Prints the outcomes of each kind of queries when they are there.
struct Printer {
    format: Format,
    is_first: bool,
}

impl Printer {
    fn new(format: Format) -> Self {
        Self { format, is_first: true }
    }

    fn print(&mut self, outcomes: &[Outcome]) -> Result<()> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let text = match self.format {
            Format::Table if is_first => report::outcomes_to_table(outcomes),
            Format::Table => format!("\n{}", report::outcomes_to_table(outcomes)),
            Format::Json => report::to_json_lines(outcomes),
            Format::Csv if is_first => report::to_csv(outcomes),
            Format::Csv => without_first_line(&report::to_csv(outcomes)),
        };
        let mut out = Output::new();
        out.text(&text)?;
        out.finish()
    }
}

fn without_first_line(text: &str) -> String {
    text.split_once('\n').map_or(String::new(), |(_, rest)| rest.to_owned())
}

/// How this report is made.
fn provenance(args: &FiltersArgs, specs: &[String]) -> Provenance {
    Provenance {
        command: command_line(args, specs),
        version: env!("LACUNA_VERSION").to_owned(),
        date: jiff::Zoned::now().date().to_string(),
        machine: Machine::here(),
    }
}

/// The command that gives the same report again.
fn command_line(args: &FiltersArgs, specs: &[String]) -> String {
    let budgets: Vec<String> = args.bits_per_key.iter().map(f64::to_string).collect();
    format!(
        "lacuna bench filters --filters {} {} --queries {} --bits-per-key {}{} --seed {}{}",
        specs.join(","),
        args.keys.as_arguments(),
        args.queries.join(","),
        budgets.join(","),
        if args.quick { " --quick" } else { "" },
        args.seed,
        args.secret.as_arguments()
    )
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
    use super::apart_count;

    #[test]
    fn queries_apart_take_no_more_memory_than_those_that_are_counted() {
        let wanted = 262_144;
        assert_eq!(apart_count(wanted, 1_000, 8), wanted);
        assert_eq!(apart_count(wanted, 1_000, 64 << 10), 2_048);
        assert_eq!(apart_count(wanted, 5_000, 64 << 10), 5_000);
        assert_eq!(apart_count(wanted, 1_000, 0), wanted);
    }
}
