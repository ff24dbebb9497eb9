//! `lacuna-lab bars`: every bar of the filters beside its yardstick, with a verdict.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use lacuna_base::{Error, Result as CoreResult};
use lacuna_bench::cpu_model;
use lacuna_cli::{Failure, Output, Progress, Result};

use crate::bars::bar::{Bar, Verdict};
use crate::bars::groups::{GROUPS, Group};
use crate::bars::page;
use crate::bars::setting::Setting;

const DEFAULT_OUT: &str = "docs/results/bars.md";

/// Measure the bars of the filters: PASS or FAIL
#[derive(Debug, Args)]
#[command(after_help = examples())]
pub(super) struct BarsArgs {
    /// Measure this group alone; may be given again
    #[arg(long, value_name = "GROUP", value_parser = PossibleValuesParser::new(GROUPS.map(|group| group.name)))]
    only: Vec<String>,

    /// Small sizes and few rounds: shows that everything runs, its ratios mean nothing
    #[arg(long)]
    quick: bool,

    /// Seed of keys, queries and hashes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Write the page here, beside the groups that it holds already [default: docs/results/bars.md; none with --only or
    /// --quick]
    #[arg(long, value_name = "F")]
    out: Option<PathBuf>,
}

fn examples() -> String {
    let groups = GROUPS.iter().map(|group| format!("  {:12} {}\n", group.name, group.about));
    format!(
        "Examples:\n  lacuna-lab bars --only rates --quick\n  lacuna-lab bars\n\nGroups:\n{}\n\
         Exit codes: 0 all bars pass, 1 one does not, 2 it could not be measured.",
        groups.collect::<String>()
    )
}

/// Measures the bars.
pub(super) fn run(args: &BarsArgs) -> Result<()> {
    let setting = Setting { quick: args.quick, seed: args.seed };
    let mut out = Output::new();
    let mut measured = Vec::new();
    for group in GROUPS.iter().filter(|group| args.wants(group.name)) {
        let progress = Progress::spinner(group.name);
        let bars = (group.run)(&setting, &progress).map_err(|error| error.with_context(group.name))?;
        drop(progress);
        out.text(&format!("{}\n{}\n", group.about, page::to_text(&bars)))?;
        out.flush()?;
        measured.push((group, bars));
    }
    if let Some(path) = args.out() {
        let (command, machine) = (args.command(), cpu_model());
        let section = |(group, bars): &(&Group, Vec<Bar>)| {
            (group.name, page::section(group, bars, &setting, &command, &machine))
        };
        write_page(&path, &measured.iter().map(section).collect::<Vec<_>>())?;
        out.line(&format!("wrote {}", path.display()))?;
    }
    let bars: Vec<&Bar> = measured.iter().flat_map(|(_, bars)| bars).collect();
    out.line(&page::summary(&bars))?;
    out.finish()?;
    verdict(&bars)
}

fn verdict(bars: &[&Bar]) -> Result<()> {
    match bars.iter().filter(|bar| bar.verdict == Verdict::Fail).count() {
        0 => Ok(()),
        failed => Err(Failure::DoesNotHold(format!("{failed} of {} bars are not met", bars.len()))),
    }
}

impl BarsArgs {
    /// Whether the group called `name` shall run.
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// The page to write; a part of the bars, or quick ones, are written only when asked for.
    fn out(&self) -> Option<PathBuf> {
        let is_whole = self.only.is_empty() && !self.quick;
        self.out.clone().or_else(|| is_whole.then(|| DEFAULT_OUT.into()))
    }

    /// The command that gives the same bars.
    fn command(&self) -> String {
        let mut options: Vec<String> = self.only.iter().map(|name| format!("--only {name}")).collect();
        if self.quick {
            options.push("--quick".to_owned());
        }
        if self.seed != 1 {
            options.push(format!("--seed {}", self.seed));
        }
        match options.is_empty() {
            true => "make bars".to_owned(),
            false => format!("make bars ARGS=\"{}\"", options.join(" ")),
        }
    }
}

/// Writes these groups into the page at `path`, beside what it holds of others.
fn write_page(path: &Path, sections: &[(&str, String)]) -> CoreResult<()> {
    // A page that is not there yet holds nothing.
    let old = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, page::merged(&old, sections)).map_err(|error| {
        let message = format!(
            "cannot write {}: {error}; run from the root of the checkout or give --out",
            path.display()
        );
        Error::unavailable(message).with_source(error)
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        bars: BarsArgs,
    }

    fn parsed(text: &str) -> std::result::Result<BarsArgs, clap::Error> {
        let words = std::iter::once("bars").chain(text.split_whitespace());
        Line::try_parse_from(words).map(|line| line.bars)
    }

    #[test]
    fn whole_runs_write_the_page() {
        let whole = parsed("").unwrap();
        assert_eq!(whole.out(), Some(DEFAULT_OUT.into()));
        assert_eq!(whole.command(), "make bars");
        assert!(whole.wants("speed"));
    }

    #[test]
    fn parts_are_written_only_when_asked() {
        let part = parsed("--only speed --quick --seed 7").unwrap();
        assert_eq!((part.out(), part.seed), (None, 7));
        assert!(part.wants("speed") && !part.wants("rates"));
        assert_eq!(part.command(), "make bars ARGS=\"--only speed --quick --seed 7\"");
    }

    #[test]
    fn wrong_words_are_named() {
        for (text, named) in [("--only sped", "sped"), ("--fast", "--fast"), ("--seed", "--seed")] {
            let message = parsed(text).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
