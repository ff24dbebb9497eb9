//! Measures every bar of the project beside its yardstick, prints the verdicts and writes `docs/results/bars.md`.
//!
//! A bar is a ratio of two things measured in one run, or a rate with a statistical margin; so it means the same on
//! every machine. Groups of bars stand in [`groups`]; a new group is a module there and a line in its list.

#![warn(missing_docs)]

mod arguments;
mod bar;
mod console;
mod groups;
mod page;
mod setting;

use std::path::Path;
use std::process::ExitCode;

use lacuna_base::{Error, ErrorKind, Result};
use lacuna_bench::cpu_model;

use crate::arguments::{Arguments, Request};
use crate::bar::{Bar, Verdict};
use crate::console::Console;
use crate::groups::Group;
use crate::setting::Setting;

fn main() -> ExitCode {
    let outcome = match arguments::parse(std::env::args().skip(1)) {
        Ok(Request::Help) => {
            println!("{}", arguments::help());
            return ExitCode::SUCCESS;
        }
        Ok(Request::Run(arguments)) => run(&arguments),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("lacuna-bars: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether every bar passed.
fn run(arguments: &Arguments) -> Result<bool> {
    let setting = Setting { quick: arguments.quick, seed: arguments.seed };
    let mut console = Console::new();
    let mut measured = Vec::new();
    for group in groups::GROUPS.iter().filter(|group| arguments.wants(group.name)) {
        let bars = (group.run)(&setting, &mut console).map_err(|error| error.with_context(group.name))?;
        console.clear();
        print!("{}\n{}\n", group.about, page::to_text(&bars));
        measured.push((group, bars));
    }
    if let Some(path) = &arguments.out {
        let (command, machine) = (arguments.command(), cpu_model());
        let section = |(group, bars): &(&Group, Vec<Bar>)| {
            (group.name, page::section(group, bars, &setting, &command, &machine))
        };
        write_page(path, &measured.iter().map(section).collect::<Vec<_>>())?;
    }
    let bars: Vec<&Bar> = measured.iter().flat_map(|(_, bars)| bars).collect();
    println!("{}", page::summary(&bars));
    Ok(bars.iter().all(|bar| bar.verdict != Verdict::Fail))
}

/// Writes these groups into the page at `path`, beside what it holds of others.
fn write_page(path: &Path, sections: &[(&str, String)]) -> Result<()> {
    // A page that is not there yet holds nothing.
    let old = std::fs::read_to_string(path).unwrap_or_default();
    std::fs::write(path, page::merged(&old, sections)).map_err(|error| cannot_write(path, error))?;
    println!("written to {}", path.display());
    Ok(())
}

fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    let message =
        format!("cannot write {}: {error}; run from the root of the checkout or give --out", path.display());
    Error::new(ErrorKind::Unavailable, message).with_source(error)
}
