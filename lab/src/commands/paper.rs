//! `lacuna-lab paper`: the figures and tables of a paper, measured again.

use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(feature = "cache")]
use crate::cache_bench::interrupt;
use crate::paper::{self, Paper, Provenance, Setting, Step};
use clap::Args;
use lacuna_base::{Error, Result as CoreResult};
use lacuna_bench::cpu_model;
use lacuna_bench::report::Table;
use lacuna_workload::parse_count;

use lacuna_cli::{Output, PendingFile, Progress, Result};

use super::cluster;

const EXAMPLES: &str = "\
Examples:
  lacuna-lab paper --list
  lacuna-lab paper rencoder --list
  lacuna-lab paper rencoder --figure 4 --keys 20k --queries 2k --out figures
  lacuna-lab paper rencoder --figure table4 --keys 20k --queries 2k --out figures

Writes for each figure its data as CSV and its picture as SVG, and one page with the paper's numbers beside
ours: README.md for the whole paper, figure-4.md for `--figure 4`. Tables are printed too. Files of the same
name are replaced; each is there whole or not at all. With --in-page the section of the figure is replaced in a
README.md that is there (`--figure table4 --queries 300k --in-page --out docs/results/rencoder`); with --verdicts
nothing is measured, and the paper's numbers are judged again by the data beside the page (`--figure 4 --verdicts
--out docs/results/surf`). `lacuna-lab paper node-filters --cluster` writes cluster.md:
a script of the checkout measures, with a JDK 17 and Maven, for a quarter of an hour. `lacuna-lab paper rangeqc` measures
times: `--figure 6 --keys 200k --seconds 20 --runs 3` takes 200,000 records and 20 seconds a point, in three runs. With a million \
records a figure takes an hour or two; `--scans 10,99 --points points.csv` takes two shares of scans, and keeps each point when it is measured.";

/// The paper whose tables a cluster measures.
const OF_CLUSTERS: &str = "node-filters";
/// The paper whose points are measured for a time each.
const TIMED: &str = "rangeqc";
/// Its figures whose shares of scans can be chosen.
const BY_SCANS: [&str; 3] = ["1", "6", "7"];
/// Most runs of a point.
const MAX_RUNS: u32 = 99;

/// Make the figures and tables of a paper again
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PaperArgs {
    /// The paper; --list shows them
    #[arg(required_unless_present = "list")]
    name: Option<String>,

    /// Only this figure or table, such as 7 or table2
    #[arg(long, value_name = "N")]
    figure: Option<String>,

    /// As many keys as the paper takes, in place of at most a million
    #[arg(long)]
    full: bool,

    /// Keys of generated sets, such as 100k
    #[arg(long, value_name = "N", value_parser = count)]
    keys: Option<usize>,

    /// Queries of each kind [default: what suits each figure, a million at most]
    #[arg(long, value_name = "N", value_parser = count)]
    queries: Option<usize>,

    /// How long each point of rangeqc is measured [default: what suits each figure]
    #[arg(long, value_name = "S", value_parser = time, conflicts_with = "queries")]
    seconds: Option<Duration>,

    /// How often each point of rangeqc is measured: figures show the median, with the least and the greatest
    #[arg(long, value_name = "N", value_parser = runs)]
    runs: Option<NonZeroU32>,

    /// Shares of scans, in percent, of figure 1, 6 or 7 of rangeqc [default: the report's]
    #[arg(long, value_name = "P,..", value_parser = clap::value_parser!(u64).range(0..=100), value_delimiter = ',', requires = "figure")]
    scans: Option<Vec<u64>>,

    /// Append each point of rangeqc to this file when it is measured: CSV, with the columns of `cache-bench --format csv`
    #[arg(long, value_name = "F")]
    points: Option<PathBuf>,

    /// Where the stores of rangeqc that have little memory keep their data, on a disk [default: the folder of this program]
    #[arg(long, value_name = "DIR")]
    data_folder: Option<PathBuf>,

    /// Seed of keys, queries and hashes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Folder for the files, made if it is missing [default: NAME; docs/results/NAME holds what is published]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace the section of the figure in the README.md of the folder, which says so, in place of a page of its own
    #[arg(long, requires = "figure")]
    in_page: bool,

    /// Measure nothing: write the claims of the figure in README.md (or the figure's own page) anew from its data
    #[arg(long, requires_all = ["figure", "out"], conflicts_with_all = ["in_page", "full", "keys", "queries", "scans", "seconds", "runs", "points", "list"])]
    verdicts: bool,

    /// Show what there is, and measure nothing
    #[arg(long)]
    list: bool,

    /// Measure the tables of node-filters in a cluster of three Cassandra nodes that is started for it
    #[arg(long, conflicts_with_all = ["figure", "full", "keys", "queries", "scans", "seconds", "runs", "points", "seed", "list", "in_page", "verdicts"])]
    cluster: bool,

    /// With --cluster: little of everything, in a few minutes, to see that it works
    #[arg(long, requires = "cluster")]
    quick: bool,
}

/// Makes the figures, or lists them.
pub(super) fn run(args: &PaperArgs) -> Result<()> {
    let Some(name) = &args.name else { return list_papers() };
    if args.cluster {
        return in_cluster(name, args);
    }
    let paper = paper::find(name)?;
    paper::figures(paper, args.figure.as_deref())?;
    if args.list {
        return list_figures(paper, args.figure.as_deref());
    }
    if args.verdicts {
        return judge(args, paper);
    }
    let is_timed = [
        args.seconds.is_some(),
        args.runs.is_some(),
        args.data_folder.is_some(),
        args.scans.is_some(),
        args.points.is_some(),
    ];
    if paper.name != TIMED && is_timed.contains(&true) {
        let message = format!(
            "--seconds, --runs, --data-folder, --scans and --points are for {TIMED}; {} takes --keys and --queries",
            paper.name
        );
        return Err(Error::invalid_input(message).into());
    }
    if args.scans.is_some() && !BY_SCANS.contains(&args.figure.as_deref().unwrap_or_default()) {
        return Err(Error::invalid_input(
            "--scans is for --figure 1, 6 or 7; the other figures have shares of their own",
        )
        .into());
    }
    make(args, paper)
}

/// Judges the claims of a page anew, from the data beside it.
fn judge(args: &PaperArgs, paper: &'static Paper) -> Result<()> {
    let folder = folder(args, paper);
    let mut out = Output::new();
    for figure in paper::figures(paper, args.figure.as_deref())? {
        let stem = figure.id.file_stem();
        let own = folder.join(format!("{stem}.md"));
        let path = if own.exists() { own } else { folder.join(PAGE) };
        let page = read(&path)?;
        let judged = paper::judged(&page, figure, &read(&folder.join(format!("{stem}.csv")))?)?;
        PendingFile::create(&path)?.commit(judged.as_bytes())?;
        out.line(&format!("wrote {}", path.display()))?;
    }
    out.finish()
}

/// The page of a whole paper.
const PAGE: &str = "README.md";

fn folder(args: &PaperArgs, paper: &Paper) -> PathBuf {
    args.out.clone().unwrap_or_else(|| PathBuf::from(paper.name))
}

fn read(path: &Path) -> CoreResult<String> {
    fs::read_to_string(path).map_err(|error| {
        Error::invalid_input(format!("{} cannot be read: {error}", path.display())).with_source(error)
    })
}

/// Has the script of the checkout make the page.
fn in_cluster(name: &str, args: &PaperArgs) -> Result<()> {
    if name != OF_CLUSTERS {
        let message = format!("no cluster measures the paper `{name}`; --cluster is for {OF_CLUSTERS}");
        return Err(Error::invalid_input(message).into());
    }
    let mut words = vec![OsStr::new("paper")];
    if args.quick {
        words.push(OsStr::new("--quick"));
    }
    if let Some(out) = &args.out {
        words.extend([OsStr::new("--out"), out.as_os_str()]);
    }
    cluster::bench(&words)
}

fn list_papers() -> Result<()> {
    let mut out = Output::new();
    out.pairs(&paper::available())?;
    out.finish()
}

fn list_figures(paper: &'static Paper, only: Option<&str>) -> Result<()> {
    let mut table = Table::new(["--figure", "what", "title"]);
    for figure in paper::figures(paper, only)? {
        table.push([figure.id.argument(), figure.id.heading(), figure.title.to_owned()]);
    }
    let mut out = Output::new();
    out.line(paper.citation)?;
    out.text(&table.to_string())?;
    out.finish()
}

fn make(args: &PaperArgs, paper: &'static Paper) -> Result<()> {
    let folder = folder(args, paper);
    let page = if args.in_page { Some(read(&folder.join(PAGE))?) } else { None };
    let is_new = !folder.exists();
    // Measuring takes minutes: ended before its end, it leaves no empty folder.
    let emptied = folder.clone();
    let _removal = lacuna_cli::before_end(move || drop(is_new.then(|| fs::remove_dir(&emptied))));
    make_folder(&folder)?;
    let setting = Setting {
        keys: args.keys,
        queries: args.queries,
        full: args.full,
        seed: args.seed,
        only: args.figure.clone(),
        scans: args.scans.clone(),
        time: args.seconds,
        runs: args.runs,
        points: args.points.clone(),
        data_folder: args.data_folder.clone(),
    };
    let measured = measure(paper, &setting);
    #[cfg(feature = "cache")]
    if interrupt::is_interrupted() {
        drop(is_new.then(|| fs::remove_dir(&folder)));
        return Err(lacuna_cli::Failure::Exit(interrupt::EXIT_CODE));
    }
    let findings = measured?;
    let command = command_line(args, paper);
    let provenance = Provenance { command, machine: cpu_model(), seed: args.seed, load: load() };
    let mut out = Output::new();
    out.text(&paper::to_text(&findings))?;
    for mut file in paper::files(paper, &findings, &provenance)? {
        if let (Some(page), [(figure, finding)]) = (&page, &findings[..])
            && file.name.ends_with(".md")
        {
            file.name = PAGE.to_owned();
            file.text = paper::with_section(page, figure, finding, &provenance);
        }
        let path = folder.join(&file.name);
        PendingFile::create(&path)?.commit(file.text.as_bytes())?;
        out.line(&format!("wrote {}", path.display()))?;
    }
    out.finish()
}

/// Tasks that want a processor, the mean of the last minute, and the number of processors, where the system tells them.
fn load() -> Option<(f64, usize)> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    let tasks = text.split(' ').next()?.parse().ok()?;
    Some((tasks, std::thread::available_parallelism().ok()?.get()))
}

fn measure(
    paper: &'static Paper,
    setting: &Setting,
) -> CoreResult<Vec<(&'static paper::Figure, paper::Finding)>> {
    let progress = Progress::spinner(format!("measuring {}", paper.name));
    paper::run(paper, setting, &mut |Step { figure, stage, done, of }| {
        progress.say(format!("{figure} ({} of {of}): {stage}", done + 1));
    })
}

fn make_folder(folder: &Path) -> CoreResult<()> {
    fs::create_dir_all(folder).map_err(|error| {
        let message = format!("the figures cannot be written into {}: {error}", folder.display());
        Error::invalid_input(message).with_source(error)
    })
}

/// The command that makes the same figures again.
fn command_line(args: &PaperArgs, paper: &Paper) -> String {
    let mut command = format!("lacuna-lab paper {}", paper.name);
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{name} {value}");
        }
    };
    add("figure", args.figure.clone());
    add("keys", args.keys.map(|count| count.to_string()));
    add("queries", args.queries.map(|count| count.to_string()));
    add(
        "scans",
        args.scans.as_ref().map(|shares| shares.iter().map(u64::to_string).collect::<Vec<_>>().join(",")),
    );
    add("seconds", args.seconds.map(|time| time.as_secs_f64().to_string()));
    add("runs", args.runs.map(|runs| runs.to_string()));
    add("seed", Some(args.seed.to_string()));
    if args.full {
        command += " --full";
    }
    command
}

/// A number of things, at least one.
fn count(text: &str) -> Result<usize, String> {
    let count = parse_count(text).map_err(|error| error.to_string())?;
    match usize::try_from(count) {
        Ok(0) | Err(_) => Err(format!("{text} is too few; give at least 1")),
        Ok(count) => Ok(count),
    }
}

/// A number of seconds, such as 20 or 0.5.
fn time(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(format!("a run of {text} seconds measures nothing")),
    }
}

/// A number of runs.
fn runs(text: &str) -> Result<NonZeroU32, String> {
    let runs = text.parse().ok().and_then(NonZeroU32::new).filter(|runs| runs.get() <= MAX_RUNS);
    runs.ok_or_else(|| format!("`{text}` is not a number of runs; give 1 to {MAX_RUNS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_runs_are_read() {
        assert_eq!(time("20"), Ok(Duration::from_secs(20)));
        assert_eq!(time("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "1e300", "NaN", "long"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert_eq!(runs("3").map(NonZeroU32::get), Ok(3));
        for wrong in ["0", "-1", "100", "1.5", "many"] {
            assert!(runs(wrong).unwrap_err().contains("1 to 99"), "{wrong}");
        }
    }
}
