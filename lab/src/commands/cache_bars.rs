//! `lacuna-lab cache-bars`: what must hold, as ratios within one run.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use lacuna_base::{Error, Result as CoreResult};
use lacuna_bench::cpu_model;
use lacuna_cli::{Failure, Output, Progress, Result};

use crate::bars::bar::{Bar, Verdict};
use crate::bars::cache::{Effort, GROUPS, Group, section, to_page};
use crate::bars::page::to_text;
use crate::cache_bench::interrupt;
use crate::cache_bench::run::Bench;
use crate::cache_bench::setup::Length;

/// Measure the bars of the range cache: PASS or FAIL
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lacuna-lab cache-bars --only hit --quick
  lacuna-lab cache-bars --only policies,redis --seconds 60
  lacuna-lab cache-bars --out docs/results/cache

Needs a machine with nothing else to do. Exit code 1 if a bar fails, 130 after Ctrl-C.")]
pub(super) struct CacheBarsArgs {
    /// The only groups to measure, separated by commas: hit, delay, beta, copies, servers, policies,
    /// redis, gaps, updates
    #[arg(long, value_name = "GROUP,..", value_delimiter = ',')]
    only: Vec<String>,

    /// How long each run is [default: 10 in policies and redis, 60 elsewhere]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: Option<u64>,

    /// Few operations: shows that everything works, not how fast
    #[arg(long)]
    quick: bool,

    /// Also write bars.md into this folder, beside what it holds of other groups
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Seed of records and choices
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Measures the bars.
pub(super) fn run(args: &CacheBarsArgs) -> Result<()> {
    let groups = args.groups()?;
    interrupt::watch()?;
    let measured = measure(&groups, &args.effort());
    if interrupt::is_interrupted() {
        return Err(Failure::Exit(interrupt::EXIT_CODE));
    }
    let measured = measured?;
    let bars: Vec<Bar> = measured.iter().flat_map(|(_, bars)| bars).cloned().collect();
    let mut out = Output::new();
    out.text(&to_text(&bars))?;
    out.finish()?;
    args.write(&measured)?;
    match bars.iter().filter(|bar| bar.verdict == Verdict::Fail).count() {
        0 => Ok(()),
        failed => Err(Failure::DoesNotHold(format!("{failed} of {} bars are not met", bars.len()))),
    }
}

/// The bars of a group by its name.
type Measured = (&'static str, Vec<Bar>);

fn measure(groups: &[(&'static str, Group)], effort: &Effort) -> CoreResult<Vec<Measured>> {
    let (mut bench, progress) = (Bench::default(), Progress::spinner("starting servers"));
    let mut measured = Vec::new();
    for (name, group) in groups {
        measured.push((*name, group(&mut bench, effort, &mut |stage| progress.say(stage))?));
    }
    Ok(measured)
}

impl CacheBarsArgs {
    fn groups(&self) -> CoreResult<Vec<(&'static str, Group)>> {
        let known = || GROUPS.map(|(name, _)| name).join(", ");
        let find = |name: &String| {
            GROUPS.into_iter().find(|(known, _)| known == name).ok_or_else(|| {
                Error::invalid_input(format!("there is no group `{name}`; choose among {}", known()))
            })
        };
        if self.only.is_empty() {
            return Ok(GROUPS.to_vec());
        }
        self.only.iter().map(find).collect()
    }

    fn effort(&self) -> Effort {
        let (length, records, requests) = if self.quick {
            (Some(Length::Operations(800)), 400, 800)
        } else {
            (self.seconds.map(Duration::from_secs).map(Length::Time), 4_000, 16_000)
        };
        Effort { length, records, requests, seed: self.seed }
    }

    fn write(&self, measured: &[Measured]) -> CoreResult<()> {
        let Some(folder) = &self.out else { return Ok(()) };
        let effort = match self.seconds {
            _ if self.quick => " --quick".to_owned(),
            Some(seconds) => format!(" --seconds {seconds}"),
            None => String::new(),
        };
        let of_group = |(name, bars): &Measured| {
            let command = format!("lacuna-lab cache-bars --only {name}{effort} --seed {}", self.seed);
            (*name, section(bars, &command, &cpu_model()))
        };
        let sections: Vec<(&str, String)> = measured.iter().map(of_group).collect();
        // A page that is not there yet holds nothing.
        let path = folder.join("bars.md");
        let page = to_page(&fs::read_to_string(&path).unwrap_or_default(), &sections);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, page));
        written.map_err(|error| {
            Error::invalid_input(format!("{} cannot be written into: {error}", folder.display()))
                .with_source(error)
        })
    }
}
