//! `lacuna-lab cache-bars`: what must hold, as ratios within one run.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use lacuna_base::{Error, Result as CoreResult};
use lacuna_bench::cpu_model;
use lacuna_cli::{Failure, Output, Progress, Result};

use crate::bars::bar::{Bar, Verdict};
use crate::bars::cache::{Effort, GROUPS, Group, to_page};
use crate::bars::page::to_text;
use crate::cache_bench::interrupt;
use crate::cache_bench::run::Bench;
use crate::cache_bench::setup::Length;

/// Measure the bars of the range cache: PASS or FAIL
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lacuna-lab cache-bars --only hit --quick
  lacuna-lab cache-bars --out docs/results/cache

Needs a machine with nothing else to do. Exit code 1 if a bar fails, 130 after Ctrl-C.")]
pub(super) struct CacheBarsArgs {
    /// The only groups to measure, separated by commas: hit, delay, beta, copies, servers, gaps, updates
    #[arg(long, value_name = "GROUP,..", value_delimiter = ',')]
    only: Vec<String>,

    /// How long each run is
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,

    /// Few operations: shows that everything works, not how fast
    #[arg(long)]
    quick: bool,

    /// Also write bars.md into this folder
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
    let mut bars = Vec::new();
    let measured = measure(&groups, &args.effort(), &mut bars);
    if interrupt::is_interrupted() {
        return Err(Failure::Exit(interrupt::EXIT_CODE));
    }
    measured?;
    let mut out = Output::new();
    out.text(&to_text(&bars))?;
    out.finish()?;
    args.write(&bars)?;
    match bars.iter().filter(|bar| bar.verdict == Verdict::Fail).count() {
        0 => Ok(()),
        failed => Err(Failure::DoesNotHold(format!("{failed} of {} bars are not met", bars.len()))),
    }
}

fn measure(groups: &[Group], effort: &Effort, bars: &mut Vec<Bar>) -> CoreResult<()> {
    let (mut bench, progress) = (Bench::default(), Progress::spinner("starting servers"));
    for group in groups {
        bars.extend(group(&mut bench, effort, &mut |stage| progress.say(stage))?);
    }
    Ok(())
}

impl CacheBarsArgs {
    fn groups(&self) -> CoreResult<Vec<Group>> {
        let known = || GROUPS.map(|(name, _)| name).join(", ");
        let find = |name: &String| {
            let found = GROUPS.iter().find(|(known, _)| known == name).map(|(_, group)| *group);
            found.ok_or_else(|| {
                Error::invalid_input(format!("there is no group `{name}`; choose among {}", known()))
            })
        };
        if self.only.is_empty() {
            return Ok(GROUPS.map(|(_, group)| group).to_vec());
        }
        self.only.iter().map(find).collect()
    }

    fn effort(&self) -> Effort {
        let (length, records, requests) = if self.quick {
            (Length::Operations(800), 400, 800)
        } else {
            (Length::Time(Duration::from_secs(self.seconds)), 4_000, 16_000)
        };
        Effort { length, records, requests, seed: self.seed }
    }

    fn write(&self, bars: &[Bar]) -> CoreResult<()> {
        let Some(folder) = &self.out else { return Ok(()) };
        let only =
            if self.only.is_empty() { String::new() } else { format!(" --only {}", self.only.join(",")) };
        let effort = if self.quick { " --quick".to_owned() } else { format!(" --seconds {}", self.seconds) };
        let command = format!("lacuna-lab cache-bars{only}{effort} --seed {}", self.seed);
        let page = to_page(bars, &command, &cpu_model());
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(folder.join("bars.md"), page));
        written.map_err(|error| {
            Error::invalid_input(format!("{} cannot be written into: {error}", folder.display()))
                .with_source(error)
        })
    }
}
