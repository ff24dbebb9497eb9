//! `lacuna bench`: filters side by side, alone and in an engine.

mod engine;
mod filters;

use clap::{Args, Subcommand, ValueEnum};
use lacuna_families::FAMILIES;

use crate::errors::Result;

/// Compare filters: rate, size, speed
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Filters(filters::FiltersArgs),
    Engine(engine::EngineArgs),
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
        BenchCommand::Filters(args) => filters::run(args),
        BenchCommand::Engine(args) => engine::run(args),
    }
}

/// The plain spec of every family.
fn every_family() -> impl Iterator<Item = String> {
    FAMILIES.iter().map(|family| family.kind.name().to_owned())
}

/// Splits at the commas between specs, not at those between the parameters of one: `a:x=1,cut,b` is `a:x=1,cut`, `b`.
fn split_specs(text: &str) -> Vec<String> {
    let mut specs: Vec<String> = Vec::new();
    for part in text.split(',') {
        match specs.last_mut() {
            Some(spec) if is_parameter(part, spec) => {
                spec.push(',');
                spec.push_str(part);
            }
            _ if part == EVERY_FAMILY => specs.extend(every_family()),
            _ => specs.push(part.to_owned()),
        }
    }
    specs
}

/// Whether `part` belongs to the spec before it: a value, or a flag after other parameters.
fn is_parameter(part: &str, before: &str) -> bool {
    let begins_a_spec = part == EVERY_FAMILY || lacuna_families::spec::<u64>(part).is_ok();
    !part.contains(':') && (part.contains('=') || before.contains(':') && !begins_a_spec)
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
        assert_eq!(split_specs("surf:real=4,cut,auto,surf"), ["surf:real=4,cut", "auto", "surf"]);
        assert_eq!(split_specs("bloom,blom"), ["bloom", "blom"]);
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
